import { readFileSync } from 'node:fs';
import process from 'node:process';

/** The processor's time that this thread alone has used, in ms; elsewhere than on Linux that of all threads, which is more. */
export function threadTime(): number {
  const { user, system } = process.cpuUsage(); // brings the kernel's figure up to date, too
  if (process.platform !== 'linux') return (user + system) / 1000;
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}

/**
 * The most of its own time that this thread used between two iterations of the event loop while `work` ran, in ms. What other threads and programs
 * use is not in it, so it holds on a busy machine too.
 */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = threadTime();
  const look = (): void => {
    const now = threadTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  try {
    await work();
    look();
  } finally {
    clearInterval(timer);
  }
  return longest;
}
