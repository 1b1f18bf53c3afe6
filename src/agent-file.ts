import process from 'node:process';
import { SELF_TEST } from './own-program.ts';
import { holdYoungGeneration } from './young-generation.ts';

/** The entry point of adit-agent.mjs and of the executables: the agent and the visitor, with the same commands as `adit`. */
async function run(): Promise<void> {
  const [, , role, ...words] = process.argv;
  if (role === SELF_TEST) return (await import('./wire/self-test.ts')).selfTest(words);
  holdYoungGeneration();
  await (await import('./agent-command-line.ts')).agentCommandLine();
}

void run();
