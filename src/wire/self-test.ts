import process from 'node:process';
import { BACKEND_NAMES, socketsBy } from './backends.ts';
import { socketTrials } from './socket-trials.ts';

/**
 * Says "works" when the way to get sockets that the first word names does on this Node, all that the byte paths rely on. What doesn't is said on
 * stderr, exit code 1; a call inside Node that is wrong ends the process by itself.
 */
export async function selfTest([word]: readonly string[]): Promise<void> {
  const name = BACKEND_NAMES.find((each) => each === word);
  try {
    if (name === undefined) throw new Error(`there is no ${word}, only ${BACKEND_NAMES.join(', ')}`);
    const sockets = await socketsBy(name);
    for (const [what, trial] of Object.entries(socketTrials)) {
      await trial(sockets).catch((error: unknown) => { throw new Error(`${what}: ${String(error)}`, { cause: error }); });
    }
    process.stdout.write('works');
  } catch (error) {
    process.stderr.write(`sockets by ${word}: ${String(error)}\n`);
    process.exit(1);
  }
}
