import { defaultOf, environmentName, fileKey, flagName, infoOf, settingNames } from './settings.ts';

const introduction = `# Settings of the server

<!-- Written by "npm run docs:settings" from src/settings/settings.ts. Change the descriptions there. -->

You can set each setting in three places. If you set it in more than one place, the first in this list takes precedence:

1. a flag: \`npm start -- --http-port 80\`, or \`npx adit server --http-port 80\`
2. an environment variable: \`ADIT_HTTP_PORT=80\`
3. the settings file: \`http_port = 80\` in \`adit.toml\` in the working directory, or in the file that \`--config FILE\` names

A secret can also be read from a file: add \`-file\` to the flag, \`_FILE\` to the variable or \`_file\` to the key, and give the name of the file
(\`--auth-key-file FILE\`, \`ADIT_AUTH_KEY_FILE=FILE\`, \`auth_key_file = "FILE"\`).

- The server refuses to start if a name is unknown or a value is invalid. It prints a line for each problem.
- \`npx adit server --print-config\` prints the effective settings and the source of each, with secrets masked.
- Port 0 means any free port. At its start, the server prints the ports of the API, of the bridge and of the hosts.
- Separate the items of a list with commas.
- The server reads settings once, at start.
- A setting with (*) must be the same on all servers of an installation ([scaling.md](scaling.md)).

For the settings of the agent and the visitor, see [agent.md](agent.md).
`;

/** docs/settings.md: every setting with its names, default and description, as declared in src/settings/settings.ts. */
export function settingsDocument(): string {
  const rows = settingNames.map((name) => {
    const { value, help, secret = false, common = false } = infoOf(name);
    const description = `${help.replaceAll('|', '\\|')}${common ? ' (*)' : ''}`;
    return `| \`${environmentName(name)}\` | \`${value}\`${secret ? ', secret' : ''} | ${defaultText(defaultOf(name))} | ${description} |`;
  });
  const table = ['| variable | value | default | description |', '|---|---|---|---|', ...rows].join('\n');
  return `${introduction}\n## All settings\n\nThe names of \`ADIT_HTTP_PORT\` as a flag and in the file: \`${flagName('httpPort')}\`, \`${
    fileKey('httpPort')
  }\`.\n\n${table}\n`;
}

function defaultText(text: string | undefined): string {
  if (text === undefined) return 'generated';
  return text === '' ? 'empty' : `\`${text}\``;
}
