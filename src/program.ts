import process from 'node:process';
import { Command, CommanderError } from 'commander';
import { SettingsError } from './settings/settings-error.ts';
import { version } from './version.ts';

/** The command `adit`, to which subcommands are added. */
export function newProgram(): Command {
  return new Command('adit')
    .description('Reach programs behind NAT and firewalls: a reverse-tunnel server and its agent.')
    .version(version)
    .configureHelp({ showGlobalOptions: false })
    .exitOverride();
}

/** Runs the command that the arguments name. Prints errors that the user can fix without a stack, and sets the exit code: 2 = wrong arguments or settings. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2; // commander has already printed the problem
    else if (error instanceof SettingsError) {
      for (const problem of error.problems) process.stderr.write(`adit: ${problem}\n`);
      process.exitCode = 2;
    } else if (error instanceof Error && error.name === 'ConfigError') {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    } else if (isOperators(error)) {
      process.stderr.write(`adit: ${error.message}\n`);
      process.exitCode = 1;
    } else throw error;
  }
}

/** Whether the operator can fix the cause of a failed start, such as a port in use or an unusable database. */
function isOperators(error: unknown): error is Error {
  const names = ['StoreError', 'PortError', 'NodesError', 'ServiceError', 'ThroughServerError', 'ConversionError'];
  return error instanceof Error && ('syscall' in error || names.includes(error.name));
}
