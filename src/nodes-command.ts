import process from 'node:process';
import type { Command } from 'commander';
import type { SettingsInput } from './settings/load.ts';

/** Adds the command `nodes`. */
export function addNodesCommand(program: Command): void {
  const nodes = program.command('nodes')
    .summary('list the servers on the database')
    .description('Asks the server that has the same settings (environment, settings file) for all servers that have used its database in the last week.')
    .option('--config <FILE>', 'the settings file (default: adit.toml in the working directory, if there is one)')
    .option('--json', 'print JSON, one object per line')
    .action(async ({ json = false }: { readonly json?: boolean }, called: Command) => {
      const { nodesText } = await import('./list-nodes.ts');
      process.stdout.write(await nodesText(inputOf(called), json));
    });
  const drains = [
    [
      'drain',
      'send agents and visitors of a server to the others',
      'Asks the server that has the same settings to let a server drain: its agents and new visitors go to the other servers, while its ports stay open, until '
      + 'it is stopped, or "adit nodes undrain" is called. A server that is started again does not drain.',
    ],
    ['undrain', 'let a server that drains serve again', 'Ends what "adit nodes drain" has begun. Agents that have left do not come back by themselves.'],
  ] as const;
  for (const [command, summary, description] of drains) {
    nodes.command(command)
      .argument('<NAME>', 'the name of the server, as "adit nodes" shows it')
      .summary(summary)
      .description(description)
      .option('--config <FILE>', 'the settings file (default: adit.toml in the working directory, if there is one)')
      .action(async (name: string, _options: unknown, called: Command) => {
        const { drainNode } = await import('./drain-node.ts');
        process.stdout.write(await drainNode(inputOf(called), name, command));
      });
  }
  nodes.command('invite')
    .summary('print what another server needs to join')
    .description(
      'Prints the setting ADIT_INVITATION for another server with the same PostgreSQL database. It contains the key that the shared secrets are encrypted '
        + 'with: treat it like a password. Reads the data directory only.',
    )
    .option('--config <FILE>', 'the settings file (default: adit.toml in the working directory, if there is one)')
    .action(async (_options: unknown, called: Command) => {
      const { invitationOf } = await import('./settings/installation-key.ts');
      const { readSettings } = await import('./settings/load.ts');
      process.stdout.write(`${invitationOf(readSettings(inputOf(called)).settings.dataDir)}\n`);
    });
  nodes.command('rotate-key')
    .summary('change the key of the installation')
    .description(
      'Changes the key that "adit nodes invite" prints, and that the shared secrets are encrypted with, on all running servers of the installation. They go on meanwhile. '
        + 'Invitations that were printed before no longer work; a server that is stopped needs a new one. Uses the data directory and the database.',
    )
    .option('--config <FILE>', 'the settings file (default: adit.toml in the working directory, if there is one)')
    .action(async (_options: unknown, called: Command) => {
      const { rotateKey } = await import('./rotate-key.ts');
      process.stdout.write(await rotateKey(inputOf(called)));
    });
}

/** Where the settings are. `nodes` takes `--config` of its own commands, too, wherever it is given. */
function inputOf(called: Command): SettingsInput {
  const { config: configFile } = called.optsWithGlobals<{ readonly config?: string }>();
  return { environment: process.env, configFile };
}
