import process from 'node:process';

// Loaded into a server or agent under test (see observe.ts): tells on SIGUSR2 what keeps its event loop alive.
process.on('SIGUSR2', () => {
  const counts = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  process.stderr.write(`resources ${JSON.stringify(counts)}\n`);
});
