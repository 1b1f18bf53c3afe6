import { addAgentCommands } from './agent-commands.ts';
import { newProgram, runProgram } from './program.ts';
import { addServiceCommands } from './service-commands.ts';

/** Runs the command line of the agent's own file: `adit` without the server. */
export async function agentCommandLine(): Promise<void> {
  const program = newProgram();
  addAgentCommands(program);
  addServiceCommands(program, ['agent']);
  await runProgram(program);
}
