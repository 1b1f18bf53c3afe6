import { addAgentCommands } from './agent-commands.ts';
import { newProgram, runProgram } from './program.ts';
import { addServerCommand } from './server-command.ts';

/** Runs the command line: `adit server`, `adit agent`, `adit visit`. Each command loads its modules only when it runs. */
export async function commandLine(): Promise<void> {
  const program = newProgram();
  addServerCommand(program);
  addAgentCommands(program);
  await runProgram(program);
}
