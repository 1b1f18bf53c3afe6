import path from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { clientSource } from '../../src/store/hot/client-page.ts';
import { Refreshes } from '../../src/store/hot/refreshes.ts';
import { SearchIndex } from '../../src/store/search/search-index.ts';
import { searchSql } from '../../src/store/search/search-sql.ts';
import { type Found, pageOf, type Search } from '../../src/store/search/search.ts';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { HotConnection } from '../../src/store/sqlite/hot-connection.ts';
import { Searches } from '../../src/store/sqlite/search.ts';
import { WorkerLink } from '../../src/store/sqlite/worker-link.ts';
import { eitherDialect, testDatabases, type TestDatabase } from '../support/database.ts';
import { sized } from '../support/endurance.ts';
import { describeWith } from '../support/programs.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';
import type { TestStore } from '../support/test-store.ts';

/** Few letters, so that much is found; some that are folded in unusual ways. */
const letters = fc.constantFrom('a', 'b', 'A', 'ä', 'Ä', 'K', 'k', 'K', 'İ', 'i', '1', '2', '%', '\\', '😀');
const text = fc.string({ unit: letters, maxLength: 6 });
const someText = fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: text.map((each) => `${each}${'x'.repeat(1100)}`) });

type Change = {
  readonly what: 'client' | 'tunnel' | 'host' | 'user' | 'edit' | 'give' | 'move' | 'delete' | 'counters';
  readonly which: number;
  readonly text: string;
};
const change = fc.record({
  what: fc.constantFrom<Change['what'][]>('client', 'tunnel', 'host', 'user', 'edit', 'give', 'move', 'delete', 'counters'),
  which: fc.nat(),
  text: someText,
});

const pages = { Client: 'clientPage', Tunnel: 'tunnelPage', Host: 'hostPage', User: 'userPage' } as const;

async function apply(store: TestStore, { what, which, text }: Change): Promise<void> {
  const clients = await store.db.client.findMany({ select: { id: true } });
  const users = await store.db.user.findMany({ select: { id: true } });
  const client = clients[which % clients.length]?.id ?? 0;
  const user = users[which % users.length]?.id ?? null;
  const unique = `${text}${which}${clients.length}${users.length}`;
  const createdAt = new Date();
  await store.transaction(async (tx) => {
    switch (what) {
      case 'client':
        return tx.client.create({ data: { vkey: unique, remark: text, userId: which % 2 === 0 ? user : null, createdAt } });
      case 'tunnel':
        return clients.length === 0
          ? undefined
          : tx.tunnel.create({
            data: {
              clientId: client,
              mode: which % 2 === 0 ? 'tcp' : 'udp',
              port: which % 65_536,
              target: text,
              remark: `${which}`,
              password: `p${text}`,
              createdAt,
            },
          });
      case 'host':
        return clients.length === 0 ? undefined : tx.host.create({ data: { clientId: client, host: unique, remark: text, target: text, createdAt } });
      case 'user':
        return tx.user.create({ data: { username: unique, remark: text, passwordHash: '', createdAt } });
      case 'edit':
        return which % 2 === 0
          ? tx.client.updateMany({ where: { id: client }, data: { vkey: unique } })
          : tx.tunnel.updateMany({ where: { clientId: client }, data: { remark: text } });
      case 'give':
        return tx.client.updateMany({ where: { id: client }, data: { userId: user } });
      case 'move':
        return tx.tunnel.updateMany({ where: { mode: 'tcp' }, data: { clientId: client } });
      case 'delete':
        return which % 3 === 0 ? tx.client.deleteMany({ where: { id: client } }) : tx.tunnel.deleteMany({ where: { clientId: client } });
      case 'counters':
        return tx.client.updateMany({ data: { rate: which, inletBytes: which } });
      default:
        throw new Error('no such change');
    }
  }).catch((error: unknown) => {
    // What another record has already.
    if (
      !(error instanceof Error && 'code' in error && error.code === 'P2002')
      && !(error instanceof Error && error.message.includes('does not exist') && clients.length === 0)
    ) throw error;
  });
}

/** What the database itself finds. */
async function byDatabase(store: TestStore, { dataDir }: TestDatabase, search: Search): Promise<number[]> {
  const { text, values } = searchSql(store.dialect, search);
  if (store.dialect === 'postgresql') {
    const [row] = z.tuple([z.object({ ids: z.string() })]).parse(await store.db.$queryRawUnsafe(text, ...values));
    return z.array(z.number()).parse(JSON.parse(row.ids));
  }
  const connection = new HotConnection(path.join(dataDir, databaseFileName));
  const [, , ids] = z.tuple([z.number(), z.unknown(), z.string()]).parse(JSON.parse(connection.rows(text, [...values, 0, 1_000_000]).rows[0] ?? ''));
  connection.close();
  return z.array(z.number()).parse(JSON.parse(ids));
}

eitherDialect('the search in memory', (databases) => {
  test('finds what the database finds, after every change of any table, with any filter, in any order', async () => {
    const database = await databases.create();
    const store = await database.open();
    const letter = store.dialect === 'sqlite' ? text : text.filter((each) => !/[Kİ]/.test(each)); // whose lower case PostgreSQL has in another way
    await seedUsers(store, 3);
    const ids = await seedClients(store, 600, (n) => ({ userId: n % 4 === 0 ? null : n % 3 + 1 }));
    await seedTunnels(store, ids[0] ?? 0, 40, (n) => ({ clientId: ids[n] }));
    await seedHosts(store, ids[0] ?? 0, 40, (n) => ({ clientId: ids[n] }));
    const round = fc.record({
      changes: fc.array(change, { maxLength: 3 }),
      table: fc.constantFrom('Client', 'Tunnel', 'Host', 'User'),
      wanted: fc.oneof(letter.filter((each) => each !== ''), fc.constantFrom('e', '1', '12', 'key', 'OFFICE 5')),
      withoutSecrets: fc.boolean(),
      ownerId: fc.constantFrom(undefined, null, 1, 2),
      clientId: fc.constantFrom(undefined, undefined, 2, 5),
      desc: fc.boolean(),
      byRemark: fc.boolean(),
      offset: fc.nat(5),
      limit: fc.constantFrom(undefined, 0, 3, 50),
    });
    await fc.assert(
      fc.asyncProperty(round, async ({ changes, table, wanted, withoutSecrets, ownerId, clientId, desc, byRemark, offset, limit }) => {
        for (const each of changes) await apply(store, store.dialect === 'sqlite' ? each : { ...each, text: each.text.replaceAll(/[Kİ]/g, 'k') });
        const mine = table === 'User' ? {} : { ...(ownerId !== undefined && { ownerId }), ...(clientId !== undefined && { clientId }) };
        const where = table === 'Client' ? clientSource({ ...mine, offset: 0 }).where : mine;
        const all = await byDatabase(store, database, { table, text: wanted, withoutSecrets, where });
        const page = await store[pages[table]]({
          ...mine,
          search: wanted,
          withoutSecrets,
          desc,
          ...(byRemark && { orderBy: 'REMARK' as const }),
          offset,
          ...(limit !== undefined && { limit }),
        });
        expect(page.total).toBe(all.length);
        const sorted = desc ? all.toReversed() : all;
        const found = page.rows.map(({ id }) => id);
        if (!byRemark) expect(found).toEqual(sorted.slice(offset, limit === undefined ? undefined : offset + limit));
        else expect(all).toEqual(expect.arrayContaining(found));
      }),
      { numRuns: sized(15, 500, 50) },
    );
  });

  test('sees what the program writes in each case before the write is acknowledged to others, while many search', async () => {
    const store = await databases.openEmpty();
    await seedClients(store, 1200);
    const searching = async (n: number): Promise<void> => {
      const client = await store.transaction((tx) => tx.client.create({ data: { vkey: `mine-${n}`, remark: `visible ${n}.`, createdAt: new Date() } }));
      const { rows } = await store.clientPage({ search: `VISIBLE ${n}.`, offset: 0, limit: 10 });
      expect(rows.map(({ id }) => id)).toEqual([client.id]);
      await store.transaction((tx) => tx.client.update({ where: { id: client.id }, data: { remark: 'another' } }));
      expect((await store.clientPage({ search: `visible ${n}.`, offset: 0, limit: 10 })).total).toBe(0);
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => searching(n)));
  });

  test('counters do not make it reload anything', async () => {
    const store = await databases.openEmpty();
    const [id = 0] = await seedClients(store, 3);
    const stamps = () => store.db.searchSegment.findMany({ orderBy: { resource: 'asc' } });
    const before = await stamps();
    await store.saveCounters({
      clients: [{
        id,
        connected: true,
        rate: 7,
        connections: 3,
        address: '192.0.2.1',
        localAddress: '',
        version: '1',
        inletBytes: 5,
        exportBytes: 6,
        lastOnlineAt: 1,
      }],
      tunnels: [],
      hosts: [],
    });
    expect(await stamps()).toEqual(before);
    await store.transaction((tx) => tx.client.update({ where: { id }, data: { remark: 'other' } }));
    expect(await stamps()).not.toEqual(before);
  });

  test('a segment goes with its last row', async () => {
    const store = await databases.openEmpty();
    await seedClients(store, 600);
    expect(await store.db.searchSegment.count()).toBe(2);
    await store.transaction((tx) => tx.client.deleteMany({ where: { id: { lt: 512 } } }));
    expect((await store.clientPage({ search: 'office', offset: 0, limit: 0 })).total).toBe(await store.db.client.count());
    await store.transaction((tx) => tx.client.deleteMany());
    expect(await store.db.searchSegment.count()).toBe(0);
    expect((await store.clientPage({ search: 'office', offset: 0, limit: 0 })).total).toBe(0);
  });

  test('a worker that dies is replaced, and the new one knows all texts', async () => {
    const store = await databases.openEmpty();
    await seedClients(store, 20);
    const asked = jest.spyOn(WorkerLink.prototype, 'ask');
    try {
      const search = () => store.clientPage({ search: 'office 1', offset: 0, limit: 20 });
      const before = await search();
      expect(before.total).toBe(11);
      const link = asked.mock.contexts.at(-1);
      if (!(link instanceof WorkerLink)) throw new Error('no worker was asked');
      const cut = search();
      await link.terminate();
      // Answered before, or refused by name; never half.
      await cut.then((page) => expect(page).toEqual(before), (error: unknown) => expect(error).toMatchObject({ name: 'WorkerLostError' }));
      expect(await search()).toEqual(before);
      expect(asked.mock.contexts.at(-1)).not.toBe(link);
    } finally {
      asked.mockRestore();
    }
  });
});

describe('long rows', () => {
  const databases = testDatabases('sqlite');

  test('are looked at by the searches of those lists alone that have them', async () => {
    const database = await databases.create();
    const store = await database.open();
    const long = 'x'.repeat(1100);
    await seedUsers(store, 2);
    const [mine = 0, other = 0] = await seedClients(store, 2, (n) => ({ userId: n, remark: long }));
    await seedHosts(store, other, 3000, () => ({ remark: long }));
    const [hostId = 0] = await seedHosts(store, mine, 3, (n) => ({ host: `mine${n}.example.com`, ...(n === 1 && { remark: long }) }));
    const connection = new HotConnection(path.join(database.dataDir, databaseFileName));
    const searches = new Searches(connection, setImmediate);
    const find = (search: Pick<Search, 'table' | 'text' | 'where'>) =>
      new Promise<Found>((resolve, reject) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer to a search
        searches.run({ ...search, withoutSecrets: true }, 10_000, { resolve: (result) => resolve(result as Found), reject });
      });
    const ofMine = [
      [{ table: 'Host', text: 'mine', where: { ownerId: 1 } }, 3, [hostId]],
      [{ table: 'Host', text: 'mine', where: { clientId: mine, ownerId: 2 } }, 0, []],
      [{ table: 'Client', text: 'xxx', where: { id: mine } }, 1, [mine]],
      [{ table: 'Client', text: 'xxx', where: { userId: null } }, 0, []],
    ] as const;
    for (const [search] of ofMine) await find(search);
    const read = jest.spyOn(connection, 'rows');
    for (const [search, total, lookedAt] of ofMine) {
      read.mockClear();
      expect((await find(search)).total).toBe(total);
      const among = read.mock.calls.flatMap(([sql, values]) =>
        sql.includes('json_each') ? values.filter((value) => typeof value === 'string' && value.startsWith('[')) : []
      );
      expect(among).toEqual(lookedAt.length === 0 ? [] : [JSON.stringify(lookedAt)]);
    }
    expect((await find({ table: 'Host', text: 'xxx', where: {} })).total).toBe(3001);
    connection.close();
  });
});

describe('a table that is too large for the memory', () => {
  const databases = testDatabases('sqlite');

  test('is searched in the database, with the same result', async () => {
    const database = await databases.create();
    const store = await database.open();
    await seedClients(store, 2000);
    const connection = new HotConnection(path.join(database.dataDir, databaseFileName));
    const found = (most: number) =>
      new Promise<Found>((resolve, reject) => {
        new Searches(connection, setImmediate, new SearchIndex(most)).run(
          { table: 'Client', text: 'OFFICE 12', withoutSecrets: true, where: {}, range: { desc: true, offset: 3, limit: 4 } },
          2000,
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer to a search
          { resolve: (result) => resolve(result as Found), reject },
        );
      });
    const inMemory = await found(10_000_000);
    expect(inMemory.total).toBe(111);
    expect(await found(50_000)).toEqual(inMemory);
    connection.close();
  });

  test('is not held, nor are more bytes than allowed', () => {
    const index = new SearchIndex(100_000);
    const rows = (from: number) => Array.from({ length: 512 }, (_, n) => [from + n, 0, 'a remark of some length', 'key', from + n, null] as const);
    expect(index.stale('Client', [[0, 1], [1, 1], [2, 1]])).toHaveLength(3);
    expect([0, 1, 2].map((segment) => index.put('Client', [segment, 1], rows(segment * 512)))).toEqual([true, true, false]);
    expect(index.find({ table: 'Client', text: 'remark', withoutSecrets: true, where: {} })).toBeUndefined();
    const began = performance.now();
    const now = jest.spyOn(performance, 'now');
    try {
      // It is tried again after ten minutes.
      now.mockReturnValue(began + 590_000);
      expect(index.stale('Client', [[0, 1]])).toBeUndefined();
      now.mockReturnValue(began + 610_000);
      expect(index.stale('Client', [[0, 1]])).toEqual([[0, 1]]);
    } finally {
      now.mockRestore();
    }
    expect(index.stale('User', [[0, 1]])).toEqual([[0, 1]]);
    expect(index.put('User', [0, 1], [[1, 0, 'name', 'remark', 1]])).toBe(true);
  });

  test('pushes no smaller one out', () => {
    const index = new SearchIndex(100_000);
    const search = { text: 'remark', withoutSecrets: true, where: {} };
    const hosts = (from: number) =>
      Array.from({ length: 512 }, (_, n) => [from + n, 0, 'host', 'a long remark that fills the memory', '', from + n, 1, 1] as const);
    expect(index.put('Host', [0, 1], hosts(0))).toBe(true);
    expect(index.put('User', [0, 1], Array.from({ length: 128 }, (_, n) => [n, 0, 'name', 'a remark', n] as const))).toBe(true);
    const clients = Array.from({ length: 256 }, (_, n) => [n, 0, 'a remark of some length', 'key', n, null] as const);
    expect([0, 1].map((segment) => index.put('Client', [segment, 1], clients))).toEqual([true, true]);
    expect(index.find({ table: 'Host', ...search })).toBeUndefined();
    expect(index.put('Host', [1, 1], hosts(512))).toBe(false);
    expect(index.find({ table: 'Client', ...search })?.total).toBe(512);
    expect(index.find({ table: 'User', ...search })?.total).toBe(128);
  });
});

describeWith('initdb', 'a table that is too large for the memory, on PostgreSQL', () => {
  const databases = testDatabases('postgresql');

  test('is searched in the database, with the same pages', async () => {
    const store = await databases.openEmpty();
    await seedClients(store, 200);
    // The worker leaves long texts to the database.
    const [long = 0] = await seedClients(store, 1, () => ({ vkey: 'the-key-of-the-long-remark', remark: `${'x'.repeat(1100)} office 1` }));
    const pages = () => Promise.all([0, 3].map((offset) => store.clientPage({ search: 'office 1', desc: true, offset, limit: 4 })));
    const inMemory = await pages();
    expect(inMemory).toMatchObject([{ total: 112, rows: [{ id: long }, {}, {}, {}] }, { total: 112 }]);
    // What the worker answers to every question about such a table.
    const asked = jest.spyOn(WorkerLink.prototype, 'ask').mockResolvedValue(undefined);
    try {
      expect(await pages()).toEqual(inMemory);
      expect(asked).toHaveBeenCalledWith('find', expect.anything());
    } finally {
      asked.mockRestore();
    }
  });
});

test.each([
  [false, 1, 1, [2]],
  [false, 2, undefined, [3]],
  [false, 4, 1, []],
  [true, 0, 2, [3, 2]],
  [true, 2, 5, [1]],
  [true, 4, 1, []],
  [true, 4, undefined, []],
])('of three matches, a page in descending order: %s, from %i, of %s, has %j', (desc, offset, limit, expected) => {
  const { ids, total } = pageOf([1, 2, 3], { desc, offset, ...(limit !== undefined && { limit }) });
  expect([Array.from(ids), total]).toEqual([expected, 3]);
});

test('texts far behind the first row of a segment are found in their rows', () => {
  const index = new SearchIndex(1_000_000);
  const rows = Array.from({ length: 512 }, (_, n) => [n, 0, `${'long '.repeat(40)}row ${n};`, 'key', n, null] as const);
  expect(index.put('Client', [0, 1], rows)).toBe(true);
  for (const n of [0, 100, 200, 511]) {
    expect(index.find({ table: 'Client', text: `row ${n};`, withoutSecrets: true, where: {} })?.ids).toEqual(Int32Array.of(n));
  }
});

test('each refresh begins after the calls that it is for, all that wait share one, and each kind has its own', async () => {
  const runs: Array<{ readonly key: string; readonly resolve: (result: string) => void; readonly reject: (error: Error) => void }> = [];
  const refreshes = new Refreshes((key: string) =>
    new Promise<string>((resolve, reject) => {
      runs.push({ key, resolve, reject });
    })
  );
  const begun = () => runs.map(({ key }) => key).join('');
  const first = refreshes.after('a');
  const shared = Promise.all([refreshes.after('a'), refreshes.after('a')]);
  const other = refreshes.after('b');
  expect(begun()).toBe('ab');
  runs[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  expect(begun()).toBe('aba');
  const last = refreshes.after('a');
  runs[2]?.resolve('second');
  expect(await shared).toEqual(['second', 'second']);
  expect(begun()).toBe('abaa');
  runs[3]?.resolve('third');
  runs[1]?.resolve('other');
  expect([await last, await other]).toEqual(['third', 'other']);
  const again = refreshes.after('a');
  expect(begun()).toBe('abaaa');
  runs[4]?.resolve('fourth');
  expect(await again).toBe('fourth');
});
