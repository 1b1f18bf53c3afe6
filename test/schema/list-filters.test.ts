import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import type { CertificateState, Troubles } from '../../src/engine/face.ts';
import type { Caller } from '../../src/rules/caller.ts';
import type { Client, Host, Tunnel, User } from '../../src/store/generated/sqlite/client.ts';
import { eitherDialect } from '../support/database.ts';
import { sized } from '../support/endurance.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';

const now = Date.UTC(2026, 10, 22, 12);
const DAY = 86_400_000;
const words = ['Office', 'branch', 'OFFICE two', 'x', '', 'Alpha 1'];

/** A record of any kind: what it is filtered, searched and sorted by. */
type Row = Readonly<Record<string, unknown>> & { readonly id: number };
/** As it is sent. */
type Filter = Readonly<Record<string, unknown>>;

/** One list, as it should be. */
interface List {
  /** By the name of the filter's field: the values that are sent for it. */
  readonly values: Readonly<Record<string, readonly unknown[]>>;
  /** By the name of the filter's field: whether a record fulfills it. */
  readonly matches: Readonly<Record<string, (row: Row, wanted: unknown) => boolean>>;
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  readonly sorts: Readonly<Record<string, string | ((row: Row) => unknown)>>;
}

const some = <T>(...values: T[]) => fc.constantFrom<(T | null)[]>(...values, null);
const bool = [true, false];
const moment = [-40, -1, 0, 5, 400].map((days) => new Date(now + days * DAY).toISOString());
const percent = [0, 29, 50, 80, 100, 150];
const same = (column: string) => (row: Row, wanted: unknown) => row[column] === wanted;
const working = ({ enabled, expired }: Row) => enabled === true && expired !== true;
const before = (time: unknown, wanted: unknown) => time instanceof Date && time.toISOString() < String(wanted);
const above = (used: unknown, limit: unknown, wanted: unknown, unit = 1n) =>
  Number(limit) > 0 && BigInt(Number(used)) * 100n > BigInt(Number(wanted)) * unit * BigInt(Number(limit));
const owned = {
  ownerId: (row: Row, wanted: unknown) => row['owner'] === Number(wanted),
  unassigned: (row: Row, wanted: unknown) => (row['owner'] === null) === wanted,
};
const troubled = ({ severity }: Row) => Number(severity) > 0;
const withProblems = (row: Row, wanted: unknown) => wanted !== true || troubled(row);
const ownedBy = { ownerId: ['1', '2', '99'], unassigned: bool };

const lists: Readonly<Record<'clients' | 'tunnels' | 'hosts' | 'users', List>> = {
  clients: {
    values: {
      ...ownedBy,
      connected: bool,
      enabled: bool,
      expired: bool,
      expiresBefore: moment,
      usageAbovePercent: percent,
      otherVersion: bool,
      withProblems: bool,
    },
    matches: {
      ...owned,
      withProblems,
      otherVersion: ({ agentVersion }, wanted) => wanted !== true || (agentVersion !== '' && agentVersion !== '1.2.3'),
      connected: same('connected'),
      enabled: (row, wanted) => working(row) === wanted,
      expired: same('expired'),
      expiresBefore: (row, wanted) => before(row['expiresAt'], wanted) || before(row['ownerExpiresAt'], wanted),
      usageAbovePercent: (row, wanted) =>
        above(Number(row['inletBytes']) + Number(row['exportBytes']), row['flowLimit'], wanted, 1_048_576n)
        || above(row['tunnelCount'], row['maxTunnels'], wanted),
    },
    texts: ['vkey', 'remark'],
    numbers: ['id'],
    sorts: {
      ID: 'id',
      REMARK: 'remark',
      VERIFY_KEY: 'vkey',
      ENABLED: working,
      CONNECTED: 'connected',
      ADDRESS: 'lastAddress',
      LOCAL_ADDRESS: 'localAddress',
      VERSION: 'agentVersion',
      INLET_BYTES: 'inletBytes',
      EXPORT_BYTES: 'exportBytes',
      RATE: 'rate',
      CONNECTIONS: 'connections',
      FLOW_USED: ({ inletBytes, exportBytes }) => Number(inletBytes) + Number(exportBytes),
      EXPIRES_AT: ({ expiresAt, ownerExpiresAt }) =>
        Math.min(...[expiresAt, ownerExpiresAt].map((at) => at instanceof Date ? at.getTime() : Number.POSITIVE_INFINITY)),
      OWNER: 'ownerName',
      PROBLEMS: 'severity',
      LAST_ONLINE_AT: ({ lastOnlineAt }) => lastOnlineAt instanceof Date ? lastOnlineAt.getTime() : -Infinity,
    },
  },
  tunnels: {
    values: {
      ...ownedBy,
      clientId: ['1', '2', '3', '77'],
      mode: ['TCP', 'UDP', 'SECRET', 'FILE'],
      enabled: bool,
      connected: bool,
      running: bool,
      withProblems: bool,
    },
    matches: {
      ...owned,
      clientId: (row, wanted) => row['clientId'] === Number(wanted),
      mode: (row, wanted) => String(row['mode']).toUpperCase() === wanted,
      enabled: same('enabled'),
      connected: same('clientOnline'),
      running: same('running'),
      withProblems,
    },
    texts: ['password', 'remark', 'target'],
    numbers: ['id', 'port'],
    sorts: {
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
      RATE: 'rate',
      CONNECTIONS: 'connections',
      PROBLEMS: troubled,
    },
  },
  hosts: {
    values: {
      ...ownedBy,
      clientId: ['1', '2', '3', '77'],
      scheme: ['ALL', 'HTTP', 'HTTPS'],
      mode: ['CUSTOM', 'PLATFORM'],
      platformDomainId: ['d', 'none'],
      enabled: bool,
      connected: bool,
      serving: bool,
      certificateStatus: ['NONE', 'VALID', 'EXPIRED', 'MISSING'],
      certificateDaysRemainingBelow: [1, 15, 40, 10_000],
      withProblems: bool,
    },
    matches: {
      ...owned,
      clientId: (row, wanted) => row['clientId'] === Number(wanted),
      scheme: (row, wanted) => String(row['scheme']).toUpperCase() === wanted,
      mode: (row, wanted) => (row['platformDomainId'] === null ? 'CUSTOM' : 'PLATFORM') === wanted,
      platformDomainId: same('platformDomainId'),
      enabled: same('enabled'),
      connected: same('clientOnline'),
      serving: (row, wanted) => (row['enabled'] === true && row['clientOnline'] === true) === wanted,
      withProblems,
      certificateStatus: same('certificateStatus'),
      certificateDaysRemainingBelow: (row, wanted) => typeof row['daysRemaining'] === 'number' && row['daysRemaining'] < Number(wanted),
    },
    texts: ['host', 'remark', 'clientKey'],
    numbers: ['id'],
    sorts: {
      ID: 'id',
      CLIENT_ID: 'clientId',
      REMARK: 'remark',
      VERIFY_KEY: 'clientKey',
      HOST: 'host',
      SCHEME: 'scheme',
      TARGET: 'target',
      LOCATION: 'location',
      ENABLED: 'enabled',
      CONNECTED: 'clientOnline',
      RATE: 'rate',
      CONNECTIONS: 'connections',
      CERTIFICATE: 'certificateDay',
      PROBLEMS: troubled,
    },
  },
  users: {
    values: { enabled: bool, expired: bool, expiresBefore: moment, usageAbovePercent: percent },
    matches: {
      enabled: (row, wanted) => working(row) === wanted,
      expired: same('expired'),
      expiresBefore: (row, wanted) => before(row['expiresAt'], wanted),
      usageAbovePercent: (row, wanted) => above(row['clientCount'], row['maxClients'], wanted) || above(row['tunnelCount'], row['maxTunnels'], wanted),
    },
    texts: ['username', 'remark'],
    numbers: ['id'],
    sorts: {
      ID: 'id',
      USERNAME: 'username',
      REMARK: 'remark',
      ENABLED: working,
      MAX_TUNNELS: 'maxTunnels',
      MAX_CLIENTS: 'maxClients',
      CLIENT_COUNT: 'clientCount',
      TUNNEL_COUNT: 'tunnelCount',
      CREATED_AT: 'createdAt',
      EXPIRES_AT: ({ expiresAt }) => expiresAt instanceof Date ? expiresAt.getTime() : -Infinity,
      LAST_LOGIN_AT: ({ lastLoginAt }) => lastLoginAt instanceof Date ? lastLoginAt.getTime() : -Infinity,
      TRAFFIC: 'traffic',
    },
  },
};

const callers: Readonly<Record<string, Caller>> = {
  administrator: { kind: 'admin' },
  user: { kind: 'user', userId: 1 },
  'web login': { kind: 'client', clientId: 3 },
};

eitherDialect('the lists with filter, search, sort, offset and limit', (databases) => {
  let api: TestSchema;
  let rows: Readonly<Record<keyof typeof lists, readonly Row[]>>;

  beforeAll(async () => {
    api = await openTestSchema(databases, {}, () => now);
    await seed(api);
    rows = await read(api);
  });

  test.each(['clients', 'tunnels', 'hosts', 'users'] as const)('%s are those that are expected', async (name) => {
    const list = lists[name];
    const request = fc.record({
      filter: fc.record(Object.fromEntries(Object.entries(list.values).map(([field, values]) => [field, some(...values)])), { requiredKeys: [] }),
      search: some('office', 'KEY', '1', '12', 'h3', 'secret 1', 'none of them'),
      caller: name === 'users' ? fc.constant('administrator') : fc.constantFrom('administrator', 'user', 'web login'),
      sort: fc.option(fc.record({ field: fc.constantFrom(...Object.keys(list.sorts)), direction: fc.constantFrom('ASC', 'DESC') })),
      offset: fc.nat(12),
      limit: fc.constantFrom(0, 3, 20, 200),
    });
    const query = queryOf(name);
    await fc.assert(
      fc.asyncProperty(request, async ({ caller: who, ...variables }) => {
        const caller = callers[who] ?? { kind: 'anonymous' };
        const { data, errors } = await api.run(query, variables, caller);
        const wanted = expected(name, rows[name], variables, caller);
        expect({ data, errors }).toEqual(
          wanted === 'FORBIDDEN' ? { data: null, errors: [expect.objectContaining({ code: 'FORBIDDEN' })] } : { data: { [name]: wanted }, errors: [] },
        );
      }),
      { numRuns: sized(25, 1000, 80) },
    );
  });

  test.each(['clients', 'tunnels', 'hosts', 'users'] as const)('%s come in every order, and a filter leaves out what it should in each', async (name) => {
    const { enumValues } = await api.record(`{ __type(name: "${kind(name)}SortField") { enumValues { name } } }`);
    const fields = Object.keys(lists[name].sorts);
    expect(enumValues).toHaveLength(fields.length);
    const orders = new Set<string>();
    for (const field of fields) {
      for (const filter of [{ enabled: true }, {}]) {
        const variables = { filter, search: null, sort: { field, direction: 'DESC' }, offset: 0, limit: 200 } as const;
        const wanted = expected(name, rows[name], variables, { kind: 'admin' });
        expect([field, await api.ok(queryOf(name), variables)]).toEqual([field, { [name]: wanted }]);
        if (!('enabled' in filter)) orders.add(JSON.stringify(wanted));
      }
    }
    // An order that is another one's by mistake would be noticed.
    expect(orders.size).toBe(fields.length);
  });

  test.each(['clients', 'tunnels', 'hosts', 'users'] as const)('%s are filtered by each condition alone', async (name) => {
    const { values, matches } = lists[name];
    expect(Object.keys(matches).toSorted()).toEqual(Object.keys(values).toSorted());
    for (const [field, each] of Object.entries(values)) {
      for (const value of each) {
        const variables = { filter: { [field]: value }, search: null, sort: null, offset: 0, limit: 200 } as const;
        const wanted = expected(name, rows[name], variables, { kind: 'admin' });
        expect([field, value, await api.ok(queryOf(name), variables)]).toEqual([field, value, { [name]: wanted }]);
      }
    }
  });

  test('running state is stored before a list is sorted or filtered by it, and not before others', async () => {
    let stored = 0;
    Object.assign(api.services, { freshState: async () => void stored++ });
    const names = z.object({ __type: z.object({ enumValues: z.array(z.object({ name: z.string() })) }) });
    const storedFor = async (name: keyof typeof lists, filter: Filter, sort: string) => {
      stored = 0;
      await api.ok(queryOf(name), { filter, sort: { field: sort, direction: 'ASC' }, limit: 1 });
      return stored > 0;
    };
    const storing = async (name: keyof typeof lists, filters: Filter) => {
      const fields = names.parse(await api.ok(`{ __type(name: "${kind(name)}SortField") { enumValues { name } } }`)).__type.enumValues.map((each) => each.name);
      const found: string[] = [];
      for (const field of fields) if (await storedFor(name, {}, field)) found.push(field);
      for (const [field, value] of Object.entries(filters)) {
        if (await storedFor(name, { [field]: value }, 'ID')) found.push(field);
        expect(await storedFor(name, { [field]: null }, 'ID')).toBe(false);
      }
      return found.toSorted();
    };
    const counts = ['CONNECTED', 'CONNECTIONS', 'PROBLEMS', 'RATE'];
    expect(await storing('clients', { connected: false, enabled: true, usageAbovePercent: 50, withProblems: true })).toEqual([
      'ADDRESS',
      ...counts.slice(0, 2),
      'EXPORT_BYTES',
      'FLOW_USED',
      'INLET_BYTES',
      'LAST_ONLINE_AT',
      'LOCAL_ADDRESS',
      ...counts.slice(2),
      'VERSION',
      'connected',
      'usageAbovePercent',
      'withProblems',
    ]);
    expect(await storing('tunnels', { connected: false, enabled: true, running: false, withProblems: true })).toEqual([
      ...counts,
      'RUNNING',
      'connected',
      'running',
      'withProblems',
    ]);
    expect(await storing('hosts', { connected: false, enabled: true, serving: false, withProblems: true })).toEqual([
      ...counts,
      'connected',
      'serving',
      'withProblems',
    ]);
    expect(await storing('users', { enabled: true, usageAbovePercent: 50 })).toEqual(['TRAFFIC']);
  });

  test('nothing is left out by a filter without conditions, and an unknown field is no filter', async () => {
    for (const name of ['clients', 'tunnels', 'hosts', 'users'] as const) {
      expect(await api.record(`{ ${name}(filter: {}) { total } }`)).toEqual({ total: rows[name].length });
      expect((await api.run(`{ ${name}(filter: { password: "x" }) { total } }`)).errors).toHaveLength(1);
    }
  });

  test('what makes no sense is refused by its field', async () => {
    const refused = async (operation: string, caller?: Caller) =>
      (await api.run(operation, {}, caller)).errors.map(({ code, extensions }) => [code, extensions['field']]);
    for (const name of ['clients', 'users']) {
      expect(await refused(`{ ${name}(filter: { usageAbovePercent: -1 }) { total } }`)).toEqual([['INVALID_INPUT', 'filter.usageAbovePercent']]);
    }
    for (const name of ['hosts { total', 'platformDomains { id']) {
      const [field = '', below = ''] = name.split(' { ');
      expect(await refused(`{ ${field}(filter: { certificateDaysRemainingBelow: 0 }) { ${below} } }`)).toEqual([[
        'INVALID_INPUT',
        'filter.certificateDaysRemainingBelow',
      ]]);
    }
    expect(await refused('{ hosts(filter: { platformDomainId: "\\u0000" }) { total } }')).toEqual([['INVALID_INPUT', 'filter.platformDomainId']]);
    expect(await refused('{ auditEntries(filter: { resourceId: "\\u0000" }) { total } }')).toEqual([['INVALID_INPUT', 'filter.resourceId']]);
    // How certificates of platform domains stand is for administrators.
    expect(await refused('{ platformDomains(filter: { certificateDaysRemainingBelow: 9 }) { id } }', { kind: 'user', userId: 1 })).toEqual([[
      'FORBIDDEN',
      undefined,
    ]]);
    expect(await api.ok('{ platformDomains(filter: { certificateDaysRemainingBelow: 9 }) { id } }')).toEqual({ platformDomains: [] });
  });
});

function queryOf(name: keyof typeof lists): string {
  const [filter, sort] = [`${kind(name)}Filter`, `${kind(name)}Sort`];
  return `query ($filter: ${filter}, $search: String, $sort: ${sort}, $offset: Int, $limit: Int) {
    ${name}(filter: $filter, search: $search, sort: $sort, offset: $offset, limit: $limit) { total rows { id } }
  }`;
}

function kind(name: keyof typeof lists): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1, -1)}`;
}

interface Variables {
  readonly filter: Filter;
  readonly search: string | null;
  readonly sort: { readonly field: string; readonly direction: string } | null;
  readonly offset: number;
  readonly limit: number;
}

/** The list, computed from all records. */
function expected(name: keyof typeof lists, all: readonly Row[], { filter, search, sort, offset, limit }: Variables, caller: Caller): unknown {
  const { matches, texts, numbers, sorts } = lists[name];
  const clientOf = (row: Row) => name === 'clients' ? row.id : row['clientId'];
  const theirs = (row: Row) =>
    caller.kind === 'admin' || (caller.kind === 'user' ? row['owner'] === caller.userId : caller.kind === 'client' && clientOf(row) === caller.clientId);
  const { clientId, ownerId, unassigned } = filter;
  if (caller.kind !== 'admin' && (typeof ownerId === 'string' || typeof unassigned === 'boolean')) return 'FORBIDDEN';
  if (caller.kind !== 'admin' && typeof clientId === 'string' && !all.some((row) => theirs(row) && row['clientId'] === Number(clientId))) return 'FORBIDDEN';
  const conditions = Object.entries(filter).filter(([, value]) => value !== null);
  const found = all.filter((row) =>
    theirs(row) && conditions.every(([field, value]) => matches[field]?.(row, value) === true)
    && (search === null || texts.some((column) => String(row[column]).toLowerCase().includes(search.toLowerCase()))
      || numbers.some((column) => String(row[column]) === search))
  );
  const by = sorts[sort?.field ?? 'ID'] ?? 'id';
  const key = (row: Row) => {
    const value = typeof by === 'string' ? row[by] : by(row);
    return typeof value === 'string' ? value.toLowerCase() : Number(value);
  };
  // The ids of hosts with equal values are in the opposite direction here.
  const idsBack = name === 'hosts' && sort?.field === 'ENABLED' ? -1 : 1;
  const ascending = found.toSorted((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : (a.id - b.id) * idsBack);
  const sorted = sort?.direction === 'DESC' ? ascending.toReversed() : ascending;
  return { total: found.length, rows: sorted.slice(offset, offset + limit).map(({ id }) => ({ id })) };
}

/** Two users with clients, some of nobody, and everything that is filtered by in many ways. */
async function seed({ services: { store }, engine }: TestSchema): Promise<void> {
  const at = (n: number) => n % 3 === 0 ? null : new Date(now + (n * 37 % 90 - 45) * DAY);
  await seedUsers(store, 40, (n) => ({
    username: `Key ${n * 7 % 41}`,
    remark: words[n % 6] ?? '',
    enabled: n % 3 > 0,
    expired: n % 7 === 0,
    maxClients: [0, 2, 5, 100][n % 4] ?? 0,
    maxTunnels: [0, 100, 10][n % 3] ?? 0,
    clientCount: n > 2 ? n % 30 : 0,
    tunnelCount: n > 2 ? n % 11 : 0,
    expiresAt: at(n),
    lastLoginAt: at(n + 1),
    createdAt: new Date(now - n * 17 % 43 * DAY),
  }));
  const clients = await seedClients(store, 60, (n) => ({
    vkey: `key-${n * 13 % 61}`,
    remark: words[n % 6] ?? '',
    userId: [null, 1, 2, 3][n % 4] ?? null,
    connected: n % 3 === 0,
    enabled: n % 4 > 0,
    expired: n % 5 === 0,
    lastAddress: `10.0.0.${n % 9}`,
    localAddress: `192.168.0.${n % 8}`,
    agentVersion: ['', '1.2.3', '1.2.2'][n % 3] ?? '',
    expiresAt: at(n),
    rate: n % 4,
    connections: n % 6,
    lastOnlineAt: at(n + 2),
    flowLimit: [0, 10, 1000][n % 3] ?? 0,
    inletBytes: n * 11 % 61 * 500_000,
    exportBytes: n % 2 * 5_242_880,
    maxTunnels: [0, 3, 5][n % 3] ?? 0,
  }));
  const clientOf = (n: number) => clients[n * n % 17] ?? 0;
  await seedTunnels(store, 1, 80, (n) => ({
    clientId: clientOf(n),
    mode: ['tcp', 'udp', 'secret'][n % 3] ?? 'tcp',
    remark: words[n % 6] ?? '',
    port: n % 3 === 2 ? 0 : n,
    target: `Host-${n % 9}:1`,
    enabled: n % 4 > 0,
    running: n % 5 > 0,
    rate: n % 4,
    connections: n % 7,
    password: n % 3 === 2 ? `secret ${n}` : '',
  }));
  await store.db.platformDomain.create({ data: { id: 'd', wildcard: '*.p.example.com' } });
  const hosts = await seedHosts(store, 1, 80, (n) => ({
    clientId: clientOf(n),
    host: `h${n * 7 % 81}.example.com`,
    remark: words[n % 6] ?? '',
    scheme: ['all', 'http', 'https'][n % 3] ?? 'all',
    enabled: n % 4 > 0,
    rate: n % 4,
    connections: n % 7,
    target: `T${n % 5}`,
    location: `/${n % 9}`,
    platformDomainId: n % 5 === 0 ? 'd' : null,
    platformPrefix: n % 5 === 0 ? `p${n}` : null,
  }));
  engine.troublesFound = {
    certificates: [{ id: hosts[1] ?? 0, clientId: clientOf(2), status: 'expired' }, { id: hosts[4] ?? 0, clientId: clientOf(5), status: 'expiring' }],
    unhealthyTunnels: [{ id: 3, clientId: clientOf(3) }],
    unhealthyHosts: [{ id: hosts[6] ?? 0, clientId: clientOf(7) }],
  };
  for (const id of hosts) {
    if (id % 3 === 0) continue;
    const state: CertificateState = {
      inUse: id % 7 === 0
        ? null
        : { names: [], issuer: '', validFrom: new Date(0), validTo: new Date(now + (id * 11 % 60 - 10) * DAY + id % 5), fingerprint: '' },
      status: id % 7 === 0 ? 'missing' : id * 11 % 60 < 10 ? 'expired' : 'valid',
      problem: '',
      acme: null,
    };
    engine.certificates.set(id, state);
  }
}

const stated = z.object({
  hosts: z.object({ rows: z.array(z.object({ id: z.number(), certificate: z.object({ status: z.string(), daysRemaining: z.number().nullable() }) })) }),
});

/** All records, with what of others they are filtered by. */
async function read(api: TestSchema): Promise<Readonly<Record<keyof typeof lists, readonly Row[]>>> {
  const { db } = api.services.store;
  const users: User[] = await db.user.findMany();
  const clients: Client[] = await db.client.findMany();
  const { troublesFound: troubles } = api.engine;
  const [tunnels, hosts]: [Tunnel[], Host[]] = await Promise.all([db.tunnel.findMany(), db.host.findMany()]);
  const ownerOf = (clientId: number) => clients.find(({ id }) => id === clientId)?.userId ?? null;
  const certificates = new Map(
    stated.parse(await api.ok('{ hosts(limit: 200) { rows { id certificate { status daysRemaining } } } }')).hosts.rows.map((
      { id, certificate },
    ) => [id, certificate]),
  );
  return {
    users: users.map((row) => ({
      ...row,
      traffic: clients.filter(({ userId }) => userId === row.id).reduce((sum, { inletBytes, exportBytes }) => sum + Number(inletBytes + exportBytes), 0),
    })),
    clients: clients.map((row) => {
      const owner = users.find(({ id }) => id === row.userId);
      return {
        ...row,
        owner: row.userId,
        ownerExpiresAt: owner?.expiresAt ?? null,
        ownerName: owner?.username ?? '',
        severity: severityOf({ ...row, enabled: row.enabled && owner?.enabled !== false }, tunnels, troubles), // a disabled owner's clients are refused, too
      };
    }),
    tunnels: tunnels.map((row) => ({ ...row, owner: ownerOf(row.clientId), severity: Number(isClosed(row) || has(troubles.unhealthyTunnels, row)) })),
    hosts: hosts.map((row) => ({
      ...row,
      owner: ownerOf(row.clientId),
      daysRemaining: certificates.get(row.id)?.daysRemaining ?? null,
      certificateStatus: certificates.get(row.id)?.status,
      certificateDay: Math.floor((api.engine.certificates.get(row.id)?.inUse?.validTo.getTime() ?? Number.POSITIVE_INFINITY) / DAY),
      severity: Number(has([...troubles.certificates, ...troubles.unhealthyHosts], row)),
    })),
  };
}

const has = (troubled: ReadonlyArray<{ readonly id: number }>, { id }: { readonly id: number }) => troubled.some((other) => other.id === id);
const isClosed = ({ enabled, clientOnline, running }: Tunnel) => enabled && clientOnline && !running;

/** 2 = visitors of the client are refused, 1 = they will be, 0 = nothing is wrong. */
function severityOf(row: Client, tunnels: readonly Tunnel[], { certificates, unhealthyTunnels, unhealthyHosts }: Troubles): number {
  const { id, enabled, expired, connected, lastOnlineAt, expiresAt, flowLimit, maxTunnels, tunnelCount } = row;
  const expiry = enabled && expiresAt !== null ? expiresAt.getTime() : undefined;
  const used = flowLimit === 0 ? 0 : Number(row.inletBytes + row.exportBytes) / (flowLimit * 1_048_576);
  const refused = [...unhealthyTunnels, ...unhealthyHosts, ...certificates.filter(({ status }) => status === 'expired')];
  const isBroken = (enabled && !expired && !connected && lastOnlineAt !== null && tunnelCount > 0)
    || (expired && expiry !== undefined && expiry > now - 7 * DAY)
    || used > 1
    || tunnels.some((tunnel) => tunnel.clientId === id && isClosed(tunnel))
    || refused.some(({ clientId }) => clientId === id);
  if (isBroken) return 2;
  const isSoon = used > 0.8
    || (!expired && expiry !== undefined && expiry < now + 7 * DAY)
    || (maxTunnels > 0 && tunnelCount >= maxTunnels)
    || certificates.some(({ clientId }) => clientId === id);
  return isSoon ? 1 : 0;
}
