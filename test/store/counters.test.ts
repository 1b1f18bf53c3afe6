import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ChangeLog, NotFollowedError } from '../../src/store/change-log.ts';
import { addBytes, insertRows, updateRows } from '../../src/store/hot/bulk.ts';
import { type CounterBatch, saveCounters } from '../../src/store/hot/counters.ts';
import { bucketAt } from '../../src/store/hot/traffic.ts';
import type { Transaction } from '../../src/store/transaction.ts';
import { eachDialect } from '../support/database.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';
import type { TestStore } from '../support/test-store.ts';

const seen = { connected: true, rate: 8, connections: 3, address: '203.0.113.9', localAddress: '10.0.0.1', version: '1.0', lastOnlineAt: Date.UTC(2030, 0, 1) };

function batchOf(bytes: number, { client, tunnel, host }: { readonly client: number; readonly tunnel: number; readonly host: number }): CounterBatch {
  const counted = { rate: 8, connections: 3, inletBytes: bytes, exportBytes: 2 * bytes };
  return { clients: [{ id: client, ...seen, ...counted }], tunnels: [{ id: tunnel, running: true, ...counted }], hosts: [{ id: host, ...counted }] };
}

async function seeded(store: TestStore) {
  const [client = 0] = await seedClients(store, 1, () => ({ inletBytes: 5n, exportBytes: 5n }));
  const [tunnel = 0] = await seedTunnels(store, client, 1);
  const [host = 0] = await seedHosts(store, client, 1);
  return { client, tunnel, host };
}

/** The bytes from visitors in the rows of the records, and in their counters. */
async function bytesOf({ db }: TestStore) {
  const [client, tunnel, host, counters] = await Promise.all([
    db.client.findFirst(),
    db.tunnel.findFirst(),
    db.host.findFirst(),
    db.counter.findMany({ orderBy: { kind: 'asc' } }),
  ]);
  return { rows: [client, host, tunnel].map((row) => row && Number(row.inletBytes)), counters: counters.map(({ inletBytes }) => Number(inletBytes)) };
}

/** The sum of all series of a client by hours. */
async function series({ db }: TestStore): Promise<number> {
  const { _sum } = await db.trafficSample.aggregate({ where: { resource: 'client', step: 'hour' }, _sum: { inletBytes: true } });
  return Number(_sum.inletBytes);
}

eachDialect('counters', (databases) => {
  test('are stored without the rows of the records, which only get what rarely changes', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    await store.saveCounters(batchOf(100, ids), { rows: false });
    expect(await bytesOf(store)).toEqual({ rows: [100, 0, 100], counters: [100, 100, 100] });
    await store.saveCounters(batchOf(250, ids), { rows: false });
    expect(await bytesOf(store)).toEqual({ rows: [100, 0, 100], counters: [250, 250, 250] });
    expect(await series(store)).toBe(245);
    await store.saveCounters({ ...batchOf(300, ids), clients: [{ id: ids.client, ...seen, connected: false, inletBytes: 300, exportBytes: 0 }] }, {
      rows: false,
    });
    expect(await store.db.client.findFirst()).toMatchObject({ connected: false, inletBytes: 300n });
    expect(await store.db.tunnel.findFirst()).toMatchObject({ clientOnline: false, inletBytes: 100n });
  });

  test('get into the rows when everything is saved, and when the next process starts', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    await store.saveCounters(batchOf(100, ids), { rows: false });
    await store.saveCounters(batchOf(200, ids));
    expect(await bytesOf(store)).toEqual({ rows: [200, 200, 200], counters: [200, 200, 200] });
    const moving = { rate: 8n, connections: 3 };
    expect([await store.db.client.findFirst(), await store.db.tunnel.findFirst(), await store.db.host.findFirst()]).toMatchObject([moving, moving, moving]);
    await store.saveCounters(batchOf(300, ids), { rows: false });
    await store.forgetRunningState();
    expect(await bytesOf(store)).toEqual({ rows: [300, 300, 300], counters: [300, 300, 300] });
    const still = { rate: 0n, connections: 0 };
    expect(await store.db.client.findFirst()).toMatchObject({ connected: false, ...still });
    expect([await store.db.tunnel.findFirst(), await store.db.host.findFirst()]).toMatchObject([still, still]);
  });

  test('are not stored by a server that is so far behind the log of changes that the log cannot tell it whether traffic was reset', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    await store.saveCounters(batchOf(100, ids), { rows: false });
    // The commits that it has applied are too old.
    await store.db.$executeRaw`UPDATE "LoggedCommit" SET seq = seq + 1000`;
    const saved = store.saveCounters(batchOf(200, ids), { rows: false });
    if (store.dialect === 'sqlite') await saved;
    else await expect(saved).rejects.toThrow(NotFollowedError);
    await store.db.$executeRaw`UPDATE "LoggedCommit" SET seq = seq - 1000`;
    await store.saveCounters(batchOf(300, ids), { rows: false });
    expect((await bytesOf(store)).counters).toEqual([300, 300, 300]);
  });

  test('of both directions and of each kind are stored, counted in the series, and read again by client', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    const [other = 0] = await seedClients(store, 1, () => ({ vkey: 'other', inletBytes: 7n, exportBytes: 9n }));
    const of = (id: number, inletBytes: number, exportBytes: number) => ({ id, inletBytes, exportBytes });
    const totals = { client: of(ids.client, 100, 200), tunnels: [of(ids.tunnel, 10, 20)], hosts: [of(ids.host, 1, 2)] };
    const none = { rate: 0, connections: 0 };
    const batch = {
      clients: [{ ...seen, ...totals.client }],
      tunnels: totals.tunnels.map((row) => ({ running: true, ...none, ...row })),
      hosts: totals.hosts.map((row) => ({ ...none, ...row })),
    };
    await store.saveCounters(batch, { rows: false });
    expect(await store.storedTotals(ids.client)).toEqual(totals);
    expect([await store.storedTotals(other), await store.storedTotals(99)]).toEqual([{ client: of(other, 7, 9), tunnels: [], hosts: [] }, undefined]);
    await store.forgetRunningState();
    const [client, tunnel, host] = await Promise.all([
      store.db.client.findUnique({ where: { id: ids.client } }),
      store.db.tunnel.findUnique({ where: { id: ids.tunnel } }),
      store.db.host.findUnique({ where: { id: ids.host } }),
    ]);
    expect([client, tunnel, host].map((row) => [row?.inletBytes, row?.exportBytes])).toEqual([[100n, 200n], [10n, 20n], [1n, 2n]]);
    const samples = await store.db.trafficSample.findMany({ where: { step: 'hour' }, orderBy: { resource: 'asc' } });
    expect(samples.map(({ resource, inletBytes, exportBytes }) => [resource, inletBytes, exportBytes])).toEqual([
      ['client', 95n, 195n],
      ['host', 1n, 2n],
      ['server', 95n, 195n],
      ['tunnel', 10n, 20n],
    ]);
  });

  test('of records that do not exist are not stored, and those of deleted records go with them', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    await store.saveCounters(batchOf(100, { client: 9_999, tunnel: 9_999, host: 9_999 }));
    expect(await store.db.counter.count()).toBe(0);
    await store.saveCounters(batchOf(100, ids));
    expect(await store.db.counter.count()).toBe(3);
    await store.transaction((tx) => tx.host.delete({ where: { id: ids.host } }));
    expect((await store.db.counter.findMany({ orderBy: { kind: 'asc' } })).map(({ kind }) => kind)).toEqual(['client', 'tunnel']);
    // Its tunnel is deleted by the database.
    await store.transaction((tx) => tx.client.delete({ where: { id: ids.client } }));
    expect(await store.db.counter.count()).toBe(0);
  });

  test.each([true, false])('that are lower than the stored ones, from a server that was frozen meanwhile, change nothing (with the rows: %p)', async (rows) => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    await store.saveCounters(batchOf(100, ids));
    await store.saveCounters(batchOf(10, ids), { rows });
    expect(await bytesOf(store)).toEqual({ rows: [100, 100, 100], counters: [100, 100, 100] });
    // One of two is higher.
    await store.saveCounters({ clients: [{ id: ids.client, ...seen, inletBytes: 110, exportBytes: 1 }], tunnels: [], hosts: [] }, { rows });
    expect((await store.db.counter.findMany({ where: { kind: 'client' } })).map(({ inletBytes, exportBytes }) => [inletBytes, exportBytes])).toEqual([[
      110n,
      200n,
    ]]);
    expect(await series(store)).toBe(105);
  });

  test('of a client: each value that changes alone gets into its row, bytes, rates and times only with the rows, and what the engine does not know stays', async () => {
    const store = await databases.openEmpty();
    const [id = 0] = await seedClients(store, 1);
    let wanted: CounterBatch['clients'][number] = { id, ...seen, inletBytes: 5, exportBytes: 6 };
    let node = 'one';
    const save = (rows: boolean) => saveCounters(store.transaction, store.dialect, { clients: [wanted], tunnels: [], hosts: [] }, Date.now(), { rows, node });
    const row = async () => {
      const { rate, inletBytes, exportBytes, lastAddress, agentVersion, lastOnlineAt, ...client } = await store.db.client.findUniqueOrThrow({ where: { id } });
      const numbers = { rate: Number(rate), inletBytes: Number(inletBytes), exportBytes: Number(exportBytes), lastOnlineAt: lastOnlineAt?.getTime() ?? null };
      const { connected, connections, localAddress } = client;
      return { id, connected, connections, localAddress, address: lastAddress, version: agentVersion, ...numbers, node: client.node };
    };
    await save(true);
    for (const change of [{ connected: false }, { address: '203.0.113.10' }, { localAddress: '10.0.0.2' }, { version: '2.0' }, { connected: true }]) {
      wanted = { ...wanted, ...change };
      await save(false);
      expect(await row()).toEqual({ ...wanted, node });
    }
    node = 'two';
    await save(false);
    expect(await row()).toEqual({ ...wanted, node });
    const before = await row();
    wanted = { ...wanted, rate: 9, connections: 4, inletBytes: 50, exportBytes: 60, lastOnlineAt: Date.UTC(2031, 0, 1) };
    await save(false);
    expect(await row()).toEqual(before);
    await save(true);
    const known = await row();
    expect(known).toEqual({ ...wanted, node });
    wanted = { ...wanted, address: '', localAddress: '', version: '', lastOnlineAt: null };
    await save(true);
    expect(await row()).toEqual(known);
  });

  test('of a tunnel and a host: each value that changes alone gets into its row; without the rows, that a tunnel runs does', async () => {
    const store = await databases.openEmpty();
    const { tunnel, host } = await seeded(store);
    let wanted = { running: true, rate: 1, connections: 2, inletBytes: 3, exportBytes: 4 };
    const save = (rows: boolean) => store.saveCounters({ clients: [], tunnels: [{ id: tunnel, ...wanted }], hosts: [{ id: host, ...wanted }] }, { rows });
    const rows = async () => {
      const select = { rate: true, connections: true, inletBytes: true, exportBytes: true } as const;
      const found = [await store.db.tunnel.findFirst({ select: { running: true, ...select } }), await store.db.host.findFirst({ select })];
      return found.map((row) =>
        Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]))
      );
    };
    const all = () => {
      const { running: _, ...ofHost } = wanted;
      return [wanted, ofHost];
    };
    await save(true);
    for (const change of [{ rate: 10 }, { connections: 20 }, { inletBytes: 30 }, { exportBytes: 40 }]) {
      wanted = { ...wanted, ...change };
      await save(true);
      expect(await rows()).toEqual(all());
    }
    const before = await rows();
    wanted = { ...wanted, rate: 11, connections: 21, inletBytes: 31, exportBytes: 41 };
    await save(false);
    expect(await rows()).toEqual(before);
    wanted = { ...wanted, running: false };
    await save(false);
    expect(await rows()).toEqual([wanted, before[1]]);
    wanted = { ...wanted, running: true };
    await save(true);
    expect(await rows()).toEqual(all());
  });

  test('and the running state of servers that have ended are cleared, each value alone; those of running servers stay', async () => {
    const store = await databases.openEmpty();
    // The first three of a server that has ended: one is connected or runs, one has a rate, one has connections.
    const moving = (n: number) => ({ rate: n % 3 === 2 ? 7 : 0, connections: n % 3 === 0 ? 8 : 0 });
    const clients = await seedClients(store, 6, (n) => ({ node: n > 3 ? 'alive' : 'ended', connected: n % 3 === 1, ...moving(n) }));
    const tunnels = await seedTunnels(store, 0, 6, (n) => ({ clientId: clients[n - 1], running: n % 3 === 1, ...moving(n) }));
    const hosts = await seedHosts(store, 0, 6, (n) => ({ clientId: clients[n - 1], ...moving(n) }));
    const counted = [['client', clients[0], 1, 0], ['client', clients[4], 0, 2], ['tunnel', tunnels[0], 3, 0], ['tunnel', tunnels[1], 0, 4], [
      'host',
      hosts[0],
      5,
      6,
    ]] as const;
    await store.db.counter.createMany({ data: counted.map(([kind, id = 0, inletBytes, exportBytes]) => ({ kind, id, inletBytes, exportBytes })) });
    const state = async () => {
      const { client, tunnel, host } = store.db;
      const [select, orderBy] = [{ rate: true, connections: true }, { id: 'asc' }] as const;
      return [
        (await client.findMany({ select: { connected: true, ...select }, orderBy })).map((
          { connected, ...row },
        ) => [connected, Number(row.rate), row.connections]),
        (await tunnel.findMany({ select: { running: true, ...select }, orderBy })).map(({ running, ...row }) => [running, Number(row.rate), row.connections]),
        (await host.findMany({ select, orderBy })).map(({ rate, connections }) => [Number(rate), connections]),
      ];
    };
    const bytes = async () => {
      const query = { select: { inletBytes: true, exportBytes: true }, orderBy: { id: 'asc' } } as const;
      const found = [await store.db.client.findMany(query), await store.db.tunnel.findMany(query), await store.db.host.findMany(query)];
      return found.map((rows) => rows.map((row) => [Number(row.inletBytes), Number(row.exportBytes)]));
    };
    await store.forgetRunningState(['alive', 'other']);
    const [off, alive] = [[false, 0, 0], [[true, 0, 0], [false, 7, 0], [false, 0, 8]]];
    expect(await state()).toEqual([[off, off, off, ...alive], [off, off, off, ...alive], [[0, 0], [0, 0], [0, 0], [0, 0], [7, 0], [0, 8]]]);
    const none = [0, 0];
    expect((await bytes()).flat()).toEqual(Array.from({ length: 18 }, () => none));
    await store.forgetRunningState();
    expect(await state()).toEqual([off, off, none].map((row) => Array.from({ length: 6 }, () => row)));
    expect(await bytes()).toEqual([
      [[1, 0], none, none, none, [0, 2], none],
      [[3, 0], [0, 4], none, none, none, none],
      [[5, 6], none, none, none, none, none],
    ]);
  });

  test('of which one is lower than the stored one count in the series with what the other one has grown', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    const save = (inletBytes: number, exportBytes: number) =>
      store.saveCounters({ clients: [{ id: ids.client, ...seen, inletBytes, exportBytes }], tunnels: [], hosts: [] });
    await save(100, 200);
    await save(110, 1);
    await save(1, 230);
    const { _sum } = await store.db.trafficSample.aggregate({ where: { resource: 'client', step: 'day' }, _sum: { inletBytes: true, exportBytes: true } });
    expect(_sum).toEqual({ inletBytes: 105n, exportBytes: 225n });
  });

  test('of one record are deleted by a reset of its traffic, which counts what they have grown, and those of others with its id stay', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    expect(new Set(Object.values(ids)).size).toBe(1);
    await store.saveCounters(batchOf(100, ids));
    for (const [kind, left] of [['tunnel', ['client', 'host']], ['client', ['host']]] as const) {
      await store.transaction((tx) => store.resetTraffic(tx, kind, { id: ids[kind], inletBytes: 130, exportBytes: 240 }));
      expect((await store.db.counter.findMany({ orderBy: { kind: 'asc' } })).map((row) => row.kind)).toEqual(left);
      const { _sum } = await store.db.trafficSample.aggregate({ where: { resource: kind, step: 'day' }, _sum: { inletBytes: true, exportBytes: true } });
      expect(_sum).toEqual(kind === 'tunnel' ? { inletBytes: 130n, exportBytes: 240n } : { inletBytes: 125n, exportBytes: 235n });
    }
  });

  test('of a kind that are not current are left out', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    for (const [bytes, kind] of [[100, 'client'], [200, 'tunnel'], [300, 'host']] as const) {
      await store.saveCounters(batchOf(bytes, ids), { isCurrent: (of) => of === kind });
    }
    expect(await bytesOf(store)).toEqual({ rows: [100, 300, 200], counters: [100, 300, 200] });
  });

  test('that an import adds to are in the rows afterwards, never negative and never more than a number holds exactly', async () => {
    const store = await databases.openEmpty();
    const ids = await seeded(store);
    const [other = 0] = await seedClients(store, 1, () => ({ vkey: 'other', inletBytes: 7n, exportBytes: 9n }));
    await store.saveCounters(batchOf(100, ids), { rows: false });
    const add = (...[table, rows]: [Parameters<typeof addBytes>[2], Parameters<typeof addBytes>[3]]) =>
      store.transaction((tx) => addBytes(tx, store.dialect, table, rows));
    await add('Client', [{ id: ids.client, inletBytes: 1, exportBytes: -500 }, { id: other, inletBytes: Number.MAX_SAFE_INTEGER, exportBytes: 3 }]);
    expect((await store.db.counter.findMany({ orderBy: { kind: 'asc' } })).map(({ kind }) => kind)).toEqual(['host', 'tunnel']);
    await add('Tunnel', [{ id: ids.tunnel, inletBytes: 10, exportBytes: 20 }]);
    await add('Host', [{ id: ids.host, inletBytes: -1, exportBytes: 30 }]);
    const query = { select: { inletBytes: true, exportBytes: true }, orderBy: { id: 'asc' } } as const;
    const rows = [await store.db.client.findMany(query), await store.db.tunnel.findMany(query), await store.db.host.findMany(query)].flat();
    expect(rows.map(({ inletBytes, exportBytes }) => [inletBytes, exportBytes])).toEqual([
      [101n, 0n],
      [BigInt(Number.MAX_SAFE_INTEGER), 12n],
      [110n, 220n],
      [99n, 230n],
    ]);
    expect(await store.db.counter.count()).toBe(0);
  });

  if (databases.dialect === 'sqlite') return;

  test.each([
    ['another change', '[{"resource":"client","id":1}]', true],
    ['a reset', '[{"resource":"client","id":1,"reset":{"inletBytes":1,"exportBytes":2}}]', false],
    ['an import, which has added bytes,', '[{"resource":"import","counted":[["client",1,2,3]]}]', false],
  ])('are stored by a server that has not applied %s only if they cannot be older than it', async (_, changes, stored) => {
    const { db } = await databases.openEmpty();
    const log = new ChangeLog(db);
    const { seq } = await log.last();
    const tried = (applied: number) =>
      db.$transaction((tx) => log.mayCount(tx, applied)).then(
        () => true,
        (error: unknown) => error instanceof NotFollowedError ? false : Promise.reject(error),
      );
    const { position } = await db.$transaction((tx) => log.add(tx, [], changes));
    expect(position).toEqual({ seq: seq + 1, token: expect.any(String) });
    expect([await tried(seq), await tried(seq + 1)]).toEqual([stored, true]);
    await db.loggedCommit.deleteMany({ where: { seq: { gt: seq } } }); // the store stays
  });

  test('and all other changes are in a transaction that the database ends if its server sends nothing for 3 s, or for a minute if it computes', async () => {
    const store = await databases.openEmpty();
    const silence = (long: boolean) =>
      store.transaction((tx) => tx.$queryRaw`SELECT current_setting('idle_in_transaction_session_timeout') AS ms`, { changes: () => [], long });
    expect([await silence(false), await silence(true)]).toEqual([[{ ms: '3s' }], [{ ms: '1min' }]]);
  });

  test('and resets exclude each other, but servers that store counters do not', async () => {
    const store = await databases.openEmpty();
    const [id = 0] = await seedClients(store, 1);
    const log = new ChangeLog(store.db);
    const { seq } = await log.last();
    const locks = (work: (tx: Transaction) => Promise<unknown>) =>
      store.transaction(async (tx) => {
        await work(tx);
        return tx.$queryRaw`SELECT objid::int AS lock, mode FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted`;
      });
    expect(await locks((tx) => log.mayCount(tx, seq))).toEqual([{ lock: 72707375, mode: 'ShareLock' }]);
    expect(await locks((tx) => store.resetTraffic(tx, 'client', { id, inletBytes: 0, exportBytes: 0 }))).toEqual([{ lock: 72707375, mode: 'ExclusiveLock' }]);
  });

  test('of a server have its name', async () => {
    const store = await databases.openEmpty();
    const [id = 0] = await seedClients(store, 1);
    await store.node.join({ name: 'one', address: '', linkPort: 1, tlsPort: 1, version: '1' });
    await store.saveCounters({ clients: [{ id, ...seen, inletBytes: 1, exportBytes: 1 }], tunnels: [], hosts: [] }, { rows: false });
    expect(await store.db.client.findFirst({ select: { node: true } })).toEqual({ node: 'one' });
  });
});

test('the buckets of traffic begin at whole minutes, hours and days of UTC', () => {
  const of = (...time: readonly [number, number?, number?, number?]) => Date.UTC(2030, 1, ...time) / 60_000;
  const at = Date.UTC(2030, 1, 3, 4, 5, 6, 7);
  expect([bucketAt('minute', at), bucketAt('hour', at), bucketAt('day', at)]).toEqual([of(3, 4, 5), of(3, 4), of(3)]);
});

test('of more records than one statement takes are written by several, with all of them', async () => {
  const sent = new Map<string, number[][]>();
  /** Notes the ids of what a statement is given; it finds that every record has grown. */
  const run = async (sql: string, json: string) => {
    const rows = z.array(z.looseObject({ id: z.number() })).parse(JSON.parse(json));
    const [name = ''] = /Counter" \(|TrafficSample" \(|UPDATE|SELECT n\.id/.exec(sql) ?? [];
    sent.set(name, [...sent.get(name) ?? [], rows.map(({ id }) => id)]);
    return rows.map(({ id }) => ({ id, userId: null, inletBytes: 1, exportBytes: 1, gainedInlet: 1, gainedExport: 1 }));
  };
  const tx = { $queryRawUnsafe: run, $executeRawUnsafe: run } as unknown as Transaction;
  const ids = Array.from({ length: 4001 }, (_, index) => index + 1);
  await saveCounters((work) => work(tx), 'sqlite', { clients: ids.map((id) => ({ id, ...seen, inletBytes: 1, exportBytes: 1 })), tunnels: [], hosts: [] }, 0);
  const parts = [ids.slice(0, 2000), ids.slice(2000, 4000), ids.slice(4000)];
  for (const name of ['SELECT n.id', 'Counter" (', 'UPDATE']) expect([name, sent.get(name)]).toEqual([name, parts]);
  // The series of the server, whose id is 0, is behind the first client.
  expect(sent.get('TrafficSample" (')).toEqual(parts.flatMap((part) => {
    const [first = 0, ...others] = part;
    const series = [first, 0, ...others];
    return [series.slice(0, 2000), ...series.length > 2000 ? [series.slice(2000)] : []];
  }));
});

eachDialect('rows that are written many at a time', (databases) => {
  test('are stored as the others, times and counters included', async () => {
    const store = await databases.openEmpty();
    const { db, dialect } = store;
    const [expiresAt, inletBytes] = [new Date('2031-02-03T04:05:06.789Z'), 2n ** 40n];
    await store.transaction(async (tx) => {
      await tx.client.create({ data: { vkey: 'alone', expiresAt, inletBytes } });
      await insertRows(tx, dialect, 'Client', [{ vkey: 'inserted', expiresAt, inletBytes }, { vkey: 'updated', expiresAt: null, inletBytes: 0n }]);
      const { id } = await tx.client.findUniqueOrThrow({ where: { vkey: 'updated' } });
      await updateRows(tx, dialect, 'Client', [{ id, expiresAt, inletBytes }]);
    });
    const rows = await db.$queryRaw`SELECT DISTINCT CAST("expiresAt" AS text) AS at, "inletBytes" FROM "Client"`;
    expect(rows).toHaveLength(1);
    expect(await db.client.count({ where: { expiresAt, inletBytes } })).toBe(3);
  });
});
