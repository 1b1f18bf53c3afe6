import { beforeAll, expect, test } from '@jest/globals';
import { addAuditEntries } from '../../src/store/audit.ts';
import type { Client } from '../../src/store/generated/sqlite/client.ts';
import { clientConditions } from '../../src/store/hot/conditions.ts';
import type { TestStore } from '../support/test-store.ts';
import { eachDialect } from '../support/database.ts';
import { seedClients, seedTunnels } from '../support/seed.ts';

const remarks = ['beta', 'Alpha', 'a_b', 'ALPHA two', '100%', 'Straße', 'ÖFFNEN', '\\', "it's", 'gamma', 'delta', 'axb'];
const clientOrders = {
  ID: 'id',
  REMARK: 'remark',
  VERIFY_KEY: 'vkey',
  ENABLED: 'enabled',
  CONNECTED: 'connected',
  ADDRESS: 'lastAddress',
  LOCAL_ADDRESS: 'localAddress',
  VERSION: 'agentVersion',
  INLET_BYTES: 'inletBytes',
  EXPORT_BYTES: 'exportBytes',
  RATE: 'rate',
} as const;
const tunnelOrders = {
  ID: 'id',
  CLIENT_ID: 'clientId',
  REMARK: 'remark',
  VERIFY_KEY: 'clientKey',
  PORT: 'port',
  MODE: 'mode',
  TARGET: 'target',
  PASSWORD: 'password',
  ENABLED: 'enabled',
  RUNNING: 'running',
  CONNECTED: 'clientOnline',
} as const;
const hostOrders = {
  ID: 'id',
  CLIENT_ID: 'clientId',
  REMARK: 'remark',
  VERIFY_KEY: 'clientKey',
  HOST: 'host',
  SCHEME: 'scheme',
  TARGET: 'target',
  LOCATION: 'location',
  STOPPED: 'stopped',
  CONNECTED: 'clientOnline',
} as const;
const userOrders = {
  ID: 'id',
  USERNAME: 'username',
  REMARK: 'remark',
  ENABLED: 'enabled',
  MAX_TUNNELS: 'maxTunnels',
  MAX_CLIENTS: 'maxClients',
  CLIENT_COUNT: 'clientCount',
  TUNNEL_COUNT: 'tunnelCount',
  EXPIRES_AT: 'expiresAt',
  CREATED_AT: 'createdAt',
} as const;

eachDialect('pages', (databases) => {
  let store: TestStore;
  let ownerId: number;
  let clientIds: number[];

  beforeAll(async () => {
    store = await databases.openEmpty();
    ownerId = (await store.db.user.create({ data: { username: 'owner', passwordHash: '', expiresAt: new Date('2031-01-01T00:00:00Z') } })).id;
    clientIds = await seedClients(store, remarks.length, (n) => ({
      remark: remarks[n - 1],
      vkey: `Key-${(n * 7) % 13}`,
      userId: n % 3 === 0 ? ownerId : null,
      enabled: n % 2 === 0,
      connected: n % 3 === 1,
      rate: BigInt(n % 5),
      lastAddress: `10.0.0.${(n * 5) % 7}`,
      agentVersion: `0.${n % 3}`,
      ipWhite: n % 4 === 0,
      connections: (n * 5) % 4,
      lastOnlineAt: n % 4 === 0 ? null : new Date(Date.UTC(2026, 1, (n * 5) % 11 + 1)),
      expiresAt: n === 6 ? new Date('2030-06-01T00:00:00Z') : n % 5 === 0 ? new Date('2031-02-03T04:05:06.007Z') : null,
      inletBytes: 2n ** 40n + BigInt(n),
      exportBytes: BigInt((n * 5) % 13),
      createdAt: new Date(Date.UTC(2026, 0, n)),
    }));
    await seedTunnels(store, clientIds[0] ?? 0, 40, (n) => ({
      clientId: clientIds[n % 5],
      mode: ['tcp', 'udp', 'secret'][n % 3],
      remark: `Tunnel ${n % 4}`,
      port: 9000 + (n * 11) % 40,
      target: `Host-${(n * 3) % 10}:80`,
      enabled: n % 2 === 0,
      running: n % 4 === 0,
      rate: BigInt(n % 6),
      connections: n % 5,
      password: n % 3 === 2 ? `hush ${n}` : '',
      exportBytes: BigInt(n),
    }));
    for (let n = 1; n <= 30; n++) {
      await store.db.host.create({
        data: {
          clientId: clientIds[n % 4] ?? 0,
          host: `H${(n * 7) % 31}.example.com`,
          remark: remarks[n % 12],
          scheme: ['all', 'http', 'https'][n % 3],
          target: `T${n % 6}:80`,
          location: `/p${(n * 3) % 5}`,
          rate: n % 6,
          connections: n % 5,
          enabled: n % 2 === 0,
        },
      });
    }
    for (let n = 1; n <= 12; n++) {
      await store.db.user.create({
        data: {
          username: `User-${(n * 5) % 13}`,
          passwordHash: '',
          remark: remarks[n - 1],
          enabled: n % 3 === 0,
          maxClients: n % 4,
          maxTunnels: n % 5,
          clientCount: n % 2,
          tunnelCount: n % 6,
          expiresAt: n % 3 === 0 ? null : new Date(Date.UTC(2030, n % 4)),
          lastLoginAt: n % 3 === 1 ? null : new Date(Date.UTC(2026, 3, (n * 7) % 11 + 1)),
          createdAt: new Date(Date.UTC(2026, 0, (n * 7) % 13 + 1)),
        },
      });
    }
  });

  test('hold the same rows as Prisma reads, to the type', async () => {
    expect((await store.clientPage({ offset: 0 })).rows).toStrictEqual(await store.db.client.findMany({ orderBy: { id: 'asc' } }));
    expect((await store.tunnelPage({ offset: 0 })).rows).toStrictEqual(await store.db.tunnel.findMany({ orderBy: { id: 'asc' } }));
  });

  test.each([true, false])('come in every order, text in any case, equal rows by id (desc: %p)', async (desc) => {
    const clients = await store.db.client.findMany();
    for (const [orderBy, column] of entries(clientOrders)) {
      const { rows, total } = await store.clientPage({ orderBy, desc, offset: 2, limit: 7 });
      expect({ orderBy, total, ids: ids(rows) }).toEqual({ orderBy, total: 12, ids: ids(sorted(clients, column, desc)).slice(2, 9) });
    }
    const tunnels = (await store.db.tunnel.findMany()).filter(({ mode }) => mode === 'udp');
    for (const [orderBy, column] of entries(tunnelOrders)) {
      const { rows, total } = await store.tunnelPage({ orderBy, desc, mode: 'udp', offset: 3, limit: 5 });
      expect({ orderBy, total, ids: ids(rows) }).toEqual({ orderBy, total: tunnels.length, ids: ids(sorted(tunnels, column, desc)).slice(3, 8) });
    }
  });

  test.each([true, false])('of hosts and users come in every order too (desc: %p)', async (desc) => {
    const hosts = (await store.db.host.findMany()).map((host) => ({ ...host, stopped: !host.enabled }));
    for (const [orderBy, column] of entries(hostOrders)) {
      const { rows } = await store.hostPage({ orderBy, desc, offset: 2, limit: 9 });
      expect({ orderBy, ids: ids(rows) }).toEqual({ orderBy, ids: ids(sorted(hosts, column, desc)).slice(2, 11) });
    }
    const users = await store.db.user.findMany();
    for (const [orderBy, column] of entries(userOrders)) {
      const { rows } = await store.userPage({ orderBy, desc, offset: 2, limit: 9 });
      expect({ orderBy, ids: ids(rows) }).toEqual({ orderBy, ids: ids(sorted(users, column, desc)).slice(2, 11) });
    }
  });

  test.each([true, false])('come in the orders that no column has, or that change all the time (desc: %p)', async (desc) => {
    const [clients, users] = [await store.db.client.findMany(), await store.db.user.findMany()];
    const time = (at: Date | null, none: number) => at?.getTime() ?? none;
    const ofClients = {
      CONNECTIONS: clients,
      LAST_ONLINE_AT: clients.map(({ id, lastOnlineAt }) => ({ id, connections: time(lastOnlineAt, -1) })),
      FLOW_USED: clients.map(({ id, inletBytes, exportBytes }) => ({ id, connections: Number(inletBytes + exportBytes) })),
      EXPIRES_AT: clients.map(({ id, expiresAt, userId }) => {
        const owner = users.find((user) => user.id === userId);
        return { id, connections: Math.min(time(expiresAt, Infinity), time(owner?.expiresAt ?? null, Infinity)) };
      }),
      OWNER: clients.map(({ id, userId }) => ({ id, connections: userId ?? 0 })),
    };
    const seen = [];
    for (const [orderBy, rows] of entries(ofClients)) {
      seen.push(ids((await store.clientPage({ orderBy, desc, offset: 0 })).rows));
      expect({ orderBy, ids: seen.at(-1) }).toEqual({ orderBy, ids: ids(sorted<{ id: number; connections: number }>(rows, 'connections', desc)) });
    }
    const ofUsers = {
      LAST_LOGIN_AT: users.map(({ id, lastLoginAt }) => ({ id, value: time(lastLoginAt, -1) })),
      TRAFFIC: users.map(({ id }) => ({ id, value: id === ownerId ? 1 : 0 })),
    };
    for (const [orderBy, rows] of entries(ofUsers)) {
      seen.push(ids((await store.userPage({ orderBy, desc, offset: 0 })).rows));
      expect({ orderBy, ids: seen.at(-1) }).toEqual({ orderBy, ids: ids(sorted(rows, 'value', desc)) });
    }
    const [tunnels, hosts] = [await store.db.tunnel.findMany(), await store.db.host.findMany()];
    for (const [orderBy, column] of entries({ RATE: 'rate', CONNECTIONS: 'connections' } as const)) {
      seen.push(ids((await store.tunnelPage({ orderBy, desc, offset: 0 })).rows), ids((await store.hostPage({ orderBy, desc, offset: 0 })).rows));
      expect({ orderBy, ids: seen.slice(-2) }).toEqual({ orderBy, ids: [ids(sorted(tunnels, column, desc)), ids(sorted(hosts, column, desc))] });
    }
    expect(new Set(seen.map(String)).size).toBe(seen.length);
  });

  test('of the records of others have the same range of each, in their order, and no more in all than wanted', async () => {
    const tables = { Client: await store.db.client.findMany(), Tunnel: await store.db.tunnel.findMany(), Host: await store.db.host.findMany() };
    for (
      const [table, rows] of entries<keyof typeof tables, ReadonlyArray<{ readonly id: number; readonly userId?: number | null; readonly clientId?: number }>>(
        tables,
      )
    ) {
      const parentIds = table === 'Client' ? [ownerId, 999] : [clientIds[1] ?? 0, clientIds[3] ?? 0, 999];
      for (const [offset, limit, mostRows] of [[0, undefined, undefined], [1, 2, undefined], [1, undefined, 3], [99, 2, undefined]] as const) {
        const wanted = parentIds.flatMap((parent) =>
          rows.filter((row) => (table === 'Client' ? row.userId : row.clientId) === parent).toSorted((a, b) => a.id - b.id).slice(
            offset,
            limit && offset + limit,
          )
        );
        const read = await store.childrenOf(table, { parentIds, offset, ...limit !== undefined && { limit }, ...mostRows !== undefined && { mostRows } });
        expect([table, offset, limit, ids(read)]).toEqual([table, offset, limit, ids(wanted).toSorted((a, b) => a - b).slice(0, mostRows)]);
      }
    }
  });

  test('with conditions, with a search or without one, have the rows that meet all of them', async () => {
    const clients = await store.db.client.findMany({ orderBy: { id: 'asc' } });
    for (const search of ['', 'a', '1']) {
      for (
        const [conditions, wanted] of [
          [{ enabled: true, connected: false }, ({ enabled, connected }: Client) => enabled && !connected],
          [{ owned: false, versionOtherThan: '0.1' }, ({ userId, agentVersion }: Client) => userId === null && agentVersion !== '0.1'],
          [{ expiresBefore: new Date('2031-01-02T00:00:00Z') }, ({ userId }: Client) => userId === ownerId],
        ] as const
      ) {
        const { rows, total } = await store.clientPage({ search, conditions: clientConditions(conditions), offset: 0 });
        const found = clients.filter((row) =>
          wanted(row) && (String(row.id) === search || [row.remark, row.vkey].some((text) => text.toLowerCase().includes(search)))
        );
        expect([search, conditions, total, ids(rows)]).toEqual([search, conditions, found.length, ids(found)]);
      }
    }
  });

  test('count what there is by its state', async () => {
    const [clients, tunnels, hosts, users] = [
      await store.db.client.findMany(),
      await store.db.tunnel.findMany(),
      await store.db.host.findMany(),
      await store.db.user.findMany(),
    ];
    const number = <Row>(rows: readonly Row[], wanted: (row: Row) => boolean) => rows.filter(wanted).length;
    for (const scope of [{}, { ownerId }, { clientId: clientIds[1] ?? 0 }, { ownerId: 999 }]) {
      const mine = (owner: number | null, client: number) =>
        (!('ownerId' in scope) || owner === scope.ownerId) && (!('clientId' in scope) || client === scope.clientId);
      const own = clients.filter(({ id, userId }) => mine(userId, id));
      const [ownTunnels, ownHosts] = [tunnels.filter((row) => mine(row.ownerId, row.clientId)), hosts.filter((row) => mine(row.ownerId, row.clientId))];
      const modes = new Set(ownTunnels.map(({ mode }) => mode));
      const { tunnels: { byMode, ...ofTunnels }, ...counts } = await store.counts(scope);
      expect({ scope, ...counts, ofTunnels, byMode: Object.fromEntries(Array.from(byMode).filter(([, total]) => total > 0)) }).toEqual({
        scope,
        clients: {
          total: own.length,
          connected: number(own, (row) => row.connected),
          neverSeen: number(own, (row) => row.lastOnlineAt === null),
          disabled: number(own, (row) => !row.enabled && !row.expired),
          expired: number(own, (row) => row.expired),
        },
        ofTunnels: { total: ownTunnels.length, running: number(ownTunnels, (row) => row.running) },
        byMode: Object.fromEntries(Array.from(modes, (mode) => [mode, number(ownTunnels, (row) => row.mode === mode)])),
        hosts: {
          total: ownHosts.length,
          serving: number(ownHosts, (row) => row.enabled && row.clientOnline),
          disabled: number(ownHosts, (row) => !row.enabled),
        },
        users: 'ownerId' in scope || 'clientId' in scope
          ? null
          : { total: users.length, disabled: number(users, (row) => !row.enabled), expired: number(users, (row) => row.expired) },
      });
    }
  });

  test('of the audit log, searched or read as a whole, are the same on both databases', async () => {
    const plain = { callerKind: 'admin', callerId: null, method: '', tokenName: '', address: '', resource: 'client', resourceId: '1', action: 'update' };
    const rows = ['resourceId', 'address', 'tokenName', 'before', 'after', 'method'].map((column, n) => ({
      ...{ ...plain, at: new Date(Date.UTC(2026, 0, n + 1)), before: null, after: null },
      [column]: column === 'before' || column === 'after' ? '{"remark":"The \\"Needle\\""}' : 'the "needle"',
    }));
    const entries = await store.transaction((tx) => addAuditEntries(tx, rows));
    const found = ids(entries).slice(0, 5).toReversed();
    expect(await store.auditPage({ search: '"NEEDLE', offset: 1, limit: 3 })).toMatchObject({ total: 5, rows: found.slice(1, 4).map((id) => ({ id })) });
    const pages = [];
    for await (const page of store.auditPages({ search: 'needle', from: entries[1]?.at, to: entries[4]?.at })) pages.push(ids(page));
    expect(pages).toEqual([found.slice(1, 4)]);
    expect((await store.auditPage({ from: entries[5]?.at, offset: 0, limit: 9 })).rows).toEqual([entries[5]]);
    expect(await store.auditPage({ to: entries[1]?.at, offset: 0, limit: 9 })).toEqual({ rows: [entries[0]], total: 1 });
  });

  test('know the total of every filter without a search', async () => {
    expect(await store.clientPage({ offset: 0, limit: 0 })).toEqual({ rows: [], total: 12 });
    expect((await store.clientPage({ offset: 0, limit: 2, ownerId })).total).toBe(4);
    expect(await store.clientPage({ offset: 0, ownerId: 999 })).toEqual({ rows: [], total: 0 });
    const tunnels = await store.db.tunnel.findMany();
    for (const clientId of [undefined, clientIds[1], 999]) {
      for (const mode of [undefined, 'tcp', 'secret', 'file']) {
        const wanted = tunnels.filter((tunnel) => (clientId ?? tunnel.clientId) === tunnel.clientId && (mode ?? tunnel.mode) === tunnel.mode);
        const { rows, total } = await store.tunnelPage({ clientId, mode, offset: 0 });
        expect({ clientId, mode, total, ids: ids(rows) }).toEqual({ clientId, mode, total: wanted.length, ids: ids(wanted) });
      }
    }
    // A host counts in the client's quota, not in its list of tunnels.
    await store.db.host.create({ data: { clientId: clientIds[1] ?? 0, host: 'counted.example.com' } });
    expect((await store.tunnelPage({ clientId: clientIds[1], offset: 0, limit: 1 })).total).toBe(8);
  });

  test('with texts of megabytes come as they are, and after them short ones', async () => {
    const long = await store.db.client.findMany({ take: 3, orderBy: { id: 'asc' } });
    const write = (blackIpList: string) => store.transaction((tx) => tx.client.updateMany({ where: { id: { in: ids(long) } }, data: { blackIpList } }));
    for (const text of ['192.0.2.1\n'.repeat(100_000), '192.0.2.2\n'.repeat(100_000), 'short']) {
      await write(text);
      const { rows } = await store.clientPage({ offset: 0, limit: 5 });
      expect(rows).toHaveLength(5);
      for (const { id, blackIpList } of rows.slice(0, 3)) expect({ id, same: blackIpList === text }).toEqual({ id: expect.any(Number), same: true });
    }
    await write('');
  });

  test('past the end are empty and know the total', async () => {
    expect(await store.clientPage({ offset: 12, limit: 5 })).toEqual({ rows: [], total: 12 });
    expect(await store.clientPage({ offset: 2 ** 31, search: 'key' })).toEqual({ rows: [], total: 12 });
  });

  test.each([
    ['alpha', ['Alpha', 'ALPHA two']],
    ['A_B', ['a_b']],
    ['%', ['100%']],
    ['\\', ['\\']],
    ["it's", ["it's"]],
    ['öff', ['ÖFFNEN']],
    ['STRASSE', []],
    ["' OR 1=1 --", []],
    ['nul\0', []],
    ['x'.repeat(100_000), []],
  ])('find clients by a part of the remark: %j', async (search, found) => {
    const { rows, total } = await store.clientPage({ search, orderBy: 'REMARK', offset: 0 });
    expect(rows.map((row) => row.remark)).toEqual(found);
    expect(total).toBe(found.length);
  });

  test('find clients by key and by id, within an owner too', async () => {
    const byKey = await store.clientPage({ search: 'kEy-1', offset: 0, limit: 2 });
    expect(byKey.total).toBe(4); // Key-1, Key-10, Key-11, Key-12
    expect(byKey.rows).toHaveLength(2);
    const [third = 0] = clientIds.slice(2);
    expect(ids((await store.clientPage({ search: String(third), ownerId, offset: 0 })).rows)).toContain(third);
    expect((await store.clientPage({ search: '99999999999999999999', offset: 0 })).total).toBe(0);
    expect((await store.clientPage({ search: '2147483648', offset: 0 })).total).toBe(0);
  });

  test('find tunnels by port, password, remark and target, within their filters', async () => {
    expect(ids((await store.tunnelPage({ search: '9011', offset: 0 })).rows)).toEqual(ids(await store.db.tunnel.findMany({ where: { port: 9011 } })));
    const found = async (search: string, filter = {}) => (await store.tunnelPage({ search, offset: 0, ...filter })).total;
    expect(await found('HUSH')).toBe(13);
    expect(await found('tunnel 3')).toBe(10);
    expect(await found('host-7')).toBe(4);
    expect(await found('host-7', { mode: 'udp' })).toBe(await store.db.tunnel.count({ where: { mode: 'udp', target: { contains: 'Host-7' } } }));
    expect(await found('tunnel', { clientId: clientIds[1] })).toBe(8);
  });

  test('tunnels and hosts follow what their client is: its owner, its key, its connection', async () => {
    const [from = 0, to = 0] = await seedClients(store, 2, (n) => ({ vkey: `follow ${n}`, userId: n === 1 ? ownerId : null }));
    const [tunnel = 0] = await seedTunnels(store, from, 1, () => ({ port: 1, remark: 'follower' }));
    const { id: host } = await store.db.host.create({ data: { clientId: from, host: 'follow.example.com' } });
    const seen = () => Promise.all([store.db.tunnel.findUniqueOrThrow({ where: { id: tunnel } }), store.db.host.findUniqueOrThrow({ where: { id: host } })]);
    const copies = (ownerId: number | null, clientKey: string, clientOnline: boolean) =>
      Array(2).fill(expect.objectContaining({ ownerId, clientKey, clientOnline }));
    expect(await seen()).toEqual(copies(ownerId, 'follow 1', false));
    await store.db.client.update({ where: { id: from }, data: { connected: true, vkey: 'other' } });
    expect(await seen()).toEqual(copies(ownerId, 'other', true));
    await store.db.user.delete({ where: { id: ownerId } });
    expect(await seen()).toEqual(copies(null, 'other', true));
    expect((await store.tunnelPage({ ownerId: null, search: 'follower', offset: 0 })).total).toBe(1);
    await Promise.all([
      store.db.tunnel.update({ where: { id: tunnel }, data: { clientId: to } }),
      store.db.host.update({ where: { id: host }, data: { clientId: to } }),
    ]);
    expect(await seen()).toEqual(copies(null, 'follow 2', false));
  });
});

eachDialect('clients with problems', (databases) => {
  test('are those that expired after one moment, expire before another one, or have tunnels without a port; the filter and the order agree', async () => {
    const store = await databases.openEmpty();
    const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute));
    const expiries = [[true, 9], [true, 11], [false, 19], [false, 21], [false, null], [false, null]] as const;
    const clients = await seedClients(store, expiries.length, (n) => {
      const [expired, minute] = expiries[n - 1] ?? [false, null];
      return { expired, expiresAt: minute === null ? null : at(minute), connected: n === 5 };
    });
    const [, expired = 0, expiring = 0, , online = 0] = clients;
    // Their ids are others than that of their client.
    await seedTunnels(store, online, 1, () => ({ enabled: true, running: false }));
    const troubles = { brokenIds: [], soonIds: [], since: at(10), until: at(20) };
    const { rows, total } = await store.clientPage({ conditions: clientConditions({ troubled: troubles }), offset: 0 });
    expect([total, ids(rows)]).toEqual([3, [expired, expiring, online]]);
    const ordered = await store.clientPage({ orderBy: 'PROBLEMS', desc: true, troubles, offset: 0, limit: 3 });
    expect(ids(ordered.rows)).toEqual([online, expired, expiring]);
  });
});

function entries<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  return Object.entries(record) as [Key, Value][];
}

function ids(rows: readonly { id: number }[]): number[] {
  return rows.map((row) => row.id);
}

/** Numbers and booleans by value; text by the bytes of its lower case, letters beyond ASCII as they are sorted by no test here. */
function sorted<Row extends { id: number }>(rows: readonly Row[], column: keyof Row, desc: boolean): Row[] {
  const key = (row: Row) => {
    const value = row[column];
    return typeof value === 'string' ? value.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : Number(value);
  };
  const ascending = rows.toSorted((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.id - b.id);
  return desc ? ascending.toReversed() : ascending;
}
