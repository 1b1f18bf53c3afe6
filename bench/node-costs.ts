import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { Engine } from '../src/engine/engine.ts';
import { LocalFace } from '../src/engine/local-face.ts';
import { Homes } from '../src/engine/nodes/homes.ts';
import { applyToEngine, wantedState } from '../src/schema/writes/engine-changes.ts';
import { loadLogged } from '../src/schema/writes/logged-changes.ts';
import { openStore, type Store } from '../src/store/store.ts';
import { covering } from '../test/support/certificates.ts';
import { eventually } from '../test/support/eventually.ts';
import { startPostgresql } from '../test/support/postgresql.ts';
import { scratchDirectory } from '../test/support/scratch.ts';
import { seedClients, seedHosts, seedTunnels } from '../test/support/seed.ts';

const log = pino({ level: 'silent' });

/** CPU time of this process until now, in ms. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function heap(): number {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('start it with node --expose-gc');
  gc();
  return process.memoryUsage().heapUsed;
}

/** Fills the directory of homes as each node has it. @returns its bytes, and the CPU time of a pass over it, which each link that comes or goes takes, in ms */
export function homesOf(nodes: number, clients: number): { readonly bytes: number; readonly passMs: number } {
  const before = heap();
  const homes = new Homes();
  for (let id = 1; id <= clients; id++) homes.learn(id, { node: `node${id % nodes}`, epoch: Date.now() + id, connected: true, ended: false });
  const bytes = heap() - before;
  const began = cpuMs();
  let found = 0;
  for (const [id] of homes.of('node0')) found += Math.sign(id);
  if (found !== Math.floor(clients / nodes)) throw new Error(`${found} homes found`);
  return { bytes, passMs: cpuMs() - began };
}

async function startEngine(name: string) {
  const engine = new Engine({
    bridgeHost: '127.0.0.1',
    bridgePort: 0,
    bridgeTls: { port: 0, identity: covering },
    p2pPort: 0,
    allowPorts: [],
    log,
    node: { name, version: 'bench', key: 'the secret of the installation' },
  });
  const { tls, port: bridgePort } = await engine.listen();
  const address = { host: '127.0.0.1', port: tls.port, bridgePort };
  engine.nodes?.open(address, 0);
  return { engine, peer: { name, ...address } };
}

/** What the nodes tell each other, measured with real nodes in this process. CPU and memory are those of both ends together. */
export async function linkCosts({ nodes, restSeconds, homes, alone }: {
  readonly nodes: number;
  readonly restSeconds: number;
  /** Homes that are announced at once, and one after another. */
  readonly homes: number;
  readonly alone: number;
}) {
  const started: Array<Awaited<ReturnType<typeof startEngine>>> = [];
  for (let index = 0; index < nodes; index++) started.push(await startEngine(`node${index}`));
  const links = nodes * (nodes - 1);
  const restOf = async () => {
    const before = cpuMs();
    await delay(restSeconds * 1000);
    return (cpuMs() - before) / restSeconds;
  };
  const withoutLinks = await restOf();
  heap();
  const before = process.memoryUsage.rss();
  for (const { engine } of started) engine.nodes?.use(started.map(({ peer }) => peer), performance.now());
  const reached = () => started.map(({ engine }) => [...engine.nodes?.links() ?? []].length);
  await eventually(reached, (counts) => counts.every((count) => count === nodes - 1), 120_000);
  heap();
  const linkBytes = (process.memoryUsage.rss() - before) / links;
  const restMs = Math.max(0, await restOf() - withoutLinks) / links;
  const [first, ...others] = started;
  const known = (id: number) => others.map(({ engine }) => engine.nodes?.linkTo(id)?.peer.name);
  const announce = async (from: number, to: number) => {
    for (let id = from; id <= to; id++) first?.engine.nodes?.agentConnected(id);
    await eventually(() => known(to), (names) => names.every((name) => name === 'node0'), 120_000);
  };
  const costOf = async (count: number, work: () => Promise<void>) => {
    const [began, at] = [cpuMs(), performance.now()];
    await work();
    const rest = (withoutLinks + restMs * links) * (performance.now() - at) / 1000;
    return Math.max(0, cpuMs() - began - rest) / count / others.length;
  };
  const homeMs = await costOf(homes, () => announce(1, homes));
  const aloneMs = await costOf(alone, async () => {
    for (let id = homes + 1; id <= homes + alone; id++) await announce(id, id);
  });
  await Promise.all(started.map(({ engine }) => engine.close()));
  return { links, linkBytes, restMs, homeMs, aloneMs };
}

/** What rows, changes and counters cost a node: on PostgreSQL, with the real store and engine. */
export async function rowCosts({ clients, changes }: { readonly clients: number; readonly changes: number }) {
  const postgresql = await startPostgresql();
  const url = await postgresql.createDatabase();
  const observer = new pg.Client({ connectionString: url });
  await observer.connect();
  const store = await openStore({ url, dataDir: scratchDirectory(), log });
  const ids = await seedRows(store, clients);
  const engine = new Engine({ bridgeHost: '127.0.0.1', bridgePort: 0, bridgeTls: { port: 0, identity: covering }, p2pPort: 0, allowPorts: [], log });
  const [before, began] = [heap(), cpuMs()];
  await engine.load(wantedState(await store.loadEngineState()));
  const loadMs = (cpuMs() - began) / clients;
  const heapBytes = (heap() - before) / clients;

  const apply = applyToEngine(new LocalFace(engine));
  const changing = async () => {
    for (const id of ids.slice(0, changes)) for (const change of await loadLogged(store, [{ resource: 'client', id }])) await apply(change);
  };
  const change = await bothCosts(observer, changes, changing);
  // There are no later commits, so that nothing is applied.
  store.follower.start({ apply: () => Promise.resolve(), reload: () => Promise.resolve() });
  const look = await bothCosts(observer, changes, async () => {
    for (let count = 0; count < changes; count++) await store.follower.look();
  });
  await store.follower.stop();
  const active = ids.slice(0, 2000);
  let bytes = 0;
  const save = () => {
    bytes += 1000;
    const counted = { inletBytes: bytes, exportBytes: bytes, rate: 1000, connections: 1 };
    return store.saveCounters({
      clients: active.map((id) => ({ id, connected: true, address: '192.0.2.1', localAddress: '', version: '1', lastOnlineAt: Date.now(), ...counted })),
      tunnels: active.map((id) => ({ id, running: true, ...counted })),
      hosts: [],
    }, { rows: false });
  };
  // The first ones create the counters.
  await save();
  const saves = 10;
  const counters = await bothCosts(observer, active.length * saves, async () => {
    for (let count = 0; count < saves; count++) await save();
  });
  await engine.close();
  await store.close();
  await observer.end();
  await postgresql.stop();
  return { heapBytes, loadMs, change, look, counters };
}

/** CPU time of this process, and of PostgreSQL, for each piece of some work, in ms. */
async function bothCosts(observer: pg.Client, count: number, work: () => Promise<unknown>): Promise<{ readonly node: number; readonly database: number }> {
  const [began, database] = [cpuMs(), await databaseMs(observer)];
  await work();
  return { node: (cpuMs() - began) / count, database: (await databaseMs(observer) - database) / count };
}

/** CPU time of PostgreSQL's processes for all other connections to the database, in ms, in steps of 10. */
async function databaseMs(observer: pg.Client): Promise<number> {
  const { rows } = await observer.query<{ readonly pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  return rows.reduce((sum, { pid }) => {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const fields = rest.split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * 10;
  }, 0);
}

/** A client has a tunnel, every second one another tunnel, the others a host. @returns the clients' ids, which are also those of tunnels */
async function seedRows(store: Store, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let done = 0; done < count; done += 1000) {
    const added = await seedClients(store, Math.min(1000, count - done), (n) => ({ vkey: `the-key-of-client-${done + n}`.padEnd(24, 'x') }));
    ids.push(...added);
    const clientOf = (n: number): number => added[n % added.length] ?? 0;
    await seedTunnels(
      store,
      0,
      Math.ceil(added.length * 1.5),
      (n) => ({ clientId: clientOf(n), mode: 'secret', port: 0, password: `password ${done * 2 + n}` }),
    );
    await seedHosts(store, 0, Math.floor(added.length / 2), (n) => ({ clientId: clientOf(n), host: `host-${done + n}.example.com` }));
  }
  return ids;
}
