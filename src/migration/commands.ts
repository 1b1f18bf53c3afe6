import path from 'node:path';
import process from 'node:process';
import { type Command, Option } from 'commander';
import type { AgentFlags } from '../settings/agent-options.ts';
import type { ReadSettings } from '../settings/load.ts';
import type { VisitFlags } from '../settings/visit-options.ts';
import type { Lineage } from './nps/export/records.ts';

/** Flags of commands that use the settings of the server. */
interface SettingsFlags {
  readonly config?: string;
  readonly dataDir?: string;
  readonly databaseUrl?: string;
}

interface ImportFlags extends SettingsFlags {
  readonly dryRun?: true;
  readonly json?: true;
  readonly merge?: true;
  readonly update?: true;
  readonly skipBroken?: true;
}

/** Commands that others translate to. */
export interface OwnCommands {
  readonly agent: (flags: AgentFlags) => Promise<void>;
  readonly visit: (flags: VisitFlags) => Promise<void>;
}

/** Adds the commands for moving from NPS and back. Each loads its modules only when it runs. */
export function addMigrationCommands(program: Command, own: OwnCommands): void {
  const imports = program.command('import').summary('import data and configuration of NPS').description(
    'Imports data and configuration of NPS (docs/migrating.md).',
  );

  withSettings(imports.command('nps'))
    .argument('<DIR>', 'the conf directory of NPS, or a copy of it')
    .summary('import clients, tunnels, hosts, users and global settings')
    .description(
      'Imports the data folder of NPS: all of it, or nothing. Into the database that the settings name, or through the server if one is running on it. '
        + 'It prints what it will do, and names each record that cannot be carried over.',
    )
    .option('--dry-run', 'print what would be done, and write nothing')
    .option('--update', 'apply what has changed in the folder since the last import')
    .option('--merge', 'import into an installation that has other records')
    .option('--skip-broken', 'leave out records with problems, instead of importing nothing')
    .option('--json', 'print the report as JSON')
    .action(async (directory: string, flags: ImportFlags) => {
      const { importNps } = await import('./nps/import-nps.ts');
      const settings = await readSettingsOf(flags);
      const { text, ok } = await importNps(path.resolve(directory), settings.settings, {
        dryRun: flags.dryRun === true,
        merge: flags.merge === true,
        update: flags.update === true,
        skipBroken: flags.skipBroken === true,
      }, flags.json === true);
      process.stdout.write(text);
      if (!ok) process.exitCode = 1;
    });

  imports.command('nps-conf')
    .argument('<FILE>', 'an nps.conf')
    .summary('make an adit.toml from an nps.conf')
    .description('Makes a settings file of the server from an nps.conf, with a comment on each key that has no equivalent. Prints it, or writes a new file.')
    .option('--out <FILE>', 'the file to write; must not exist')
    .action(async (file: string, { out }: { readonly out?: string }) => {
      const { convertNpsConf } = await import('./convert-conf.ts');
      process.stdout.write(convertNpsConf(file, out));
    });

  imports.command('npc-conf')
    .argument('<FILE>', 'an npc.conf')
    .summary("make an agent's configuration file from an npc.conf")
    .description(
      "Makes an agent's configuration file (docs/agent.md) from an npc.conf, with comments on what has no equivalent. Prints it, or writes a new file.",
    )
    .option('--out <FILE>', 'the file to write; must not exist')
    .action(async (file: string, { out }: { readonly out?: string }) => {
      const { convertNpcConf } = await import('./convert-conf.ts');
      process.stdout.write(convertNpcConf(file, out));
    });

  withSettings(
    program.command('export').summary('write the records as a data folder of NPS').description('Writes the records of this server for another one.').command(
      'nps',
    ),
  )
    .argument('<DIR>', 'the directory to write; it must not have such files')
    .summary('write a data folder of NPS, to go back')
    .description('Writes clients, tunnels, hosts, users and global settings as a data folder of NPS, and prints what is lost. Stop the server first.')
    .addOption(
      new Option('--lineage <NAME>', 'the lineage of NPS: Y (ehang-io, yisier), Z (ZiDuNet), D (djylb)').choices(['Y', 'Z', 'D']).makeOptionMandatory(),
    )
    .action(async (directory: string, { lineage, ...flags }: SettingsFlags & { readonly lineage: Lineage }) => {
      const { exportNps } = await import('./nps/export/export-nps.ts');
      const { settings } = await readSettingsOf(flags);
      process.stdout.write(await exportNps(path.resolve(directory), lineage, settings));
    });

  program.command('npc')
    .summary('run an agent or a visitor with the flags of npc')
    .description('Accepts the flags of npc where they mean the same: -server, -vkey, -type, -config, -local_type, -password, -local_port (docs/migrating.md).')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_flags: unknown, command: Command) => {
      const { readNpcFlags } = await import('./npc/flags.ts');
      const call = readNpcFlags(command.args);
      for (const notice of call.notices) process.stderr.write(`adit: ${notice}\n`);
      if (call.run === 'visit') return own.visit(call.flags);
      if (call.run === 'agent') return own.agent(call.flags);
      const { temporaryAgentFile } = await import('./convert-conf.ts');
      await own.agent({ config: temporaryAgentFile(call.file) });
    });
}

function withSettings(command: Command): Command {
  return command
    .option('--config <FILE>', 'the settings file of the server (default: adit.toml in the working directory, if there is one)')
    .option('--data-dir <DIR>', 'the data directory (default: that of the settings)')
    .option('--database-url <URL>', 'the database (default: that of the settings)');
}

async function readSettingsOf({ config, dataDir, databaseUrl }: SettingsFlags): Promise<ReadSettings> {
  const { readSettings } = await import('../settings/load.ts');
  const flags = { ...(dataDir !== undefined && { '--data-dir': dataDir }), ...(databaseUrl !== undefined && { '--database-url': databaseUrl }) };
  return readSettings({ flags, environment: process.env, configFile: config });
}
