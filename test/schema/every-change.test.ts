import { describe, expect, test } from '@jest/globals';
import { auditEntry, hidden, hiddenNew } from '../../src/schema/audit/rules.ts';
import type { Change, ClientWithOwner, GlobalState } from '../../src/schema/writes/changes.ts';
import { applyToEngine, wantedState } from '../../src/schema/writes/engine-changes.ts';
import { followedOf } from '../../src/schema/writes/followed-changes.ts';
import { countersIn, loadLogged, loggedOf, loggedOfImport, parseLogged } from '../../src/schema/writes/logged-changes.ts';
import type { Host, Tunnel, User } from '../../src/store/generated/sqlite/client.ts';
import { allOf } from '../support/all-of.ts';
import { testDatabases } from '../support/database.ts';
import { FakeEngine } from '../support/engine.ts';

/*
 * Each kind of change, of records with a value of its own in each column: what the audit log, the log of changes and the engine get of it.
 */

const day = (n: number) => new Date(Date.UTC(2100, 0, n));
const at = day(31);
const by = { caller: { kind: 'admin' }, at } as const;

const user: User = {
  id: 11,
  username: 'alice',
  passwordHash: 'hash of alice',
  enabled: true,
  remark: 'note of alice',
  maxClients: 12,
  maxTunnels: 13,
  expiresAt: day(2),
  expired: true,
  createdAt: day(3),
  lastLoginAt: day(4),
  clientCount: 14,
  tunnelCount: 15,
  hostCount: 16,
};
const client: ClientWithOwner = {
  id: 21,
  vkey: 'key',
  remark: 'note of a client',
  enabled: true,
  disabledByAdmin: false,
  basicUser: 'bob',
  basicPassword: 'password of bob',
  compress: true,
  crypt: false,
  configAllowed: true,
  rateLimit: 22,
  flowLimit: 23,
  maxConnections: 24,
  maxTunnels: 25,
  webUsername: 'web',
  webPasswordHash: 'hash of web',
  blackIpList: '192.0.2.1\n192.0.2.2',
  ipWhite: false,
  ipWhitePassword: 'password of the list',
  ipWhiteList: '192.0.2.3\n192.0.2.4',
  expiresAt: day(5),
  expired: true,
  createdAt: day(6),
  lastOnlineAt: day(7),
  lastAddress: '192.0.2.5',
  localAddress: '192.0.2.6',
  agentVersion: '1.2.3',
  inletBytes: 26n,
  exportBytes: 27n,
  connected: true,
  rate: 28n,
  connections: 29,
  node: 'n1',
  tunnelCount: 30,
  hostCount: 31,
  userId: user.id,
  user,
};
const tunnel: Tunnel = {
  id: 41,
  clientId: client.id,
  mode: 'socks5',
  remark: 'note of a tunnel',
  port: 42,
  serverIp: '192.0.2.7',
  target: 'a:1\nb:2',
  localProxy: true,
  password: 'password of the tunnel',
  localPath: '/srv',
  stripPrefix: '/strip',
  proxyProtocol: 'V1',
  accounts: '[["carol","password of carol"]]',
  enabled: true,
  createdAt: day(8),
  inletBytes: 43n,
  exportBytes: 44n,
  noStore: false,
  running: true,
  rate: 45n,
  connections: 46,
  ownerId: user.id,
  clientKey: client.vkey,
  clientOnline: true,
};
const host: Host = {
  id: 61,
  clientId: client.id,
  host: 'a.example.com',
  location: '/a',
  scheme: 'https',
  remark: 'note of a host',
  target: 'c:3\nd:4',
  localProxy: false,
  headerChange: 'A: b\nC: d',
  hostChange: 'b.example.com',
  keyFilePath: '/a/key',
  certFilePath: '/a/certificate',
  autoHttps: true,
  acme: false,
  namedByAdmin: true,
  enabled: true,
  createdAt: day(9),
  inletBytes: 62n,
  exportBytes: 63n,
  platformDomainId: 'p',
  platformPrefix: 'x',
  noStore: false,
  rate: 64n,
  connections: 65,
  ownerId: user.id,
  clientKey: client.vkey,
  clientOnline: true,
};
const domain = { id: 'p', wildcard: '*.example.com', certFilePath: '/p/certificate', keyFilePath: '/p/key' };
const settings: GlobalState = { id: 1, blackIpList: '192.0.2.8\n192.0.2.9', serverUrl: 'https://panel.example.com:8443', platformDomains: [domain] };

/** The records in the form of the audit log. */
const shown = {
  user: {
    id: 11,
    username: 'alice',
    password: hidden,
    enabled: true,
    remark: 'note of alice',
    maxClients: 12,
    maxTunnels: 13,
    expiresAt: '2100-01-02T00:00:00.000Z',
    expired: true,
  },
  client: {
    id: 21,
    verifyKey: hidden,
    remark: 'note of a client',
    enabled: true,
    disabledByAdmin: false,
    basicUser: 'bob',
    basicPassword: hidden,
    compress: true,
    encrypt: false,
    configAllowed: true,
    rateLimit: 22,
    flowLimit: 23,
    maxConnections: 24,
    maxTunnels: 25,
    webUsername: 'web',
    webPassword: hidden,
    blocklist: '192.0.2.1\n192.0.2.2',
    allowlistEnabled: false,
    allowlistPassword: hidden,
    allowlist: '192.0.2.3\n192.0.2.4',
    expiresAt: '2100-01-05T00:00:00.000Z',
    expired: true,
    ownerId: 11,
  },
  tunnel: {
    id: 41,
    clientId: 21,
    mode: 'socks5',
    remark: 'note of a tunnel',
    port: 42,
    serverIp: '192.0.2.7',
    targets: 'a:1\nb:2',
    localProxy: true,
    password: hidden,
    localPath: '/srv',
    stripPrefix: '/strip',
    proxyProtocol: 'V1',
    accounts: hidden,
    enabled: true,
    noStore: false,
  },
  host: {
    id: 61,
    clientId: 21,
    host: 'a.example.com',
    location: '/a',
    scheme: 'https',
    remark: 'note of a host',
    targets: 'c:3\nd:4',
    localProxy: false,
    headers: hidden,
    hostChange: 'b.example.com',
    privateKey: hidden,
    certificate: hidden,
    autoHttps: true,
    acme: false,
    namedByAdmin: true,
    enabled: true,
    platformDomainId: 'p',
    platformPrefix: 'x',
    noStore: false,
  },
  globalSettings: {
    blocklist: '192.0.2.8\n192.0.2.9',
    serverUrl: 'https://panel.example.com:8443',
    platformDomains: [{ id: 'p', wildcard: '*.example.com', certificatePath: hidden, privateKeyPath: hidden }],
  },
} as const;
const [update, create] = [{ ...by, action: 'update' }, { ...by, action: 'create' }] as const;
const scope = { id: client.id, userId: user.id };

const count = (index: number) => ({ added: index, changed: index + 10, unchanged: index + 20 });
const counts = { user: count(1), client: count(2), tunnel: count(3), host: count(4), platformDomain: count(5), globalSettings: count(6) };
/** A change, the id and the record after it in the audit log, and what it is in the log of changes. */
const others = { resource: 'access' };
const changes: ReadonlyArray<{ readonly change: Change; readonly id: string; readonly shown: unknown; readonly logged: unknown }> = [
  { change: { ...create, resource: 'client', after: client }, id: '21', shown: shown.client, logged: { resource: 'client', id: 21 } },
  { change: { ...create, resource: 'tunnel', after: tunnel }, id: '41', shown: shown.tunnel, logged: { resource: 'tunnel', id: 41 } },
  { change: { ...create, resource: 'host', after: host }, id: '61', shown: shown.host, logged: { resource: 'host', id: 61 } },
  { change: { ...create, resource: 'user', after: user, clients: [] }, id: '11', shown: shown.user, logged: { resource: 'user', id: 11 } },
  { change: { ...create, resource: 'globalSettings', after: settings }, id: '1', shown: shown.globalSettings, logged: { resource: 'globalSettings' } },
  {
    change: {
      ...create,
      resource: 'apiToken',
      after: {
        id: 71,
        userId: 11,
        name: 'backup',
        hash: 'hash of the token',
        readOnly: true,
        secrets: false,
        wall: true,
        legacy: false,
        expiresAt: day(10),
        createdAt: day(11),
        lastUsedAt: day(12),
      },
    },
    id: '71',
    shown: { id: 71, userId: 11, name: 'backup', hash: hidden, readOnly: true, secrets: false, wall: true, legacy: false, expiresAt: day(10).toISOString() },
    logged: others,
  },
  {
    change: {
      ...create,
      resource: 'enrolment',
      after: {
        id: 72,
        clientId: 21,
        hash: 'hash of the code',
        expiresAt: day(13),
        createdAt: day(14),
        usedAt: day(15),
        usedFrom: '192.0.2.10',
        machine: 'secret',
      },
    },
    id: '72',
    shown: { id: 72, clientId: 21, hash: hidden, expiresAt: day(13).toISOString(), usedAt: day(15).toISOString(), usedFrom: '192.0.2.10', machine: hidden },
    logged: others,
  },
  {
    change: { ...create, resource: 'session', after: { id: '0123456789abcdef', kind: 'client', userId: 11, clientId: 21 } },
    id: '0123456789ab',
    shown: { kind: 'client', userId: 11, clientId: 21 },
    logged: others,
  },
  {
    change: { ...update, resource: 'node', before: { name: 'n1', draining: false }, after: { name: 'n2', draining: true } },
    id: 'n2',
    shown: { name: 'n2', draining: true },
    logged: { resource: 'node' },
  },
  {
    change: { ...create, resource: 'acmeOrder', after: { id: 61, host: 'a.example.com' } },
    id: '61',
    shown: { id: 61, host: 'a.example.com' },
    logged: others,
  },
  {
    change: { ...update, resource: 'installationKey', before: { id: 'installation', changing: false }, after: { id: 'installation', changing: true } },
    id: 'installation',
    shown: { changing: true },
    logged: others,
  },
  {
    change: { ...create, resource: 'lockout', after: { credential: 'login', kind: 'address', source: '192.0.2.11', until: day(16) } },
    id: '192.0.2.11',
    shown: { credential: 'login', kind: 'address', source: '192.0.2.11', until: day(16).toISOString() },
    logged: others,
  },
  {
    change: { ...create, resource: 'failedAttempt', after: { credential: 'password', name: 'eve\0' } },
    id: 'eve\uFFFD',
    shown: { credential: 'password', name: 'eve\0' },
    logged: others,
  },
  {
    change: {
      ...create,
      resource: 'import',
      after: { id: 'now', counts, counted: 1, skipped: 2, leftOut: 3 },
      rows: {
        clients: [21],
        tunnels: [41],
        hosts: [61],
        counted: [{ resource: 'tunnel', id: 41, inletBytes: 5, exportBytes: 6 }, { resource: 'host', id: 61, inletBytes: 7, exportBytes: 8 }],
        globalSettings: true,
      },
    },
    id: 'now',
    shown: { id: 'now', counts, counted: 1, skipped: 2, leftOut: 3 },
    logged: { resource: 'import', counted: [['tunnel', 41, 5, 6], ['host', 61, 7, 8]] },
  },
];

const parsed = (json: string | null): unknown => json === null ? null : JSON.parse(json);

test.each(changes)('the audit log and the log of changes have each field of the change $change.resource $id', ({ change, id, shown, logged }) => {
  const { resource, action } = change;
  const { after, ...entry } = auditEntry(change);
  expect(entry).toMatchObject({ at, callerKind: 'admin', callerId: null, method: '', tokenName: '', address: '', resource, resourceId: id, action });
  expect(parsed(after)).toEqual(shown);
  expect(loggedOf(change)).toEqual(logged);
  expect(parseLogged(JSON.stringify([loggedOf(change)]))).toEqual([logged]);
});

test('the audit log names the caller of each kind', () => {
  const credentials = { by: 'token', tokenName: 'backup', address: '192.0.2.12', tokenId: 5, sessionId: 's' } as const;
  const callers: ReadonlyArray<readonly [Change['caller'], object]> = [
    [{ kind: 'user', userId: 3, ...credentials }, { callerKind: 'user', callerId: 3, method: 'token', tokenName: 'backup', address: '192.0.2.12' }],
    [{ kind: 'client', clientId: 4, by: 'vkey' }, { callerKind: 'client', callerId: 4, method: 'vkey', tokenName: '', address: '' }],
    [{ kind: 'server', address: '192.0.2.13' }, { callerKind: 'server', callerId: null, method: '', tokenName: '', address: '192.0.2.13' }],
  ];
  for (const [caller, expected] of callers) {
    expect(auditEntry({ at, caller, action: 'create', resource: 'client', after: client })).toMatchObject({ at, before: null, ...expected });
  }
});

test('the audit log has what was before: each secret that changed, counters that were reset, what was deleted; long values are cut', () => {
  const long = '192.0.2.1\n'.repeat(1639);
  const reset = { inletBytes: 6, exportBytes: 7 };
  const domains = [{ ...domain, id: 'o' }, { ...domain, keyFilePath: '/p/another' }];
  const entries: ReadonlyArray<readonly [Change, object | null, object | null]> = [
    [
      { ...update, resource: 'client', before: { ...client, vkey: 'before', webPasswordHash: '' }, after: { ...client, basicPassword: '', blackIpList: long } },
      { ...shown.client, webPassword: '' },
      {
        ...shown.client,
        verifyKey: hiddenNew,
        webPassword: hiddenNew,
        basicPassword: '',
        blocklist: `${long.slice(0, 16_384)}... (16390 characters)`,
      },
    ],
    [
      { ...update, resource: 'client', before: client, after: client, reset },
      { ...shown.client, ...reset },
      { ...shown.client, inletBytes: 0, exportBytes: 0 },
    ],
    [
      { ...update, resource: 'tunnel', before: tunnel, after: { ...tunnel, password: 'x' }, reset },
      { ...shown.tunnel, ...reset },
      { ...shown.tunnel, password: hiddenNew, inletBytes: 0, exportBytes: 0 },
    ],
    [
      { ...update, resource: 'host', before: host, after: { ...host, keyFilePath: 'x' }, reset },
      { ...shown.host, ...reset },
      { ...shown.host, privateKey: hiddenNew, inletBytes: 0, exportBytes: 0 },
    ],
    [{ ...by, action: 'delete', resource: 'user', before: user, clients: [] }, shown.user, null],
    [
      { ...update, resource: 'globalSettings', before: settings, after: { ...settings, platformDomains: domains } },
      shown.globalSettings,
      {
        ...shown.globalSettings,
        platformDomains: [
          { ...shown.globalSettings.platformDomains[0], id: 'o' },
          { ...shown.globalSettings.platformDomains[0], privateKeyPath: hiddenNew },
        ],
      },
    ],
    [
      {
        ...by,
        action: 'delete',
        resource: 'connection',
        before: {
          id: 81,
          clientId: 21,
          through: { kind: 'host', id: 61 },
          address: '192.0.2.14',
          port: 82,
          since: 83,
          inletBytes: 84,
          exportBytes: 85,
          rate: 86,
        },
      },
      { id: 81, clientId: 21, through: { kind: 'host', id: 61 }, address: '192.0.2.14', port: 82, since: 83, inletBytes: 84, exportBytes: 85, rate: 86 },
      null,
    ],
    [
      { ...by, action: 'delete', resource: 'lockout', before: { credential: 'vkey', kind: 'name', source: 's', until: day(1) } },
      { credential: 'vkey', kind: 'name', source: 's', until: day(1).toISOString() },
      null,
    ],
  ];
  for (const [change, before, after] of entries) {
    const entry = auditEntry(change);
    expect([parsed(entry.before), parsed(entry.after)]).toEqual([before, after]);
  }
  expect(auditEntry({ ...update, resource: 'client', before: client, after: { ...client, remark: 'r'.repeat(16_384) } }).after).not.toContain('characters');
});

test('the log of changes has what was before, resets, and the clients of a deleted user', () => {
  const reset = { inletBytes: 6, exportBytes: 7 };
  const logged = (change: Change) => parseLogged(JSON.stringify([loggedOf(change)]))[0];
  expect(logged({ ...update, resource: 'client', before: client, after: { ...client, userId: 12 }, reset })).toEqual({
    resource: 'client',
    id: 21,
    was: scope,
    reset,
  });
  expect(logged({ ...update, resource: 'tunnel', before: tunnel, after: { ...tunnel, clientId: 22, ownerId: 12 }, reset }))
    .toEqual({ resource: 'tunnel', id: 41, was: scope, reset });
  expect(logged({ ...by, action: 'delete', resource: 'host', before: host })).toEqual({ resource: 'host', id: 61, was: scope });
  expect(logged({ ...by, action: 'delete', resource: 'user', before: user, clients: [client, { ...client, id: 22 }] })).toEqual({
    resource: 'user',
    id: 11,
    ids: [21, 22],
  });
  expect(parseLogged('[{"resource":"from a later version","id":1},{"resource":"acme","name":"a.example.com"}]')).toEqual([others, {
    resource: 'acme',
    name: 'a.example.com',
  }]);
});

test('an import is published settings first, then clients before their tunnels and hosts, then bytes, which no row has', () => {
  const counted = [{ resource: 'host', id: 9, inletBytes: 5, exportBytes: 6 }, { resource: 'client', id: 8, inletBytes: 3, exportBytes: 4 }] as const;
  const bytes = [
    { resource: 'host', id: 9, reset: { inletBytes: -5, exportBytes: -6 } },
    { resource: 'client', id: 8, reset: { inletBytes: -3, exportBytes: -4 } },
  ];
  const rows = { clients: [1, 2], tunnels: [3, 4], hosts: [5, 6], counted, globalSettings: true };
  expect([...loggedOfImport(rows)]).toEqual([
    { resource: 'globalSettings' },
    ...[1, 2].map((id) => ({ resource: 'client', id })),
    ...[3, 4].map((id) => ({ resource: 'tunnel', id })),
    ...[5, 6].map((id) => ({ resource: 'host', id })),
    ...bytes,
    others,
  ]);
  expect([...loggedOfImport({ ...rows, globalSettings: false })].some(({ resource }) => resource === 'globalSettings')).toBe(false);
  const reset = { resource: 'tunnel', id: 7, reset: { inletBytes: 1, exportBytes: 2 } } as const;
  const inLog = parseLogged(JSON.stringify([{ resource: 'client', id: 1 }, reset, { resource: 'import', counted: [['host', 9, 5, 6], ['client', 8, 3, 4]] }]));
  expect(countersIn(inLog)).toEqual([reset, ...bytes]);
  expect(countersIn(parseLogged('[{"resource":"import"},{"resource":"node"}]'))).toEqual([]);
});

/** The records in the form of the engine. */
const wanted = {
  client: {
    id: 21,
    vkey: 'key',
    enabled: true,
    expiresAt: day(2).getTime(),
    basicUser: 'bob',
    basicPassword: 'password of bob',
    crypt: false,
    compress: true,
    configAllowed: true,
    rateLimit: 22_528,
    flowLimit: 24_117_248,
    maxConnections: 24,
    blackIpList: '192.0.2.1\n192.0.2.2',
    ipWhite: false,
    ipWhiteList: '192.0.2.3\n192.0.2.4',
    ipWhitePassword: 'password of the list',
  },
  tunnel: {
    id: 41,
    clientId: 21,
    mode: 'socks5',
    enabled: true,
    port: 42,
    serverIp: '192.0.2.7',
    targets: ['a:1', 'b:2'],
    localProxy: true,
    password: 'password of the tunnel',
    localPath: '/srv',
    stripPrefix: '/strip',
    proxyProtocol: 'V1',
    accounts: [{ user: 'carol', password: 'password of carol' }],
  },
  host: {
    id: 61,
    clientId: 21,
    host: 'a.example.com',
    location: '/a',
    scheme: 'https',
    enabled: true,
    targets: ['c:3', 'd:4'],
    localProxy: false,
    headers: ['A: b', 'C: d'],
    hostChange: 'b.example.com',
    certificate: '/a/certificate',
    privateKey: '/a/key',
    autoHttps: true,
    acme: false,
    namedByAdmin: true,
  },
};

/** What the engine gets of changes, one after the other. */
async function engineOf(...made: readonly Change[]): Promise<unknown[]> {
  const engine = new FakeEngine();
  const apply = applyToEngine(engine);
  for (const change of made) {
    const followed = followedOf(change);
    if (followed) await apply(followed);
  }
  await apply({ resource: 'acme', name: 'a.example.com' });
  return engine.applied;
}

test('the engine gets each field of a record, its removal, and its reset', async () => {
  const flipped = { crypt: true, compress: false, configAllowed: false, ipWhite: true };
  const lease = { id: 5, port: 42 };
  const reset = { inletBytes: 6, exportBytes: 7 };
  expect(
    await engineOf(
      ...changes.map(({ change }) => change),
      { ...update, resource: 'client', before: client, after: { ...client, ...flipped, expiresAt: null, user: null } },
      { ...update, resource: 'user', before: user, after: user, clients: [{ ...client, user: { ...user, enabled: false, expiresAt: day(9) } }] },
      { ...update, resource: 'client', before: client, after: { ...client, enabled: false } },
      { ...update, resource: 'tunnel', before: tunnel, after: { ...tunnel, enabled: false, localProxy: false }, lease },
      { ...update, resource: 'host', before: host, after: { ...host, enabled: false, localProxy: true, autoHttps: false, acme: true, namedByAdmin: false } },
      { ...update, resource: 'client', before: client, after: client, reset },
      { ...update, resource: 'tunnel', before: tunnel, after: tunnel, reset },
      { ...update, resource: 'host', before: host, after: host, reset },
      { ...by, action: 'delete', resource: 'host', before: host },
      { ...by, action: 'delete', resource: 'tunnel', before: tunnel },
      { ...by, action: 'delete', resource: 'client', before: client },
    ),
  ).toEqual([
    { kind: 'client', client: wanted.client },
    { kind: 'tunnel', tunnel: wanted.tunnel },
    { kind: 'host', host: wanted.host },
    { kind: 'blackIpList', list: ['192.0.2.8', '192.0.2.9'] },
    { kind: 'serverName', name: 'panel.example.com' },
    { kind: 'client', client: { ...wanted.client, ...flipped, expiresAt: null } },
    { kind: 'client', client: { ...wanted.client, enabled: false, expiresAt: day(5).getTime() } },
    { kind: 'client', client: { ...wanted.client, enabled: false } },
    { kind: 'tunnel', tunnel: { ...wanted.tunnel, enabled: false, localProxy: false }, lease },
    { kind: 'host', host: { ...wanted.host, enabled: false, localProxy: true, autoHttps: false, acme: true, namedByAdmin: false } },
    { kind: 'trafficReset', of: 'client', id: 21, ...reset },
    { kind: 'trafficReset', of: 'tunnel', id: 41, ...reset },
    { kind: 'trafficReset', of: 'host', id: 61, ...reset },
    { kind: 'hostRemoved', id: 61 },
    { kind: 'tunnelRemoved', id: 41 },
    { kind: 'clientRemoved', id: 21 },
    { kind: 'acme', name: 'a.example.com' },
  ]);
});

test('at its start, the engine gets the same of each record, its bytes, and the settings', async () => {
  const pages = async function*<Row extends { readonly inletBytes: bigint; readonly exportBytes: bigint }>(row: Row) {
    yield [{ ...row, inletBytes: Number(row.inletBytes), exportBytes: Number(row.exportBytes) }];
  };
  const state = wantedState({
    clients: pages({ ...client, ownerEnabled: false, ownerExpiresAt: day(1) }),
    tunnels: pages(tunnel),
    hosts: pages(host),
    blackIpList: settings.blackIpList,
    serverUrl: settings.serverUrl,
  });
  expect((await allOf(state.clients)).flat()).toEqual([{
    wanted: { ...wanted.client, enabled: false, expiresAt: day(1).getTime() },
    stored: { inletBytes: 26, exportBytes: 27 },
    lastAddress: '192.0.2.5',
  }]);
  expect((await allOf(state.tunnels)).flat()).toEqual([{ wanted: wanted.tunnel, stored: { inletBytes: 43, exportBytes: 44 } }]);
  expect((await allOf(state.hosts)).flat()).toEqual([{ wanted: wanted.host, stored: { inletBytes: 62, exportBytes: 63 } }]);
  expect([state.blackIpList, state.serverName]).toEqual([['192.0.2.8', '192.0.2.9'], 'panel.example.com']);
});

test('servers follow each kind of change, except what nothing depends on; tunnels with their lease', () => {
  const lease = { id: 5, port: 42 };
  const clients = [client];
  const followed = changes.map(({ change }) => followedOf(change));
  expect(followed.map((one) => one?.resource)).toEqual([
    'client',
    'tunnel',
    'host',
    'user',
    'globalSettings',
    'access',
    undefined,
    'access',
    'node',
    ...Array.from({ length: 5 }, () => undefined),
  ]);
  expect(followedOf({ ...update, resource: 'tunnel', before: tunnel, after: { ...tunnel, clientId: 22, ownerId: 12 }, lease })).toMatchObject({
    was: scope,
    lease,
  });
  expect(followedOf({ ...update, resource: 'host', before: host, after: { ...host, clientId: 22, ownerId: 12 } })).toMatchObject({ was: scope });
  expect(followedOf({ ...update, resource: 'client', before: client, after: { ...client, userId: 12 } })).toMatchObject({ was: scope });
  expect(followedOf({ ...update, resource: 'user', before: user, after: user, clients })).toEqual({ resource: 'user', id: 11, clients });
  expect(followedOf({ ...by, action: 'delete', resource: 'user', before: user, clients })).toEqual({ resource: 'user', id: 11, clients });
  expect(followedOf({ ...by, action: 'delete', resource: 'globalSettings', before: settings })).toEqual({ resource: 'globalSettings', row: null });
  expect(followed.slice(0, 3).map((one) => one && 'was' in one ? one.was : undefined)).toEqual([undefined, undefined, undefined]);
});

describe('the log of changes', () => {
  const databases = testDatabases('sqlite');

  test('is followed with the current row of each record in it, and the clients of each user', async () => {
    const store = await databases.openEmpty();
    const { db } = store;
    for (const username of ['alice', 'bob', 'carol']) await db.user.create({ data: { username, passwordHash: '' } });
    for (const userId of [1, 1, 2, null]) await db.client.create({ data: { vkey: `key ${await db.client.count()}`, userId } });
    for (const clientId of [1, 2, 3]) await db.tunnel.create({ data: { clientId, mode: 'tcp' } });
    for (const clientId of [1, 2]) await db.host.create({ data: { clientId, host: `${clientId}.example.com` } });
    await db.globalSettings.create({ data: { id: 1, blackIpList: '192.0.2.1' } });
    const reset = { inletBytes: 1, exportBytes: 2 };
    const followed = await loadLogged(store, [
      { resource: 'host', id: 2, was: { id: 1, userId: 2 } },
      { resource: 'tunnel', id: 3, was: { id: 2, userId: 1 }, reset },
      { resource: 'client', id: 2, was: { id: 2, userId: 2 } },
      { resource: 'client', id: 4 },
      { resource: 'user', id: 2, ids: [4] },
      { resource: 'user', id: 3 },
      { resource: 'globalSettings' },
      { resource: 'node' },
      { resource: 'acme', name: 'a.example.com' },
      { resource: 'access' },
      { resource: 'import' },
      ...(['client', 'tunnel', 'host'] as const).map((resource) => ({ resource, id: 99 })),
    ]);
    const clients = await db.client.findMany({ include: { user: true }, orderBy: { id: 'asc' } });
    const [, second, third, fourth] = clients;
    expect(followed).toEqual([
      { resource: 'host', id: 2, was: { id: 1, userId: 2 }, row: await db.host.findUnique({ where: { id: 2 } }) },
      { resource: 'tunnel', id: 3, was: { id: 2, userId: 1 }, reset, row: await db.tunnel.findUnique({ where: { id: 3 } }) },
      { resource: 'client', id: 2, was: { id: 2, userId: 2 }, row: second },
      { resource: 'client', id: 4, row: fourth },
      { resource: 'user', id: 2, clients: expect.arrayContaining([third, fourth]) },
      { resource: 'user', id: 3, clients: [] },
      { resource: 'globalSettings', row: await db.globalSettings.findFirst() },
      { resource: 'node' },
      { resource: 'acme', name: 'a.example.com' },
      { resource: 'access' },
      { resource: 'access' },
      ...['client', 'tunnel', 'host'].map((resource) => ({ resource, id: 99, row: null })),
    ]);
    expect(followed.flatMap((change) => change.resource === 'user' ? [change.clients.length] : [])).toEqual([2, 0]);
    expect(await loadLogged(store, [{ resource: 'user', id: 1 }])).toEqual([{ resource: 'user', id: 1, clients: expect.arrayContaining(clients.slice(0, 2)) }]);
    expect(await loadLogged(store, [{ resource: 'node' }, { resource: 'globalSettings' }])).toMatchObject([{}, { row: { blackIpList: '192.0.2.1' } }]);
  });
});
