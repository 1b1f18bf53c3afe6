import process from 'node:process';
import { Option, type Command } from 'commander';
import * as z from 'zod';
import { loadSettings, readSettings } from './settings/load.ts';
import { printSettings } from './settings/print.ts';
import { defaultOf, fileKey, flagName, infoOf, settingNames, type SettingName } from './settings/settings.ts';

const serverOptions = z.object({ config: z.string().optional(), printConfig: z.boolean().default(false) }).catchall(z.string());

/** Adds the command `server`. */
export function addServerCommand(program: Command): void {
  const server = program.command('server')
    .summary('run the server that agents connect to')
    .description(
      'Runs the server: the API, the bridge that agents connect to, and the tunnels. You can set every setting with a flag, '
        + 'an environment variable (--http-port is ADIT_HTTP_PORT) or in the settings file (http_port = 8080), in this order of '
        + 'precedence.',
    )
    .option('--config <FILE>', 'the settings file (default: adit.toml in the working directory, if there is one)')
    .option('--print-config', 'print the effective settings, with secrets masked, and exit')
    // Reading the settings reports unknown flags and words together with all other problems.
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (options: unknown, command: Command) => {
      const { config, printConfig, ...given } = serverOptions.parse(options);
      const known = Object.entries(given).map(([name, value]): [string, unknown] => [flagName(name), value]);
      const flags = Object.fromEntries([...known, ...unknownFlags(command)]);
      const input = { flags, environment: process.env, configFile: config };
      if (printConfig) {
        process.stdout.write(printSettings(readSettings(input)));
        return;
      }
      const { settings } = readSettings(input);
      const own = settings.processes > 1 ? (await import('./processes/own-process.ts')).ownProcess(process.env) : undefined;
      if (settings.processes > 1 && !own) {
        const [{ runProcesses }, { createLogs }] = await Promise.all([import('./processes/run-processes.ts'), import('./log.ts')]);
        process.exitCode = await runProcesses(settings, createLogs(settings)('server'));
        return;
      }
      const { runServer } = await import('./server.ts');
      await runServer(settings, () => loadSettings(input), own).finally(() => own?.end());
    });

  for (const name of settingNames) addSettingOptions(server, name);
}

/** Adds the flag of a setting, and for a secret also the flag that names a file. */
function addSettingOptions(server: Command, name: SettingName): void {
  const { help, value, secret = false } = infoOf(name);
  const fallback = defaultOf(name) ?? '';
  const description = fallback === '' ? help : `${help} (default: ${fallback})`;
  const flag = value === 'BOOLEAN'
    ? new Option(`${flagName(name)} [${value}]`, description).preset('true')
    : new Option(`${flagName(name)} <${value}>`, description);
  server.addOption(flag);
  if (secret) server.addOption(new Option(`${flagName(`${name}File`)} <FILE>`, `file that holds ${fileKey(name)}`));
}

/** Arguments that commander did not recognize; reading the settings reports them by name. */
function unknownFlags(command: Command): [string, string][] {
  const flags = command.args.filter((word) => word.startsWith('-'));
  return (flags.length > 0 ? flags : command.args).map((word) => [word.split('=')[0] ?? word, '']);
}
