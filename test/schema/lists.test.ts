import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { refusalCauses, sessionEnds } from '../../src/engine/face.ts';
import { onlineState } from '../support/client-state.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { countStatements } from '../support/statements.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';
import type { TestStore } from '../support/test-store.ts';

const online = onlineState({
  home: 'n2',
  connectedSince: Date.UTC(2026, 10, 21, 9),
  localAddress: '192.168.1.20',
  version: '0.1.0',
  connections: 2,
  rate: 10,
  inletRate: 4,
  exportRate: 6,
  inletBytes: 100,
  exportBytes: 200,
  lastOnlineAt: Date.UTC(2026, 10, 21, 10),
});

/** 100 clients of four owners, three tunnels each. */
async function seed({ services: { store } }: TestSchema): Promise<number[]> {
  const owners = await Promise.all([1, 2, 3, 4].map((n) => store.db.user.create({ data: { username: `user ${n}`, passwordHash: '' } })));
  const ids = await seedClients(store, 100, (n) => ({ userId: owners[n % 4]?.id }));
  await seedTunnels(store, 0, 300, (n) => ({ clientId: ids[Math.trunc((n - 1) / 3)], port: 10_001 + (n - 1) % 3 }));
  return ids;
}

/**
 * Of as many runs as it takes to find no more than expected, three at most: an operation gives way to others after some milliseconds, and on a busy machine its loaders then ask in
 * two batches.
 */
async function fewestStatements(store: TestStore, expected: number, work: () => Promise<unknown>): Promise<number> {
  let fewest = Infinity;
  for (let run = 0; run < 3 && fewest > expected; run++) fewest = Math.min(fewest, await countStatements(store, work));
  return fewest;
}

eitherDialect('lists', (databases) => {
  test('records that are asked for together are those with the ids, and none for one that is unknown', async () => {
    const api = await openTestSchema(databases);
    await seedClients(api.services.store, 2);
    const operation = '{ unknown: client(id: 99) { id } second: client(id: 2) { id } first: client(id: 1) { id } }';
    expect(await api.ok(operation)).toEqual({ unknown: null, second: { id: 2 }, first: { id: 1 } });
  });

  test('a list of 100 with owners, tunnels and their clients takes the same few statements as a list of one', async () => {
    const api = await openTestSchema(databases);
    await seed(api);
    const operation = `query ($limit: Int) { clients(limit: $limit) { total rows {
      id effectiveExpiresAt owner { username } runtime { connected } tunnels(limit: 2) { total rows { id client { id remark } runtime { running } } }
    } } }`;
    const one = await fewestStatements(api.services.store, 6, () => api.ok(operation, { limit: 1 }));
    const hundred = await fewestStatements(api.services.store, one, () => api.ok(operation, { limit: 100 }));
    expect(hundred).toBe(one);
    expect(one).toBeGreaterThan(0);
    expect(one).toBeLessThanOrEqual(6);
    const { rows } = await api.record(operation, { limit: 100 });
    expect(rows).toHaveLength(100);
    expect(rows).toContainEqual(
      expect.objectContaining({ owner: { username: 'user 1' }, tunnels: { total: 3, rows: [expect.anything(), expect.anything()] } }),
    );
  });

  test('a list of 100 clients with owners, tunnels and hosts takes five statements', async () => {
    const api = await openTestSchema(databases);
    const ids = await seed(api);
    await seedHosts(api.services.store, 0, 100, (n) => ({ clientId: ids[n - 1], host: `h${ids[n - 1]}.com` }));
    const operation =
      `query ($limit: Int) { clients(limit: 100) { total rows { id owner { username } tunnels(limit: $limit, offset: 1) { total rows { port createdAt enabled } } hosts { total rows { host createdAt enabled } } } } }`;
    for (const limit of [1, undefined]) {
      expect(await fewestStatements(api.services.store, 5, () => api.ok(operation, { limit }))).toBe(5);
      const { rows } = await api.record(operation, { limit });
      expect(rows).toHaveLength(100);
      expect(rows).toContainEqual({
        id: ids[41],
        owner: { username: 'user 3' },
        tunnels: {
          total: 3,
          rows: (limit === 1 ? [10_002] : [10_002, 10_003]).map((port) => ({ port, createdAt: expect.stringMatching(/^20.+Z$/), enabled: true })),
        },
        hosts: { total: 1, rows: [{ host: `h${ids[41]}.com`, createdAt: expect.stringMatching(/^20.+Z$/), enabled: true }] },
      });
    }
    expect(await fewestStatements(api.services.store, 4, () => api.ok(operation, { limit: 0 }))).toBe(4);
  });

  test('the four kinds of records lead to each other, with one statement for each step', async () => {
    const api = await openTestSchema(databases);
    const ids = await seed(api);
    await seedHosts(api.services.store, ids[0] ?? 0, 3);
    const operation =
      `{ users { rows { username clients(limit: 30) { total rows { tunnels { total rows { client { owner { id } } } } hosts { rows { client { id } } } } } } } }`;
    const list = z.object({ users: z.object({ rows: z.array(z.object({ clients: z.object({ total: z.number(), rows: z.array(z.unknown()) }) })) }) });
    const { users } = list.parse(await api.ok(operation));
    expect(users.rows.map(({ clients }) => [clients.total, clients.rows.length])).toEqual(Array.from({ length: 4 }, () => [25, 25]));
    // Users and their total, clients, tunnels, hosts; their clients and owners once more.
    expect(await fewestStatements(api.services.store, 8, () => api.ok(operation))).toBeLessThanOrEqual(8);
  });

  test('a list of tunnels takes two statements, and one each for their clients and the owners', async () => {
    const api = await openTestSchema(databases);
    await seed(api);
    const operation = 'query ($limit: Int) { tunnels(limit: $limit) { rows { id client { remark effectiveExpiresAt owner { username } } } } }';
    expect(await fewestStatements(api.services.store, 4, () => api.ok(operation, { limit: 200 }))).toBe(4);
  });

  test('paging: no limit is 50 rows, 0 or less only counts, past the end is empty, the total is that of the list', async () => {
    const api = await openTestSchema(databases);
    const ids = await seed(api);
    const operation = 'query ($limit: Int, $offset: Int) { clients(limit: $limit, offset: $offset) { total rows { id } } }';
    const rows = (from: number, to: number) => ({ total: 100, rows: ids.slice(from, to).map((id) => ({ id })) });
    expect(await api.record(operation, {})).toEqual(rows(0, 50));
    expect(await api.record(operation, { limit: null })).toEqual(rows(0, 50));
    expect(await api.record(operation, { limit: 200 })).toEqual(rows(0, 100));
    expect(await api.record(operation, { limit: 0 })).toEqual(rows(0, 0));
    expect(await api.record(operation, { limit: -1 })).toEqual(rows(0, 0));
    expect(await api.record(operation, { limit: 2, offset: 5 })).toEqual(rows(5, 7));
    expect(await api.record(operation, { limit: 2, offset: -5 })).toEqual(rows(0, 2));
    expect(await api.record(operation, { limit: 2, offset: 100 })).toEqual(rows(0, 0));
    expect(await api.record('{ clients(sort: { field: ID, direction: DESC }, limit: 1) { rows { id } } }')).toEqual({ rows: [{ id: ids.at(-1) }] });
    expect(await api.record('{ clients(sort: { field: REMARK, direction: DESC }, limit: 1) { rows { remark } } }')).toEqual({
      rows: [{ remark: 'office 99' }],
    });
    expect(await api.record('{ clients(search: "KEY42") { total rows { remark } } }')).toEqual({ total: 1, rows: [{ remark: 'office 42' }] });
    const [client] = ids;
    expect(
      await api.record(
        'query ($client: ID) { tunnels(filter: { clientId: $client, mode: TCP }, sort: { field: PORT, direction: DESC }, limit: 1) { total rows { port } } }',
        { client },
      ),
    )
      .toEqual({ total: 3, rows: [{ port: 10_003 }] });
    expect(await api.record('query ($client: ID!) { client(id: $client) { tunnels(offset: 1) { total rows { port } } } }', { client }))
      .toEqual({ tunnels: { total: 3, rows: [{ port: 10_002 }, { port: 10_003 }] } });
    await seedHosts(api.services.store, client ?? 0, 3, (n) => ({ host: `h${n}.com` }));
    expect(await api.record('query ($client: ID!) { client(id: $client) { hosts(offset: 1, limit: 1) { total rows { host } } } }', { client }))
      .toEqual({ hosts: { total: 3, rows: [{ host: 'h2.com' }] } });
    // The owner of each fourth.
    expect(
      await api.record('query ($client: ID!) { client(id: $client) { owner { clients(offset: 2, limit: 1) { total rows { id } } } } }', { client: ids[3] }),
    )
      .toEqual({ owner: { clients: { total: 25, rows: [{ id: ids[11] }] } } });
    expect(await api.record('query ($client: ID!) { client(id: $client) { tunnels(limit: 0) { total rows { port } } } }', { client })).toEqual({
      tunnels: { total: 3, rows: [] },
    });
  });

  test('no list returns more than 200 rows, nested ones included', async () => {
    const api = await openTestSchema(databases);
    const [client = 0] = await seedClients(api.services.store, 1);
    const [owner] = await seedUsers(api.services.store, 1);
    for (
      const operation of [
        '{ clients(limit: 201) { total } }',
        '{ tunnels(limit: 201) { total } }',
        '{ hosts(limit: 201) { total } }',
        '{ users(limit: 201) { total } }',
        '{ auditEntries(limit: 201) { total } }',
        `{ connections(clientId: ${client}, limit: 201) { total } }`,
        `{ client(id: ${client}) { tunnels(limit: 201) { total } } }`,
        `{ client(id: ${client}) { hosts(limit: 201) { total } } }`,
        `{ user(id: ${owner}) { clients(limit: 201) { total } } }`,
      ]
    ) {
      const { errors } = await api.run(operation);
      expect({ operation, errors }).toEqual({
        operation,
        errors: [
          expect.objectContaining({
            message: 'invalid limit: at most 200 rows at a time, use offset for those after them',
            code: 'INVALID_INPUT',
            extensions: expect.objectContaining({ field: 'limit', most: 200 }),
          }),
        ],
      });
    }
  });

  test("runtime is the engine's state, or the stored state until the agent reconnects", async () => {
    const api = await openTestSchema(databases);
    const [id = 0] = await seedClients(api.services.store, 1, () => ({
      lastOnlineAt: new Date('2026-11-20T00:00:00Z'),
      lastAddress: '198.51.100.1',
      localAddress: '10.0.0.1',
      agentVersion: '0.0.9',
      inletBytes: 2n ** 53n - 1n,
      exportBytes: 7n,
    }));
    const operation =
      'query ($id: ID!) { client(id: $id) { runtime { connected connectedSince lastHeardAt home secure endReason address localAddress version connections refusals { cause count } rate inletRate exportRate inletBytes exportBytes lastOnlineAt } } }';
    const remembered = {
      connected: false,
      connectedSince: null,
      lastHeardAt: null,
      home: null,
      secure: false,
      endReason: null,
      address: '198.51.100.1',
      localAddress: '10.0.0.1',
      version: '0.0.9',
      connections: 0,
      refusals: [],
      rate: 0,
      inletRate: 0,
      exportRate: 0,
      inletBytes: Number.MAX_SAFE_INTEGER,
      exportBytes: 7,
      lastOnlineAt: '2026-11-20T00:00:00.000Z',
    };
    expect(await api.record(operation, { id })).toEqual({ runtime: remembered });
    api.engine.clients.set(id, {
      ...online,
      connected: false,
      connectedSince: null,
      lastHeardAt: null,
      secure: false,
      address: '',
      localAddress: '',
      version: '',
      lastOnlineAt: null,
      inletBytes: 9,
      refusals: { offline: 3 },
    });
    // The server may dial targets itself, and has refused visitors.
    const counted = { connections: 2, refusals: [{ cause: 'OFFLINE', count: 3 }], rate: 10, inletRate: 4, exportRate: 6, inletBytes: 9, exportBytes: 200 };
    expect(await api.record(operation, { id })).toEqual({ runtime: { ...remembered, ...counted } });
    api.engine.clients.set(id, { ...online, refusals: { blackList: 2, offline: 3 * 2 ** 30 } });
    const refusals = [{ cause: 'OFFLINE', count: 2 ** 31 - 1 }, { cause: 'BLOCKLIST', count: 2 }];
    const { end: _, ...shown } = online;
    const times = { connectedSince: '2026-11-21T09:00:00.000Z', lastHeardAt: '1970-01-01T00:00:00.001Z', lastOnlineAt: '2026-11-21T10:00:00.000Z' };
    expect(await api.record(operation, { id })).toEqual({ runtime: { ...shown, endReason: null, refusals, ...times } });
    api.engine.clients.set(id, { ...online, refusals: Object.fromEntries(refusalCauses.map((cause, index) => [cause, index + 1])) });
    const causes = ['OFFLINE', 'DISABLED', 'EXPIRED', 'GLOBAL_BLOCKLIST', 'ALLOWLIST', 'BLOCKLIST', 'CONNECTIONS', 'FLOW', 'CAPACITY', 'AGENT_CAPACITY'];
    expect(await api.record(operation, { id })).toMatchObject({
      runtime: { refusals: [...causes, 'NO_TARGET', 'LOCAL_PROXY', 'LOGIN', 'MALFORMED'].map((cause, index) => ({ cause, count: index + 1 })) },
    });
    for (const end of sessionEnds) {
      api.engine.clients.set(id, { ...online, connected: false, connectedSince: null, end });
      const endReason = end.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
      expect(await api.record(operation, { id })).toMatchObject({ runtime: { connected: false, connectedSince: null, endReason } });
    }
  });

  test('a second mutation of an operation does not answer with what the first one looked up', async () => {
    const api = await openTestSchema(databases);
    const alice = await api.services.store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
    await seedClients(api.services.store, 1, () => ({ userId: alice.id }));
    const operation = `mutation ($id: ID!) {
      one: createTunnel(input: { clientId: 1, mode: TCP }) { client { remark } }
      two: updateClient(id: 1, input: { remark: "changed" }) { id }
      three: updateTunnel(id: $id, input: { remark: "x" }) { client { remark } }
    }`;
    expect(await api.ok(operation, { id: 1 })).toEqual({ one: { client: { remark: 'office 1' } }, two: { id: 1 }, three: { client: { remark: 'changed' } } });
    const addresses = `mutation {
      one: updateTunnel(id: 1, input: { remark: "y" }) { publicAddress }
      two: updateGlobalSettings(input: { serverUrl: "https://new.example" }) { serverUrl }
      three: updateTunnel(id: 1, input: { remark: "z" }) { publicAddress }
    }`;
    expect(await api.ok(addresses)).toMatchObject({ one: { publicAddress: null }, three: { publicAddress: 'new.example:20000' } });
  });

  test('the server describes itself', async () => {
    const api = await openTestSchema(databases);
    expect(await api.record('{ server { version bridgeType bridgePort bridgeTlsPort bridgeTlsFingerprint } }')).toEqual({
      version: '1.2.3',
      bridgeType: 'TCP',
      bridgePort: 8024,
      bridgeTlsPort: 8025,
      bridgeTlsFingerprint: 'ab'.repeat(32),
    });
  });
});
