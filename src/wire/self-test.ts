import process from 'node:process';
import { BACKEND_NAMES, socketsBy } from './backends.ts';
import { socketTrials } from './socket-trials.ts';

/**
 * Prints "works" when the socket backend that the first argument names does everything on this Node that the byte paths rely on. Otherwise prints the
 * failure to stderr and exits with 1. A wrong call inside Node ends the process by itself.
 */
export async function selfTest([word]: readonly string[]): Promise<void> {
  const name = BACKEND_NAMES.find((each) => each === word);
  try {
    if (name === undefined) throw new Error(`there is no ${word}, only ${BACKEND_NAMES.join(', ')}`);
    const sockets = await socketsBy(name);
    for (const [what, trial] of Object.entries(socketTrials)) {
      await trial(sockets).catch((error: unknown) => {
        throw new Error(`${what}: ${String(error)}`, { cause: error });
      });
    }
    process.stdout.write('works');
  } catch (error) {
    process.stderr.write(`sockets by ${word}: ${String(error)}\n`);
    process.exit(1);
  }
}
