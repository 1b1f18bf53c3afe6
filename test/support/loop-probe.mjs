import { readFileSync } from 'node:fs';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Loaded into a server under test (see loop-hold.ts): on SIGUSR2 it says the most CPU time of its main thread between two ticks of a 1 ms timer
// since the last time it was asked.
if (isMainThread) {
  let asked = 0;
  let most = 0;
  let before = cpu();
  setInterval(() => {
    const now = cpu();
    most = Math.max(most, now - before);
    before = now;
  }, 1).unref();
  process.on('SIGUSR2', () => {
    process.stderr.write(`loop ${++asked} ${most.toFixed(1)} ms\n`);
    most = 0;
  });
}

/** Of this thread alone, in ms. */
function cpu() {
  // Without it the kernel's number is as old as the last switch of threads.
  process.cpuUsage();
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}
