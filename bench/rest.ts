import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { openStore } from '../src/store/store.ts';
import { Child } from '../test/support/child.ts';
import { residentBytes } from '../test/support/observe.ts';
import { authKey, call, programOf, startAgent } from '../test/support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../test/support/scratch.ts';
import { seedClients, seedTunnels } from '../test/support/seed.ts';
import { median } from './report.ts';

/**
 * Measures what a server and an agent take at rest, and how soon they are ready: a server without data, and one with many clients and tunnels, before and
 * after each of its lists was requested once. As `npm start` starts it, with SQLite.
 *
 *     npm run bench:rest -- [--rounds 5] [--clients 10000] [--tunnels 50000]
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, clients: { type: 'string', default: '10000' }, tunnels: { type: 'string', default: '50000' } },
});
/** Until a program has done what it does after its start, in ms. */
const SETTLING_MS = 5000;
/** Until V8 has returned memory that it no longer needs, in ms: it begins about 100 s after the last garbage collection. */
const REDUCING_MS = 120_000;
const MB = 1024 * 1024;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process

const figures = new Map<string, number[]>();
const [clients, tunnels] = [Number(options.clients), Number(options.tunnels)];
const full = scratchDirectory();
await seed(full);
for (let round = 0; round < Number(options.rounds); round++) {
  await measure('without data', scratchDirectory(), round > 0);
  await measure(`with ${clients} clients and ${tunnels} tunnels`, full, true);
}
for (const [name, values] of figures) {
  process.stdout.write(`${name.padEnd(80)} ${median(values).toFixed(0)} (${Math.min(...values).toFixed(0)} - ${Math.max(...values).toFixed(0)})\n`);
}
removeScratchDirectories();
process.exit();

/** @param keep whether the figures count: the first start of a program reads it from the disk */
async function measure(what: string, dataDir: string, keep: boolean): Promise<void> {
  const note = (name: string, value: number): void => {
    if (keep) figures.set(name, [...figures.get(name) ?? [], value]);
  };
  const began = performance.now();
  const server = new Child(process.execPath, [programOf(), 'server'], {
    ADIT_DATA_DIR: dataDir,
    ADIT_AUTH_KEY: authKey,
    MALLOC_ARENA_MAX: '2',
    ...Object.fromEntries(['HTTP', 'BRIDGE', 'BRIDGE_TLS', 'VHOST_HTTP', 'VHOST_HTTPS', 'P2P'].map((port) => [`ADIT_${port}_PORT`, '0'])),
  });
  const [, http, bridge] = await server.says(/API +http:\/\/[^:]*:(\d+)[^]*Bridge +[^:]*:(\d+)/);
  note(`server ${what}: ms until it is ready`, performance.now() - began);
  await wait(SETTLING_MS);
  note(`server ${what}: MB`, residentBytes(server) / MB);
  const reached = { httpPort: Number(http), bridgePort: Number(bridge) };
  if (dataDir === full) {
    for (const path of ['/client/list/', '/index/gettunnel/', '/index/hostlist/', '/user/list/']) await call(reached, path);
    await wait(SETTLING_MS);
    note(`server ${what}: MB after each list`, residentBytes(server) / MB);
    await wait(REDUCING_MS);
    note(`server ${what}: MB two minutes later`, residentBytes(server) / MB);
  } else {
    await call(reached, '/client/add/', { vkey: 'the key of the agent' });
    const started = performance.now();
    const agent = await startAgent(reached, 'the key of the agent');
    note('agent: ms until it is connected', performance.now() - started);
    await wait(SETTLING_MS);
    note('agent: MB', residentBytes(agent) / MB);
    await agent.end();
  }
  await server.end();
}

async function seed(dataDir: string): Promise<void> {
  const store = await openStore({ url: '', dataDir, log: pino({ level: 'silent' }) });
  const ids = await seedClients(store, clients);
  const client = (n: number) => ids[n % ids.length] ?? 0;
  // They listen nowhere, since no machine has that many ports. A transaction has 15 s.
  for (let before = 0; before < tunnels; before += 5000) {
    await seedTunnels(store, client(0), Math.min(5000, tunnels - before), (n) => ({
      clientId: client(before + n),
      mode: 'secret',
      port: 0,
      password: `password ${before + n}`,
    }));
  }
  await store.close();
}
