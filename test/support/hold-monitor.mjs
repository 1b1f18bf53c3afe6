// Loaded into a server (NODE_OPTIONS=--import): on SIGUSR2 writes when its event loop was held for more than 2 ms of its own time, and for how many, to the file HOLD_FILE.
import { openSync, readSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.env.HOLD_FILE) {
  const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(128);
  /** Processor time of this thread, in ms. Other programs that have the processor don't count. */
  const used = () => Number(buffer.toString('latin1', 0, readSync(schedstat, buffer, 0, buffer.length, 0)).split(' ')[0]) / 1e6;
  let before = used();
  const holds = [];
  // Between two calls lie at most 2 ms and what one turn of the loop takes.
  setInterval(() => {
    const now = used();
    if (now - before > 2) holds.push([Date.now(), now - before]);
    before = now;
  }, 2).unref();
  process.on('SIGUSR2', () => writeFileSync(process.env.HOLD_FILE, `${JSON.stringify(holds)}\n`));
}
