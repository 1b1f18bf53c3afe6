import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { measureComeback } from '../test/support/comeback.ts';
import { startPostgresql } from '../test/support/postgresql.ts';
import { removeScratchDirectories } from '../test/support/scratch.ts';

/**
 * Measures how soon many agents, all from one address, reconnect after an outage of the server, and how long the server's event loop is blocked
 * meanwhile.
 *
 *     npm run bench:comeback -- [--agents 200,1000] [--processes 4] [--outage 30] [--tls] [--postgresql]
 */
const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', default: '200,1000' },
    processes: { type: 'string', default: '4' },
    outage: { type: 'string', default: '30' },
    tls: { type: 'boolean', default: false },
    postgresql: { type: 'boolean', default: false },
  },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process
const postgresql = options.postgresql ? await startPostgresql() : undefined;
for (const agents of options.agents.split(',').map(Number)) {
  const load = loadavg()[0]?.toFixed(1);
  const { p50, p99, max, longestHold, sentAway } = await measureComeback({
    agents,
    processes: Number(options.processes),
    outageMs: Number(options.outage) * 1000,
    tls: options.tls,
    ...(postgresql && { databaseUrl: await postgresql.createDatabase() }),
  });
  process.stdout.write(
    `${agents} agents${options.tls ? ' over TLS' : ''}${postgresql ? ', PostgreSQL' : ''}, load ${load}: back after ${(p50 / 1000).toFixed(1)} s (p50), ${
      (p99 / 1000).toFixed(1)
    } s (p99), ${(max / 1000).toFixed(1)} s (all); longest hold ${longestHold.toFixed(1)} ms; ${sentAway} sent away\n`,
  );
}
await postgresql?.stop();
removeScratchDirectories();
process.exit();
