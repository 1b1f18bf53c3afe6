import pino from 'pino';
import { openStore, type Store } from '../../src/store/store.ts';
import { clientSource } from '../../src/store/hot/client-page.ts';
import { hostSource } from '../../src/store/hot/host-page.ts';
import { tunnelSource } from '../../src/store/hot/tunnel-page.ts';
import { userSource } from '../../src/store/hot/user-page.ts';
import { findProgram } from '../../test/support/find-program.ts';
import { startPostgresql } from '../../test/support/postgresql.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../../test/support/seed.ts';
import { median } from '../report.ts';
import type { Plan } from './calls.ts';

const SIZES = [1000, 100_000] as const;
/** How much longer a page of the large list may take, by any order. */
const MOST = 1.5;
const MEASURED = 300;

/** A page of 10 rows, read by one order. */
interface Order {
  readonly name: string;
  readonly read: (store: Store) => Promise<unknown>;
}

/** Every order of every list, both ways. */
const orders: readonly Order[] = [true, false].flatMap((desc) => {
  const page = <T extends string>(
    list: string,
    names: Readonly<Record<T, unknown>>,
    read: (store: Store, query: { orderBy: T; desc: boolean; offset: number; limit: number }) => Promise<unknown>,
  ) =>
    keysOf(names).map((orderBy): Order => ({
      name: `${list} by ${orderBy}, ${desc ? 'falling' : 'rising'}`,
      read: (store) => read(store, { orderBy, desc, offset: 0, limit: 10 }),
    }));
  return [
    ...page('clients', clientSource({ offset: 0 }).orders, (store, query) => store.clientPage(query)),
    ...page('tunnels', tunnelSource({ offset: 0 }).orders, (store, query) => store.tunnelPage(query)),
    ...page('hosts', hostSource({ offset: 0 }).orders, (store, query) => store.hostPage(query)),
    ...page('users', userSource().orders, (store, query) => store.userPage(query)),
  ];
});

/** What a page of 10 rows takes in lists of 1,000 and of 100,000 rows on SQLite, for every order. */
export async function measurePages({ results }: Plan): Promise<void> {
  results.say(await measureOn('SQLite', async () => ''));
}

/** The same on PostgreSQL. */
export async function measurePostgresqlPages({ results }: Plan): Promise<void> {
  if (findProgram('initdb') === undefined) return results.say('PostgreSQL is left out: initdb is missing\n');
  const server = await startPostgresql();
  try {
    results.say(await measureOn('PostgreSQL', () => server.createDatabase()));
  } finally {
    await server.stop();
  }
}

async function measureOn(database: string, newUrl: () => Promise<string>): Promise<string> {
  const stores: Store[] = [];
  for (const size of SIZES) {
    process.stderr.write(`${database}: ${size} rows of everything\n`);
    const store = await openStore({ url: await newUrl(), dataDir: scratchDirectory(), log: pino({ level: 'silent' }) });
    await seedAll(store, size);
    stores.push(store);
  }
  const measured: { readonly name: string; readonly small: number; readonly large: number }[] = [];
  for (const { name, read } of orders) {
    const [small = NaN, large = NaN] = await interleaved(stores, read);
    measured.push({ name, small, large });
  }
  await Promise.all(stores.map((store) => store.close()));
  const ratios = measured.map(({ small, large }) => large / small);
  const worst = measured.toSorted((a, b) => b.large / b.small - a.large / a.small).slice(0, 5);
  const open = ratios.filter((ratio) => ratio > MOST).length;
  return [
    `A page of 10 rows on ${database}, by each of ${orders.length} orders: 100,000 rows compared with 1,000`,
    `  us, median of the orders   ${median(measured.map(({ small }) => small)).toFixed(0)} -> ${median(measured.map(({ large }) => large)).toFixed(0)}`,
    `  ratio, median              ${median(ratios).toFixed(2)}`,
    ...worst.map(({ name, small, large }, index) =>
      `  ${index === 0 ? 'ratio, the largest         ' : '                           '}${(large / small).toFixed(2)} (${small.toFixed(0)} -> ${
        large.toFixed(0)
      }) ${name}`
    ),
    `  each ratio: goal at most ${MOST}: ${open === 0 ? 'reached' : `OPEN for ${open}`}`,
    '',
  ].join('\n');
}

/** Alternates between the stores, so that disturbances affect both. @returns the median of each, in us */
async function interleaved(stores: readonly Store[], read: Order['read']): Promise<number[]> {
  const times = stores.map((): number[] => []);
  for (let n = -20; n < MEASURED; n++) { // the first warm up
    for (const [index, store] of stores.entries()) {
      const start = performance.now();
      await read(store);
      if (n >= 0) times[index]?.push((performance.now() - start) * 1000);
    }
  }
  return times.map(median);
}

async function seedAll(store: Store, rows: number): Promise<void> {
  const various = (n: number) => ({ enabled: n % 3 === 0, remark: `remark ${n * 7919 % rows}` });
  const clients = await seedClients(
    store,
    rows,
    (n) => ({
      ...various(n),
      connected: n % 5 === 0,
      rate: n * 31 % 1000,
      inletBytes: n * 37 % rows,
      exportBytes: n * 41 % rows,
      lastAddress: `10.0.${n % 250}.${n % 99}`,
    }),
  );
  const clientOf = (n: number) => ({ clientId: clients[n * 17 % 100] });
  await seedTunnels(
    store,
    clients[0] ?? 0,
    rows,
    (n) => ({ ...various(n), ...clientOf(n), port: 1024 + n % 60_000, mode: n % 50 === 0 ? 'udp' : 'tcp', running: n % 4 === 0 }),
  );
  await seedHosts(store, clients[0] ?? 0, rows, (n) => ({ ...various(n), ...clientOf(n) }));
  await seedUsers(store, rows, (n) => ({ ...various(n), maxTunnels: n % 100, maxClients: n % 10 }));
  if (store.dialect === 'postgresql') await store.transaction((tx) => tx.$executeRaw`ANALYZE`); // as its own daemon does
}

function keysOf<T extends string>(record: Readonly<Record<T, unknown>>): T[] {
  return Object.keys(record).filter((name): name is T => name in record);
}
