import { expect, test } from '@jest/globals';
import { NotFollowedError } from '../../src/store/change-log.ts';
import type { CounterBatch } from '../../src/store/hot/counters.ts';
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
});
