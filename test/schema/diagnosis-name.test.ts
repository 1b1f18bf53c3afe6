import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { z } from 'zod';
import type { Caller } from '../../src/rules/caller.ts';
import { type Finding, findings } from '../../src/schema/diagnosis/findings.ts';
import { NameLookUps } from '../../src/schema/diagnosis/name-look-ups.ts';
import { refusals } from '../../src/rules/visitor-refusals.ts';
import { withPages } from '../../src/schema/diagnosis/visitor-page.ts';
import { keysOf } from '../../src/schema/values/enum.ts';
import { testDatabases } from '../support/database.ts';
import { startDns } from '../support/dns.ts';
import { freePort } from '../support/free-port.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const databases = testDatabases('sqlite');
const query = `query ($host: String!, $scheme: RequestScheme!, $lookUp: Boolean) {
  diagnoseHost(host: $host, scheme: $scheme, lookUp: $lookUp) { gates { name outcome explanation remedy visitorPage { status title text } } }
}`;
const gates = z.object({
  diagnoseHost: z.object({
    gates: z.array(z.object({
      name: z.string(),
      outcome: z.string(),
      explanation: z.string(),
      remedy: z.string().nullable(),
      visitorPage: z.object({ status: z.number(), title: z.string(), text: z.string() }).nullable(),
    })),
  }),
});
const user: Caller = { kind: 'user', userId: 1 };

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server whose public name is adit.example.com, and whose DNS knows these names. */
async function open(addresses: Readonly<Record<string, string>>, httpPort = 80, publicUrl = 'https://adit.example.com') {
  const dns = await startDns(addresses);
  ends.push(dns.close);
  const api = await openTestSchema(databases, { publicUrl, hostPorts: { httpPort, httpsPort: 0 } });
  api.services.names.resolver.setServers([dns.server]);
  return { api, asked: dns.asked };
}

async function nameGate(api: TestSchema, host: string, caller?: Caller, scheme = 'HTTP') {
  const { data } = await api.run(query, { host, scheme, lookUp: true }, caller);
  const [first] = gates.parse(data).diagnoseHost.gates;
  return first;
}

async function listen(host: string): Promise<number> {
  const server: Server = createServer((socket) => socket.end()).listen(0, host);
  ends.push(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('no name is looked up unless that is asked for', async () => {
  const { api, asked } = await open({});
  const { data } = await api.run(query, { host: 'shop.example.com', scheme: 'HTTP' });
  expect(gates.parse(data).diagnoseHost.gates.map(({ name }) => name)).not.toContain('NAME_AND_PORT');
  expect(asked).toEqual([]);
});

test('a name without an address stops visitors; one that leads elsewhere may be behind a proxy', async () => {
  const { api } = await open({ 'adit.example.com': '203.0.113.5', 'elsewhere.example.com': '198.51.100.9' });
  expect(await nameGate(api, 'shop.example.com')).toEqual({
    name: 'NAME_AND_PORT',
    outcome: 'STOPPED',
    explanation: 'the DNS has no address for shop.example.com',
    remedy: 'let the DNS record of shop.example.com lead to this server',
    visitorPage: null,
  });
  expect(await nameGate(api, 'elsewhere.example.com')).toMatchObject({
    outcome: 'UNKNOWN',
    explanation: 'elsewhere.example.com leads to 198.51.100.9, which is not this server; that is right if a proxy or router passes requests on',
  });
  expect(await nameGate(api, 'shop.example.com', undefined, 'HTTPS')).toMatchObject({
    outcome: 'STOPPED',
    explanation: 'the server has no port for https hosts',
  });
});

test('a name that leads here passes if the port accepts connections', async () => {
  const port = await listen('127.0.0.1');
  const { api } = await open({ 'adit.example.com': '127.0.0.1', 'shop.example.com': '127.0.0.1' }, port);
  expect(await nameGate(api, 'shop.example.com')).toMatchObject({
    outcome: 'PASSED',
    explanation: `the name leads to 127.0.0.1, an address of this server; port ${port} accepts connections`,
  });
  const closed = await freePort();
  const other = await open({ 'adit.example.com': '127.0.0.1', 'shop.example.com': '127.0.0.1' }, closed);
  expect(await nameGate(other.api, 'shop.example.com')).toMatchObject({
    outcome: 'UNKNOWN',
    explanation: `the name leads to 127.0.0.1, an address of this server; the server could not connect to its own port ${closed} at this address: ECONNREFUSED`,
  });
});

test('a name is looked up once for an operation, and compared with nothing if the public address is not set', async () => {
  const { api, asked } = await open({ 'elsewhere.example.com': '198.51.100.9' }, 80, '');
  const both = '{ diagnoseHost(host: "elsewhere.example.com", scheme: HTTP, lookUp: true) { gates { explanation remedy } stoppedBy { name } } }';
  const { gates: all, stoppedBy } = z.object({ gates: z.array(z.unknown()), stoppedBy: z.unknown() }).parse(await api.record(both));
  expect([all[0], stoppedBy]).toEqual([{
    explanation: 'elsewhere.example.com leads to 198.51.100.9; the public address of this server is not set',
    remedy: 'set the server URL in the global settings, so that it can be compared',
  }, { name: 'ROUTE' }]);
  // For IPv4 and for IPv6.
  expect(asked).toEqual(['elsewhere.example.com', 'elsewhere.example.com']);
  expect(await api.record(both.replace('elsewhere', 'nowhere'))).toMatchObject({ stoppedBy: { name: 'NAME_AND_PORT' } });
});

test('a tenant learns no address inside a network, and no machine but this server is connected to', async () => {
  const port = await listen('127.0.0.2');
  const { api } = await open({ 'adit.example.com': '203.0.113.5', 'inside.example.com': '127.0.0.2', 'database.internal': '10.1.2.3' }, port);
  for (const name of ['inside.example.com', 'database.internal']) {
    const gate = await nameGate(api, name, user);
    expect(gate).toMatchObject({ outcome: 'UNKNOWN', explanation: `${name} leads to an address inside a network, which visitors elsewhere cannot reach` });
  }
  expect(await nameGate(api, 'inside.example.com')).toMatchObject({ explanation: expect.stringContaining('leads to 127.0.0.2, which is not this server') });
});

test('each network that visitors elsewhere cannot reach is one, from its first address to its last', async () => {
  const { api } = await open({ 'adit.example.com': '203.0.113.5' });
  const inside = [
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['[::]', '[::1]'],
    ['[fc00::]', '[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
    ['[fe80::]', '[febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
  ].flat();
  const outside = ['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0'];
  const more = ['172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '[::2]', '[fbff::]', '[fe00::]', '[fe7f::]', '[fec0::]', '[2001:db8::1]'];
  // Addresses of this machine lead here, whatever network they are in.
  const own = new Set(api.services.names.machineAddresses());
  for (const [index, host] of [...inside, ...outside, ...more].entries()) {
    if (own.has(host.replaceAll(/[[\]]/g, ''))) continue;
    const gate = await nameGate(api, host, { kind: 'user', userId: index + 1 });
    const where = index < inside.length ? 'leads to an address inside a network' : 'which is not this server';
    expect([host, gate?.outcome, gate?.explanation]).toEqual([host, 'UNKNOWN', expect.stringContaining(where)]);
  }
});

test('of a name with many addresses, eight are compared and shown', async () => {
  const { api } = await open({ 'adit.example.com': '203.0.113.5' });
  const addresses = Array.from({ length: 9 }, (_, n) => `198.51.100.${n}`);
  jest.spyOn(api.services.names, 'addressesOf').mockImplementation(async (_share, name) => ({
    kind: 'found',
    addresses: name === 'adit.example.com' ? ['203.0.113.5'] : addresses,
  }));
  expect(await nameGate(api, 'many.example.com')).toMatchObject({
    explanation: expect.stringContaining(`leads to ${addresses.slice(0, 8).join(', ')}, which`),
  });
  addresses.splice(7, 0, '203.0.113.5');
  expect(await nameGate(api, 'many.example.com')).toMatchObject({ explanation: expect.stringContaining('leads to 203.0.113.5, an address of this server') });
});

describe('look-ups', () => {
  const failed = (code: string) => Object.assign(new Error(code), { code });
  /** Look-ups whose resolver answers so for IPv4 and for IPv6. */
  function answering(four: () => Promise<string[]>, six: () => Promise<string[]>): NameLookUps {
    const names = new NameLookUps();
    jest.spyOn(names.resolver, 'resolve4').mockImplementation(four);
    jest.spyOn(names.resolver, 'resolve6').mockImplementation(six);
    return names;
  }
  const found = (...addresses: string[]) => async () => addresses;
  const refused = (code: string) => () => Promise.reject(failed(code));
  const limited = { kind: 'limited' };

  test.each([
    [found('192.0.2.1'), found('2001:db8::1'), { kind: 'found', addresses: ['192.0.2.1', '2001:db8::1'] }],
    [found('192.0.2.1'), refused('ESERVFAIL'), { kind: 'found', addresses: ['192.0.2.1'] }],
    [refused('ENODATA'), found('2001:db8::1'), { kind: 'found', addresses: ['2001:db8::1'] }],
    [refused('ENODATA'), refused('ENOTFOUND'), { kind: 'none' }],
    [found(), refused('ENODATA'), { kind: 'none' }],
    [refused('ENODATA'), refused('ETIMEOUT'), { kind: 'unknown', problem: 'ETIMEOUT' }],
    [refused('ESERVFAIL'), refused('ENOTFOUND'), { kind: 'unknown', problem: 'ESERVFAIL' }],
    [() => Promise.reject(new Error('no code')), found(), { kind: 'unknown', problem: 'EUNKNOWN' }],
  ])('%#: the answers for IPv4 and IPv6 together', async (four, six, answer) => {
    expect(await answering(four, six).addressesOf('a', 'a.example', 0)).toEqual(answer);
  });

  test('of a caller are ten at once, then one in five seconds', async () => {
    const names = answering(found('192.0.2.1'), found());
    const kinds = async (count: number, at: number) => {
      let allowed = 0;
      for (let n = 0; n < count; n++) if ((await names.addressesOf('a', 'a.example', at)).kind === 'found') allowed++;
      return allowed;
    };
    expect([await kinds(12, 0), await kinds(2, 4999), await kinds(2, 5000), await kinds(3, 15_000)]).toEqual([10, 0, 1, 2]);
  });

  test('under way are one of a caller, and 16 in all', async () => {
    const waiting: Array<(addresses: string[]) => void> = [];
    const names = answering(() => new Promise((resolve) => waiting.push(resolve)), found());
    const begun = Array.from({ length: 16 }, (_, n) => names.addressesOf(`caller ${n}`, 'a.example', 0));
    expect([await names.addressesOf('caller 0', 'a.example', 0), await names.addressesOf('another', 'a.example', 0)]).toEqual([limited, limited]);
    waiting[0]?.(['192.0.2.1']);
    await begun[0];
    begun.push(names.addressesOf('another', 'a.example', 0));
    expect(waiting).toHaveLength(17);
    for (const answer of waiting) answer(['192.0.2.1']);
    expect((await Promise.all(begun)).map(({ kind }) => kind)).toEqual(Array.from({ length: 17 }, () => 'found'));
  });

  test('of 10,000 callers are counted; beyond that, who has looked nothing up for the longest time is forgotten', async () => {
    const names = new NameLookUps();
    const of = async (share: string) => (await names.addressesOf(share, '192.0.2.1', 0)).kind;
    for (let n = 0; n < 10; n++) await of('first');
    for (let n = 1; n < 10_000; n++) await of(`caller ${n}`);
    expect(await of('first')).toBe('limited');
    for (let n = 0; n < 9_999; n++) await of(`another ${n}`);
    expect(await of('first')).toBe('limited');
    for (let n = 0; n < 10_000; n++) await of(`more ${n}`);
    expect(await of('first')).toBe('found');
  });
});

test('a caller can look up ten names at once, and others are not affected', async () => {
  const { api, asked } = await open({ 'adit.example.com': '203.0.113.5' });
  for (let n = 0; n < 10; n++) expect(await nameGate(api, `n${n}.example.com`, user)).toMatchObject({ outcome: 'STOPPED' });
  const before = asked.length;
  expect(await nameGate(api, 'more.example.com', user)).toMatchObject({ outcome: 'UNKNOWN', explanation: 'too many names were looked up: wait a few seconds' });
  expect(await nameGate(api, '10.0.0.1', user)).toMatchObject({ explanation: 'too many names were looked up: wait a few seconds' });
  expect(asked.length).toBe(before);
  expect(await nameGate(api, 'more.example.com')).toMatchObject({ outcome: 'STOPPED' });
});

test('a resolver that refuses to answer is no verdict', async () => {
  const { api } = await open({});
  api.services.names.resolver.setServers([`127.0.0.1:${await freePort()}`]);
  expect(await nameGate(api, 'shop.example.com')).toMatchObject({
    outcome: 'UNKNOWN',
    explanation: expect.stringMatching(/^the DNS did not answer for shop.example.com: E/),
  });
});

test('an address instead of a name is not looked up', async () => {
  const { api, asked } = await open({ 'adit.example.com': '203.0.113.5' });
  const [own] = Object.values(networkInterfaces()).flatMap((all) => all ?? []).filter(({ internal, family }) => !internal && family === 'IPv4');
  expect(await nameGate(api, '198.51.100.9')).toMatchObject({ outcome: 'UNKNOWN', explanation: expect.stringContaining('which is not this server') });
  if (own !== undefined) expect(await nameGate(api, own.address)).toMatchObject({ explanation: expect.stringContaining('an address of this server') });
  expect(asked.filter((name) => name !== 'adit.example.com')).toEqual([]);
});

test('each stop names the page that visitors see', async () => {
  const { api } = await open({});
  const stopOf = async (host: string) => {
    const { data } = await api.run(query, { host, scheme: 'HTTP' });
    return gates.parse(data).diagnoseHost.gates.find(({ outcome }) => outcome === 'STOPPED');
  };
  expect(await stopOf('wrong.example.com')).toMatchObject({ name: 'ROUTE', visitorPage: refusals.noRoute });
  const clientId = await api.id('mutation { createClient(input: {}) { id } }');
  await api.ok(`mutation { createHost(input: { clientId: ${clientId}, host: "shop.example.com", targets: ["80"] }) { id } }`);
  expect(await stopOf('shop.example.com')).toMatchObject({ name: 'AGENT', visitorPage: refusals.offline });
  const tunnel = await api.id(`mutation { createTunnel(input: { clientId: ${clientId}, mode: TCP, targets: ["22"] }) { id } }`);
  const { gates: ofTunnel } = z.object({ gates: z.array(z.object({ visitorPage: z.null() })) }).parse(
    await api.record(`{ diagnoseTunnel(id: ${tunnel}) { gates { visitorPage { status } } } }`),
  );
  expect(ofTunnel.length).toBeGreaterThan(0);
});

test('each finding that stops a request to a host has its page, or none', async () => {
  const { api } = await open({});
  const pageOf = (code: Finding['code'], client?: Parameters<typeof withPages>[1]) =>
    withPages([{ name: 'ROUTE', outcome: 'STOPPED', findings: [{ code, params: {} }], fix: null, refusals: {} }], client)[0]?.page;
  const all = keysOf(findings).map((code) => [code, pageOf(code)] as const);
  expect(Object.fromEntries(all.filter(([, page]) => page !== null))).toEqual({
    NO_HOST_MATCHES: 'noRoute',
    OWN_NAME: 'noRoute',
    RULES_STOPPED: 'noRoute',
    SCHEME_DIFFERS: 'noRoute',
    PATH_DIFFERS: 'noRoute',
    CLIENT_DISABLED: 'offline',
    OWNER_DISABLED: 'offline',
    OWNER_EXPIRED: 'offline',
    CLIENT_EXPIRED: 'offline',
    TRAFFIC_USED_UP: 'exhausted',
    CONNECTIONS_USED_UP: 'tooMany',
    ON_GLOBAL_BLOCKLIST: 'forbidden',
    NOT_ON_ALLOWLIST: 'forbidden',
    ON_BLOCKLIST: 'forbidden',
    LOCAL_PROXY_OFF: 'offline',
    AGENT_AWAY: 'offline',
    HOST_TARGET_MISSING: 'offline',
    TARGETS_UNHEALTHY: 'unhealthy',
    TARGETS_SILENT: 'refused',
  });
  // An allowlist with a password asks for it.
  const client = await api.services.store.db.client.create({ data: { vkey: 'k', ipWhitePassword: 'p' } });
  const byClient = (code: Finding['code']) => [pageOf(code, client), pageOf(code, { ...client, ipWhitePassword: '' })];
  expect([byClient('NOT_ON_ALLOWLIST'), byClient('ON_BLOCKLIST')]).toEqual([['notListed', 'forbidden'], ['forbidden', 'forbidden']]);
});
