import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { Engine } from '../src/engine/engine.ts';
import { wantedState } from '../src/schema/writes/engine-changes.ts';
import { openStore, type Store } from '../src/store/store.ts';
import { covering } from '../test/support/certificates.ts';
import { Child } from '../test/support/child.ts';
import { residentBytes } from '../test/support/observe.ts';
import { startPostgresql } from '../test/support/postgresql.ts';
import { programOf } from '../test/support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../test/support/scratch.ts';
import { seedClients, seedHosts, seedTunnels } from '../test/support/seed.ts';
import { cpuSeconds, mainThreadSeconds } from './usage.ts';

/**
 * Measures how much of the heap a client, a tunnel and a host take in a server without traffic and how much CPU time the engine takes to load them. Tunnels listen nowhere: secret ones, and tcp
 * tunnels that are stopped. With `--listening N`, N tunnels more listen.
 *
 *     npm run bench:rows -- [--clients 100000] [--tunnels 150000] [--hosts 50000] [--used] [--listening 0] [--postgresql] [--starts 3] [--data DIR]
 */
const { values: options } = parseArgs({
  options: {
    clients: { type: 'string', default: '100000' },
    tunnels: { type: 'string', default: '150000' },
    hosts: { type: 'string', default: '50000' },
    /** Every record has counted bytes, and every client was connected. */
    used: { type: 'boolean', default: false },
    listening: { type: 'string', default: '0' },
    postgresql: { type: 'boolean', default: false },
    /** Starts of a whole server on these rows. */
    starts: { type: 'string', default: '3' },
    /** Where the rows are kept for another run, which then adds none (SQLite). */
    data: { type: 'string' },
  },
});
const { gc } = globalThis;
if (gc === undefined) throw new Error('start it with node --expose-gc');
const log = pino({ level: 'silent' });
/** Rows that one transaction adds: it has 15 s. */
const TOGETHER = 1000;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process

const postgresql = options.postgresql ? await startPostgresql() : undefined;
const url = await postgresql?.createDatabase() ?? '';
const dataDir = options.data ?? scratchDirectory();
if (options.data === undefined || !existsSync(options.data)) {
  const seeding = await openStore({ url, dataDir, log });
  await seed(seeding);
  await seeding.close();
}

const store = await openStore({ url, dataDir, log });
const engine = new Engine({ bridgeHost: '127.0.0.1', bridgePort: 0, bridgeTls: { port: 0, identity: covering }, p2pPort: 0, allowPorts: [], log });
const state = wantedState(await store.loadEngineState());
await engine.load({
  ...state,
  clients: measured('client', state.clients),
  tunnels: measured('tunnel', state.tunnels),
  hosts: measured('host', state.hosts),
});
await engine.close();
await store.close();
for (let round = 0; round < Number(options.starts); round++) await start();
await postgresql?.stop();
removeScratchDirectories();
process.exit();

/** Passes the records on, and reports what the heap has grown by for each of them. The engine has taken the last one when it asks for another. */
async function* measured<Each>(what: string, pages: AsyncIterable<Iterable<Each>>): AsyncGenerator<Iterable<Each>> {
  const [before, start] = [heap(), process.cpuUsage()];
  let count = 0;
  const counted = function*(page: Iterable<Each>): Generator<Each> {
    for (const each of page) {
      count++;
      yield each;
    }
  };
  for await (const page of pages) yield counted(page);
  const { user, system } = process.cpuUsage(start);
  const cpuMs = ((user + system) / 1000).toFixed(0);
  process.stdout.write(`${count} ${what}s: ${cpuMs} ms of CPU; ${((heap() - before) / count).toFixed(0)} bytes of heap for each\n`);
}

/** Starts the compiled server, and reports how long it takes until it is ready, and the CPU time of it and its children. */
async function start(): Promise<void> {
  const began = performance.now();
  const server = new Child(process.execPath, [programOf(), 'server'], {
    ADIT_DATA_DIR: dataDir,
    ADIT_DATABASE_URL: url,
    ADIT_NODE_ADDRESS: url === '' ? '' : '127.0.0.1',
    MALLOC_ARENA_MAX: '2',
    ...Object.fromEntries(['HTTP', 'BRIDGE', 'BRIDGE_TLS', 'VHOST_HTTP', 'VHOST_HTTPS', 'P2P'].map((port) => [`ADIT_${port}_PORT`, '0'])),
  });
  await server.says(/API +http:/);
  const ms = performance.now() - began;
  const rows = Number(options.clients) + Number(options.tunnels) + Number(options.hosts) + Number(options.listening);
  const figures = [
    `ready after ${ms.toFixed(0)} ms`,
    `${(cpuSeconds([server.pid]) * 1000).toFixed(0)} ms of CPU, ${(mainThreadSeconds(server.pid) * 1000).toFixed(0)} of it of the main thread`,
    `${(residentBytes(server) / 1024 ** 2).toFixed(0)} MB`,
    `load ${loadavg()[0]?.toFixed(0)}`,
  ];
  process.stdout.write(`start with ${rows} rows (${url === '' ? 'SQLite' : 'PostgreSQL'}): ${figures.join('; ')}\n`);
  await server.end();
}

function heap(): number {
  gc?.();
  return process.memoryUsage().heapUsed;
}

async function seed(target: Store): Promise<void> {
  const used = options.used ? { inletBytes: 10n ** 10n, exportBytes: 10n ** 11n } : {};
  const ids: number[] = [];
  await inParts(Number(options.clients), async (before, count) => {
    ids.push(
      ...await seedClients(target, count, (n) => ({
        vkey: `the-key-of-client-${before + n}`.padEnd(24, 'x'),
        ...used,
        ...options.used && { lastAddress: `203.0.113.${n % 256}` },
      })),
    );
  });
  const clientId = (n: number): number => ids[n % ids.length] ?? 0;
  await inParts(Number(options.tunnels), (before, count) =>
    seedTunnels(target, clientId(0), count, (n) => ({
      clientId: clientId(before + n),
      ...n % 2 === 0
        ? { mode: 'secret', enabled: true, port: 0, password: `a password of tunnel ${before + n}` }
        : { mode: 'tcp', enabled: false, port: 1024 + (before + n) % 60_000, password: '' },
      target: `127.0.0.1:${1024 + n}`,
      ...used,
    })));
  await inParts(Number(options.listening), (before, count) =>
    seedTunnels(target, clientId(0), count, (n) => ({
      clientId: clientId(before + n),
      port: 20_000 + before + n,
      ...used,
    })));
  await inParts(Number(options.hosts), (before, count) =>
    seedHosts(target, clientId(0), count, (n) => ({
      clientId: clientId(before + n),
      host: `host-${before + n}.example.com`,
      target: `127.0.0.1:${1024 + n}`,
      ...used,
    })));
}

async function inParts(total: number, add: (before: number, count: number) => Promise<unknown>): Promise<void> {
  for (let before = 0; before < total; before += TOGETHER) await add(before, Math.min(TOGETHER, total - before));
}
