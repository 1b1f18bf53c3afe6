import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';

// Loaded into a server or agent under test (see observe.ts): tells on SIGUSR2 what keeps its event loop alive.
process.on('SIGUSR2', () => {
  const counts = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  process.stderr.write(`resources ${JSON.stringify(counts)}\n`);
});

// And on SIGHUP collects the garbage, several times: what is freed by finalizers goes with the next time.
process.on('SIGHUP', async () => {
  v8.setFlagsFromString('--expose-gc');
  const gc = vm.runInNewContext('gc');
  for (let i = 0; i < 3; i++) {
    gc();
    await setTimeout(100);
  }
  process.stderr.write(`collected ${process.memoryUsage().heapUsed}\n`);
});
