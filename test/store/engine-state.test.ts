import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { loadEngineState } from '../../src/store/hot/engine-state.ts';
import type { HotReader } from '../../src/store/hot/reader.ts';
import { wantedState } from '../../src/schema/writes/engine-changes.ts';
import { allOf } from '../support/all-of.ts';
import { eachDialect } from '../support/database.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';

const day = (n: number) => new Date(Date.UTC(2030, 0, n));

/** A start with 300,000 rows takes as many round trips as pages, and a page is read while the engine takes the one before. Rows with long texts come last, few at once. */
test('has few pages, and asks for the next one before the caller has used one', async () => {
  const asked: string[] = [];
  const left: Record<string, number> = { 'Client short': 6500, 'Client long': 20 };
  const reader: Pick<HotReader, 'dialect' | 'rows' | 'manyRows'> = {
    dialect: 'sqlite',
    rows: async () => [],
    async manyRows({ text, values: [after, limit] }: Parameters<HotReader['manyRows']>[0]) {
      const [, table = '', comparison = ''] = /FROM "(\w+)".* (<=|>) \d+ ORDER/.exec(text) ?? [];
      const list = `${table} ${comparison === '>' ? 'long' : 'short'}`;
      asked.push(`${list} after ${after}`);
      const ids = Array.from({ length: Math.min(Number(limit), (left[list] ?? 0) - Number(after)) }, (_, n) => Number(after) + n + 1);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the ids are enough here
      return { ids, rows: ids.map((id) => ({ id })) as never[] };
    },
  };
  const state = await loadEngineState(reader);
  const seen: Array<readonly [rows: number, asked: string | undefined]> = [];
  for await (const page of state.clients) seen.push([[...page].length, asked.at(-1)]);
  expect(seen).toEqual([
    [2000, 'Client short after 2000'],
    [2000, 'Client short after 4000'],
    [2000, 'Client short after 6000'],
    [500, 'Client short after 6000'],
    [8, 'Client long after 8'],
    [8, 'Client long after 16'],
    [4, 'Client long after 16'],
  ]);
  expect(asked).toHaveLength(7);
  expect(await allOf(state.tunnels)).toEqual([]);
});

eachDialect('the engine state', (databases) => {
  test("has the values of Prisma's rows", async () => {
    const store = await databases.openEmpty();
    const user = await store.db.user.create({ data: { username: 'owner', passwordHash: '', enabled: false, expiresAt: new Date('2031-02-03T04:05:06.789Z') } });
    const odd = `'"\\\n\t{}[],\u2028\u{1F600}é ${'long '.repeat(1000)}`;
    const bytes = { inletBytes: 2n ** 62n + 1n, exportBytes: 2n ** 53n + 1n };
    const { id: clientId } = await store.db.client.create({
      data: {
        vkey: odd,
        userId: user.id,
        expiresAt: new Date('2030-01-01T00:00:00.001Z'),
        ipWhite: true,
        rateLimit: 5,
        blackIpList: '10.0.0.1\n10.0.0.2',
        ...bytes,
      },
    });
    await store.db.client.create({ data: { vkey: 'plain' } });
    await store.db.tunnel.create({ data: { clientId, mode: 'tcp', port: 1, target: odd, localProxy: true, ...bytes } });
    await store.db.host.create({ data: { clientId, host: 'a.example.com', headerChange: odd, acme: true, ...bytes } });
    const { clients, tunnels, hosts } = await store.loadEngineState();
    for (
      const [rows, stored] of [
        [await allOf(clients), await store.db.client.findMany({ include: { user: true }, orderBy: { id: 'asc' } })],
        [await allOf(tunnels), await store.db.tunnel.findMany()],
        [await allOf(hosts), await store.db.host.findMany()],
      ] as const
    ) {
      expect(rows.length).toBe(stored.length);
      for (const [index, row] of rows.entries()) {
        const { user: owner, ...columns } = { user: null, ...stored[index] };
        const all = {
          ...columns,
          inletBytes: Number(stored[index]?.inletBytes),
          exportBytes: Number(stored[index]?.exportBytes),
          ownerEnabled: owner?.enabled ?? null,
          ownerExpiresAt: owner?.expiresAt ?? null,
        };
        expect(row).toEqual(Object.fromEntries(Object.keys(row).map((name) => [name, all[name as keyof typeof all]])));
      }
    }
  });

  test('has the rows with long texts, too, however they are divided into pages', async () => {
    const store = await databases.openEmpty();
    const [none = '', just = '', beyond = ''] = [0, 2000, 2001].map((length) => 'x'.repeat(length));
    const [first = 0] = await seedClients(store, 9, (n) => ({ blackIpList: n % 2 === 0 ? just : none, ipWhiteList: n % 4 === 0 ? 'y' : '' }));
    await seedTunnels(store, first, 4, (n) => ({ target: n === 1 ? beyond : none, accounts: n === 2 ? beyond : none, localPath: n === 3 ? beyond : none }));
    await seedHosts(store, first, 5, (n) => ({
      target: n === 1 ? beyond : none,
      headerChange: n === 2 ? beyond : none,
      keyFilePath: n === 3 ? beyond : none,
      certFilePath: n === 4 ? beyond : none,
    }));
    const state = await store.loadEngineState();
    const sizes = async (pages: AsyncIterable<Iterable<unknown>>) => {
      const counts: number[] = [];
      for await (const page of pages) counts.push([...page].length);
      return counts;
    };
    expect([await sizes(state.clients), await sizes(state.tunnels), await sizes(state.hosts)]).toEqual([[7, 2], [1, 3], [1, 4]]);
    const again = await store.loadEngineState();
    const long = new Map((await store.db.client.findMany()).map(({ id, blackIpList, ipWhiteList }) => [id, { blackIpList, ipWhiteList }]));
    const read = await allOf(again.clients);
    expect(read).toHaveLength(long.size);
    for (const row of read) expect(row).toMatchObject(long.get(row.id) ?? {});
    expect((await allOf(again.hosts)).map(({ target, headerChange, keyFilePath, certFilePath }) => [target, headerChange, keyFilePath, certFilePath].join('')))
      .toEqual(
        ['', beyond, beyond, beyond, beyond],
      );
  });

  test('sends the query for the next page before the caller uses a page, which takes the thread', async () => {
    const store = await databases.openEmpty();
    await seedClients(store, 4500);
    const sent = jest.spyOn(pg.Client.prototype, 'query');
    const posted = jest.spyOn(Worker.prototype, 'postMessage');
    const seen: Array<readonly [rows: number, queries: number]> = [];
    let before = 0;
    for await (const page of (await store.loadEngineState()).clients) {
      // Others watch the database meanwhile, such as the follower of its log of changes.
      const queries = [...sent.mock.calls, ...posted.mock.calls].filter((call) => inspect(call, { depth: 4 }).includes('."vkey"')).length;
      seen.push([[...page].length, queries - before]);
      before = queries;
    }
    sent.mockRestore();
    posted.mockRestore();
    expect(seen).toEqual([[2000, expect.any(Number)], [2000, 1], [500, 0]]);
  });

  test('is empty for an empty database', async () => {
    const { clients, tunnels, hosts, ...settings } = await (await databases.openEmpty()).loadEngineState();
    expect([await allOf(clients), await allOf(tunnels), await allOf(hosts), settings]).toEqual([[], [], [], { blackIpList: '', serverUrl: '' }]);
  });

  test('has every client and tunnel, also beyond the first batch', async () => {
    const store = await databases.openEmpty();
    const clientIds = await seedClients(store, 4500);
    const tunnelIds = await seedTunnels(store, clientIds[0] ?? 0, 2000);
    const { clients, tunnels } = await store.loadEngineState();
    expect((await allOf(clients)).map(({ id }) => id)).toEqual(clientIds);
    expect((await allOf(tunnels)).map(({ id }) => id)).toEqual(tunnelIds);
  });

  test('tells whether a client and its owner are enabled, and which expiry comes first', async () => {
    const store = await databases.openEmpty();
    const owner = async (username: string, columns: object) => (await store.db.user.create({ data: { username, passwordHash: '', ...columns } })).id;
    const good = await owner('good', { expiresAt: day(5) });
    const disabled = await owner('disabled', { enabled: false });
    const add = (vkey: string, columns: object) => store.db.client.create({ data: { vkey, ...columns } });
    await add('free', {});
    await add('off', { enabled: false, userId: good });
    await add('of disabled', { userId: disabled, expiresAt: day(2) });
    await add('early', { userId: good, expiresAt: day(3) });
    await add('late', { userId: good, expiresAt: day(9) });
    const clients = (await allOf(wantedState(await store.loadEngineState()).clients)).map(({ wanted }) => wanted);
    expect(Object.fromEntries(clients.map(({ vkey, enabled, expiresAt }) => [vkey, { enabled, expiresAt }]))).toEqual({
      free: { enabled: true, expiresAt: null },
      off: { enabled: false, expiresAt: day(5).getTime() },
      'of disabled': { enabled: false, expiresAt: day(2).getTime() },
      early: { enabled: true, expiresAt: day(3).getTime() },
      late: { enabled: true, expiresAt: day(5).getTime() },
    });
  });

  test('comes back as the counters were last saved, however often the same ones are', async () => {
    const store = await databases.openEmpty();
    const [one = 0, two = 0] = await seedClients(store, 3);
    const [tunnel = 0] = await seedTunnels(store, one, 2);
    const [host = 0] = await seedHosts(store, one, 1);
    const facts = {
      connected: true,
      rate: 8,
      connections: 3,
      address: '203.0.113.9',
      localAddress: '192.168.1.20',
      version: '1.2.3',
      lastOnlineAt: day(1).getTime(),
    };
    const batch = {
      clients: [
        { id: one, ...facts, inletBytes: 2 ** 52, exportBytes: 7 },
        { id: two, connected: false, rate: 0, connections: 3, address: '', localAddress: '', version: '', lastOnlineAt: null, inletBytes: 1, exportBytes: 0 },
        { id: 99_999, ...facts, inletBytes: 1, exportBytes: 1 },
      ],
      tunnels: [{ id: tunnel, running: true, rate: 0, connections: 0, inletBytes: 5, exportBytes: 6 }, {
        id: 99_999,
        running: true,
        rate: 0,
        connections: 0,
        inletBytes: 1,
        exportBytes: 1,
      }],
      hosts: [{ id: host, rate: 2, connections: 4, inletBytes: 8, exportBytes: 9 }],
    };
    await store.saveCounters(batch);
    await store.saveCounters(batch);
    const { clients, tunnels, hosts } = await store.loadEngineState();
    expect(await allOf(clients)).toMatchObject([
      {
        id: one,
        lastAddress: '203.0.113.9',
        inletBytes: 2 ** 52,
        exportBytes: 7,
      },
      { id: two, lastAddress: '', inletBytes: 1, exportBytes: 0 },
      { inletBytes: 0 },
    ]);
    expect(await allOf(hosts)).toMatchObject([{ id: host, inletBytes: 8, exportBytes: 9 }]);
    expect(await store.db.host.findUnique({ where: { id: host } })).toMatchObject({ rate: 2n, connections: 4 });
    expect(await allOf(tunnels)).toMatchObject([{ id: tunnel, inletBytes: 5, exportBytes: 6 }, { inletBytes: 0, exportBytes: 0 }]);
    expect(await store.db.client.findUnique({ where: { id: one } })).toMatchObject({
      localAddress: '192.168.1.20',
      agentVersion: '1.2.3',
      lastOnlineAt: day(1),
      inletBytes: 2n ** 52n,
    });
    expect(await store.db.client.findUnique({ where: { id: two } })).toMatchObject({ lastOnlineAt: null });
  });

  test('keeps what was last seen of an agent that the engine has not seen since it started', async () => {
    const store = await databases.openEmpty();
    const seen = { lastAddress: '203.0.113.9', localAddress: '10.0.0.1', agentVersion: '1', lastOnlineAt: day(1) };
    const { id } = await store.db.client.create({ data: { vkey: 'k', ...seen } });
    await store.saveCounters({
      clients: [{
        id,
        connected: false,
        rate: 0,
        connections: 3,
        address: '',
        localAddress: '',
        version: '',
        inletBytes: 3,
        exportBytes: 4,
        lastOnlineAt: null,
      }],
      tunnels: [],
      hosts: [],
    });
    expect(await store.db.client.findUnique({ where: { id } })).toMatchObject({ ...seen, inletBytes: 3n, exportBytes: 4n });
  });
});
