import process from 'node:process';
import type { Command } from 'commander';

/** Adds the command `nodes`. */
export function addNodesCommand(program: Command): void {
  program.command('nodes')
    .summary('list the servers on the database')
    .description('Asks the server that has the same settings (environment, settings file) for all servers that have used its database in the last week.')
    .option('--config <FILE>', 'the settings file (default: adit.toml in the working directory, if there is one)')
    .option('--json', 'print JSON, one object per line')
    .action(async ({ config, json = false }: { readonly config?: string; readonly json?: boolean }) => {
      const { nodesText } = await import('./list-nodes.ts');
      process.stdout.write(await nodesText({ environment: process.env, configFile: config }, json));
    });
}
