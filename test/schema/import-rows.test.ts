import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { fastHash } from '../../src/schema/access/fast-hash.ts';
import { digestOf, passwordChanged } from '../../src/schema/import/digest.ts';
import { importRecord } from '../../src/schema/import/records.ts';
import { hostRow, userRow } from '../../src/schema/import/rows.ts';
import { ImportStage } from '../../src/schema/import/stage.ts';
import { Problems } from '../../src/schema/values/problems.ts';
import { schemaSettings } from '../support/schema-settings.ts';

const none = { maxClients: 0, maxTunnels: 0, expiresAt: null, createdAt: null } as const;

/** A record of each kind that has numbers. */
const importedRecords = {
  user: { kind: 'user', source: 'x', id: 1, username: 'alice', password: '', enabled: true, remark: '', tokenHash: '', ...none },
  client: {
    kind: 'client',
    source: 'x',
    id: 1,
    ownerId: 0,
    verifyKey: 'k',
    remark: '',
    enabled: true,
    basicUser: '',
    basicPassword: '',
    compress: false,
    encrypt: false,
    configAllowed: false,
    rateLimit: 0,
    flowLimit: 0,
    maxConnections: 0,
    maxTunnels: 0,
    webUsername: '',
    webPassword: '',
    blocklist: [],
    allowlistEnabled: false,
    allowlistPassword: '',
    allowlist: [],
    expiresAt: null,
    createdAt: null,
    lastOnlineAt: null,
    lastAddress: '',
    localAddress: '',
    agentVersion: '',
    inletBytes: 0,
    exportBytes: 0,
  },
  tunnel: {
    kind: 'tunnel',
    source: 'x',
    id: 1,
    clientId: 1,
    mode: 'tcp',
    remark: '',
    port: 0,
    serverIp: '',
    targets: [],
    localProxy: false,
    password: '',
    localPath: '',
    stripPrefix: '',
    proxyProtocol: '',
    accounts: [],
    enabled: true,
    inletBytes: 0,
    exportBytes: 0,
  },
  host: {
    kind: 'host',
    source: 'x',
    id: 1,
    clientId: 1,
    host: 'a.example',
    location: '/',
    scheme: 'all',
    remark: '',
    targets: [],
    localProxy: false,
    headers: [],
    hostChange: '',
    certificate: '',
    privateKey: '',
    autoHttps: false,
    acme: false,
    platformDomainId: '',
    enabled: true,
    inletBytes: 0,
    exportBytes: 0,
  },
} as const;

test.each([['', /^$/], ['a password', /^\S{20,}$/]])('a user whose password is "%s" is imported with the hash %s', (password, hash) => {
  const user = { kind: 'user', source: '', id: 1, username: 'alice', password, remark: '', enabled: true, tokenHash: '', ...none } as const;
  expect(userRow(new Problems(), user, { settings: schemaSettings, now: 0 }).passwordHash).toMatch(hash);
});

test.each(
  [
    ['all', 'a.example', true, true],
    ['https', 'a.example', true, true],
    ['http', 'a.example', false, false],
    ['all', '*.example', false, true],
    ['all', 'a.apps.example', false, true],
  ] as const,
)('a host for %s with the name %s orders certificates: %s, and redirects to HTTPS: %s', (scheme, host, acme, autoHttps) => {
  const domain = { id: 'p', wildcard: '*.apps.example', certFilePath: '/domain/certificate', keyFilePath: '/domain/key' };
  const below = host.endsWith('.apps.example') ? domain : null;
  const record = {
    ...importedRecords.host,
    targets: ['80'],
    headers: [],
    scheme,
    host,
    certificate: '/certificate',
    privateKey: '/key',
    acme: true,
    autoHttps: true,
  };
  const problems = new Problems();
  const row = hostRow(problems, record, below, { settings: schemaSettings, now: 0, namedByAdmin: false });
  expect(problems.any).toBe(false);
  expect(row).toMatchObject({
    scheme,
    host,
    acme,
    autoHttps,
    ...below === null
      ? { platformDomainId: null, platformPrefix: null, certFilePath: '/certificate', keyFilePath: '/key' }
      : { platformDomainId: 'p', platformPrefix: 'a', certFilePath: '/domain/certificate', keyFilePath: '/domain/key' },
  });
});

test.each<[host: string, scheme: 'all' | 'http' | 'https', certificate: string, code: string]>([
  ['a b.apps.example', 'http', '/c', 'HOST_INVALID'],
  ['a.b.apps.example', 'http', '/c', 'INVALID_INPUT'],
  ['a.example', 'http', '/c', 'INVALID_INPUT'],
  ['apps.example', 'http', '/c', 'INVALID_INPUT'],
  ['*.apps.example', 'http', '/c', 'INVALID_INPUT'],
  ['a.apps.example', 'all', '', 'PLATFORM_HTTP_ONLY'],
  ['a.apps.example', 'https', '', 'PLATFORM_HTTP_ONLY'],
  ['a.apps.example', 'http', '', ''],
])('a host %s (%s) of *.apps.example with the certificate "%s": "%s"', (host, scheme, certFilePath, code) => {
  const domain = { id: 'p', wildcard: '*.apps.example', certFilePath, keyFilePath: certFilePath };
  const problems = new Problems();
  const record = { ...importedRecords.host, targets: ['80'], headers: [], host, scheme };
  hostRow(problems, record, domain, { settings: schemaSettings, now: 0, namedByAdmin: false });
  const found = problems.any ? problems.error() : undefined;
  expect([found?.code ?? '', found?.params['field']]).toEqual([code, code === '' ? undefined : code === 'PLATFORM_HTTP_ONLY' ? 'input.scheme' : 'input.host']);
});

test('a password has changed if it is not that of the hash, as long as nobody has logged in with another one', () => {
  const loggedIn = '$argon2 of somebody who has logged in';
  const cases = [
    ['', '', false],
    ['new', '', true],
    ['same', fastHash('same'), false],
    ['new', fastHash('old'), true],
    ['', fastHash('old'), true],
    ['new', loggedIn, false],
    ['', loggedIn, false],
  ] as const;
  expect(cases.map(([password, hash]) => [password, hash, passwordChanged(password, hash)])).toEqual(cases);
});

test('a record has changed with each field, except where it was found, login passwords, and what changes by itself', () => {
  const same: string[] = [];
  for (const [kind, record] of Object.entries({ ...importedRecords, tunnel: { ...importedRecords.tunnel, accounts: [{ user: 'a', password: 'b' }] } })) {
    const parsed = importRecord.parse(record);
    expect(digestOf(parsed)).toMatch(/^[0-9a-f]{64}$/);
    for (const [field, value] of Object.entries(parsed)) {
      if (field === 'kind') continue;
      const other = typeof value === 'boolean' ? !value : typeof value === 'number' ? value + 1 : value === null ? 1 : Array.isArray(value) ? [] : `${value}x`;
      const lists = { blocklist: ['x'], allowlist: ['x'], targets: ['x'], headers: ['x'] };
      const changed = { ...parsed, [field]: other, ...Object.fromEntries(Object.entries(lists).filter(([name]) => name === field)) };
      if (digestOf(Object.assign(structuredClone(parsed), changed)) === digestOf(parsed)) same.push(`${kind} ${field}`);
    }
  }
  const seen = ['lastOnlineAt', 'lastAddress', 'localAddress', 'agentVersion', 'inletBytes', 'exportBytes'];
  expect(same).toEqual([
    ...['source', 'password'].map((field) => `user ${field}`),
    ...['source', 'webPassword', ...seen].map((field) => `client ${field}`),
    ...['source', 'inletBytes', 'exportBytes'].map((field) => `tunnel ${field}`),
    ...['source', 'inletBytes', 'exportBytes'].map((field) => `host ${field}`),
  ]);
});

test.each(
  [
    ['user', 'id', 1, 2 ** 31 - 1],
    ['user', 'maxClients', 0, 2 ** 31 - 1],
    ['user', 'maxTunnels', 0, 2 ** 31 - 1],
    ['client', 'id', 1, 2 ** 31 - 1],
    ['client', 'ownerId', 0, 2 ** 53 - 1],
    ['client', 'rateLimit', 0, 2 ** 31 - 1],
    ['client', 'flowLimit', 0, 2 ** 31 - 1],
    ['client', 'maxConnections', 0, 2 ** 31 - 1],
    ['client', 'maxTunnels', 0, 2 ** 31 - 1],
    ['client', 'inletBytes', 0, 2 ** 53 - 1],
    ['client', 'exportBytes', 0, 2 ** 53 - 1],
    ['tunnel', 'id', 1, 2 ** 31 - 1],
    ['tunnel', 'port', 0, 65_535],
    ['tunnel', 'inletBytes', 0, 2 ** 53 - 1],
    ['tunnel', 'exportBytes', 0, 2 ** 53 - 1],
    ['host', 'id', 1, 2 ** 31 - 1],
    ['host', 'inletBytes', 0, 2 ** 53 - 1],
    ['host', 'exportBytes', 0, 2 ** 53 - 1],
  ] as const,
)('the %s of an import: %s is a whole number from %d to %d', (kind, field, least, most) => {
  const accepted = (value: unknown) => importRecord.safeParse({ ...importedRecords[kind], [field]: value }).success;
  expect([least, most, least - 1, most + 1, 1.5, '1', null].filter(accepted)).toEqual([least, most]);
});

describe('the parts of an import', () => {
  const line = (id: string): string =>
    `${JSON.stringify({ kind: 'platformDomain', source: 'x', id, wildcard: `*.${id}`, certificatePath: '', privateKeyPath: '' })}\n`;
  const taken = (stage: ImportStage, id: string): readonly string[] => stage.take(id).platformDomains.map((domain) => domain.id);
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test('may end in the middle of a line, and are taken once', () => {
    const stage = new ImportStage();
    const text = line('a') + line('b');
    expect([stage.add('one', text.slice(0, 10)), stage.add('one', text.slice(10, -5))]).toEqual([0, 1]);
    expect(() => stage.take('one')).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect([stage.add('two', text.slice(0, -5)), stage.add('two', text.slice(-5)), taken(stage, 'two'), taken(stage, 'two')]).toEqual([1, 2, ['a', 'b'], []]);
  });

  test('of another import replace them; a wrong line drops all', () => {
    const stage = new ImportStage();
    stage.add('one', line('a'));
    expect([stage.add('two', line('b')), taken(stage, 'one'), taken(stage, 'two')]).toEqual([1, [], ['b']]);
    for (const wrong of ['no JSON\n', '{"kind":"other"}\n', line('c').replace('*.c', '').replace('"wildcard":"",', '')]) {
      stage.add('three', line('a'));
      expect(() => stage.add('three', wrong)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
      expect(taken(stage, 'three')).toEqual([]);
    }
  });

  test.each([
    ['maxClients', 2 ** 31],
    ['maxTunnels', 2 ** 31],
    ['maxTunnels', -1],
    ['id', 2 ** 31],
    ['id', 0],
    ['expiresAt', 1.5],
    ['unknown', 1],
  ])('with a user whose %s is %d, which cannot be stored, are refused by the name of the field', (field, value) => {
    const user = { kind: 'user', source: 'x', id: 1, username: 'alice', password: '', enabled: true, remark: '', tokenHash: '', ...none };
    expect(new ImportStage().add('one', `${JSON.stringify({ ...user, maxClients: 2 ** 31 - 1 })}\n`)).toBe(1);
    expect(() => new ImportStage().add('one', `${JSON.stringify({ ...user, [field]: value })}\n`)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining(field) }),
    );
  });

  test('are at most 128 Mi characters', () => {
    const stage = new ImportStage();
    stage.add('one', line('a'));
    expect(() => stage.add('one', ' '.repeat(128 * 1024 * 1024 - 1))).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(taken(stage, 'one')).toEqual([]);
    // Each import has as many.
    expect(stage.add('two', line('a'))).toBe(1);
  });

  test('are held for ten minutes after the last one', () => {
    const stage = new ImportStage();
    stage.add('one', line('a'));
    jest.advanceTimersByTime(9 * 60_000);
    stage.add('one', line('b'));
    jest.advanceTimersByTime(9 * 60_000);
    expect(stage.add('one', '')).toBe(2);
    jest.advanceTimersByTime(10 * 60_000);
    expect(taken(stage, 'one')).toEqual([]);
  });
});
