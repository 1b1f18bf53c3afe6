import { addAgentCommands } from './agent-commands.ts';
import { newProgram, runProgram } from './program.ts';

/** Runs the command line of the agent's own file: `adit` without the server. */
export async function agentCommandLine(): Promise<void> {
  const program = newProgram();
  addAgentCommands(program);
  await runProgram(program);
}
