import process from 'node:process';
import type { Command } from 'commander';

/** Adds the command `nodes`. */
export function addNodesCommand(program: Command): void {
  const nodes = program.command('nodes')
    .summary('list the servers on the database')
    .description('Asks the server that has the same settings (environment, settings file) for all servers that have used its database in the last week.')
    .option('--config <FILE>', 'the settings file (default: adit.toml in the working directory, if there is one)')
    .option('--json', 'print JSON, one object per line')
    .action(async ({ config, json = false }: { readonly config?: string; readonly json?: boolean }) => {
      const { nodesText } = await import('./list-nodes.ts');
      process.stdout.write(await nodesText({ environment: process.env, configFile: config }, json));
    });
  nodes.command('invite')
    .summary('print what another server needs to join')
    .description(
      'Prints the setting ADIT_INVITATION for another server with the same PostgreSQL database. It contains the key that the shared secrets are encrypted '
        + 'with: treat it like a password. Reads the data directory only.',
    )
    .option('--config <FILE>', 'the settings file (default: adit.toml in the working directory, if there is one)')
    .action(async ({ config }: { readonly config?: string }) => {
      const { invitationOf } = await import('./settings/installation-key.ts');
      const { readSettings } = await import('./settings/load.ts');
      process.stdout.write(`${invitationOf(readSettings({ environment: process.env, configFile: config }).settings.dataDir)}\n`);
    });
}
