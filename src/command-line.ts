import { addAgentCommands, runAgentCommand, runVisitCommand } from './agent-commands.ts';
import { addMigrationCommands } from './migration/commands.ts';
import { addNodesCommand } from './nodes-command.ts';
import { newProgram, runProgram } from './program.ts';
import { addServerCommand } from './server-command.ts';
import { addServiceCommands } from './service-commands.ts';

/** Runs the command line: `adit server`, `adit agent`, `adit visit`, `adit nodes`. Each command loads its modules only when it runs. */
export async function commandLine(): Promise<void> {
  const program = newProgram();
  addServerCommand(program);
  addAgentCommands(program);
  addNodesCommand(program);
  addServiceCommands(program, ['server', 'agent']);
  addMigrationCommands(program, { agent: runAgentCommand, visit: runVisitCommand });
  await runProgram(program);
}
