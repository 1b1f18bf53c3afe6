import { expect, test } from '@jest/globals';
import pino from 'pino';
import { AgentRecord } from '../../src/engine/agent-record.ts';
import { Clients } from '../../src/engine/client-index.ts';
import { ClientEntry, type ClientParts, type ClientTunnel } from '../../src/engine/clients.ts';
import { type HealthState, refusalCauses, type WantedClient } from '../../src/engine/face.ts';
import { Admission } from '../../src/engine/limits/admission.ts';
import { ClientLogins } from '../../src/engine/limits/client-logins.ts';
import { AllowedAddresses } from '../../src/engine/limits/allowed-addresses.ts';
import { Meter, Ticker } from '../../src/engine/limits/meter.ts';
import type { OpenConnection } from '../../src/engine/limits/open-connections.ts';
import { visitorLists } from '../../src/engine/limits/visitor-lists.ts';
import { Visitors } from '../../src/engine/limits/visitors.ts';
import { overviewOf } from '../../src/engine/overview.ts';
import { Certificates } from '../../src/engine/vhost/tls/certificates.ts';
import { Hosts } from '../../src/engine/vhost/hosts.ts';
import { Attempts } from '../../src/rules/attempts.ts';
import { AddressSet } from '../../src/rules/ip-access.ts';
import { visitorKeyOf } from '../../src/rules/vkey.ts';
import { keyIdOf } from '../../src/wire/handshake.ts';
import type { Opener } from '../../src/wire/stream.ts';
import { sessionOf } from '../support/agent-session.ts';
import { CLIENT, fresh, tunnelOf } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

const silent = pino({ level: 'silent' });
const parts: ClientParts = { ticker: new Ticker(), onExhausted: () => undefined };

async function clientOf(wanted: Partial<WantedClient> = {}, stored = fresh, own = parts): Promise<ClientEntry> {
  const whole = { ...CLIENT, ...wanted };
  return new ClientEntry(whole, await visitorLists(whole), own, stored, '192.0.2.9');
}

test("a client shows its agent's last session, and the last ten", async () => {
  const client = await clientOf({}, { inletBytes: 3, exportBytes: 4 });
  const nothing = { connected: false, connectedSince: null, secure: false, end: null, address: '', localAddress: '', version: '', lastOnlineAt: null };
  const traffic = { connections: 0, rate: 0, inletRate: 0, exportRate: 0, inletBytes: 3, exportBytes: 4 };
  expect(client.state(1)).toEqual({ ...nothing, lastHeardAt: null, refusals: {}, ...traffic });
  expect(client.lastAddress).toBe('192.0.2.9');

  const first = sessionOf('192.0.2.1', '1.0', true);
  client.connected(first, 100);
  const agent = { address: '192.0.2.1', localAddress: 'local 1.0', version: '1.0' };
  const state = client.state(150);
  expect(state).toMatchObject({ ...agent, connected: true, connectedSince: 100, secure: true, end: null, lastOnlineAt: 150 });
  expect(state.lastHeardAt).toBeLessThanOrEqual(150);
  expect(client.lastAddress).toBe('192.0.2.1');
  client.disconnected({ end: 'lost', endText: 'gone' }, 200, true);
  expect([client.ended, client.session]).toEqual([true, undefined]);
  const gone = { ...agent, connected: false, connectedSince: null, secure: false, end: 'lost', lastOnlineAt: 200, lastHeardAt: null };
  expect(client.state(300)).toMatchObject(gone);

  const second = sessionOf('192.0.2.2', '2.0', false);
  client.connected(second, 400);
  client.letGo(500);
  expect([client.ended, client.session]).toEqual([false, undefined]);
  const closed = { address: '192.0.2.1', version: '1.0', secure: true, since: 100, until: 200, end: 'lost', endText: 'gone' };
  const moved = { address: '192.0.2.2', version: '2.0', secure: false, since: 400, until: 500, end: 'moved', endText: expect.stringMatching(/another server/) };
  expect(client.history.sessions).toEqual([moved, closed]);
  for (let at = 1000; at < 1008; at++) {
    client.connected(first, at);
    client.disconnected({ end: 'agentStopped', endText: '' }, at, true);
  }
  expect(client.history.sessions.map(({ since }) => since)).toEqual([1007, 1006, 1005, 1004, 1003, 1002, 1001, 1000, 400, 100]);
  client.connected(first, 2000);
  expect(client.history.sessions.at(-1)).toEqual(moved);
  // A session that has moved lives on with its connections, and ends with the client.
  const ends: string[] = [];
  for (const [name, session] of Object.entries({ first, second })) session.close = (reason) => ends.push(`${name} ${reason}`);
  client.closeSessions('disabled');
  expect(ends).toEqual(['first disabled', 'second disabled']);
  client.letGo(2100);
  expect(ends.at(-1)).toBe('second replaced');
});

/** An open connection, which notes that it was cut. */
function openOf(id: number, remoteAddress: string, cut: number[]): OpenConnection {
  const through = { kind: 'tunnel', id: 1 } as const;
  const state = { id, clientId: 1, through, address: remoteAddress, port: 1, since: 0, inletBytes: 0, exportBytes: 0, rate: 0 };
  return { remoteAddress, state, counted: {}, older: undefined, newer: undefined, cut: () => cut.push(id) };
}

test('the connections of a client are listed by pages, the oldest first, and closed by their ids', async () => {
  const client = await clientOf();
  expect([client.connections({ offset: 0, limit: 9 }), client.closeConnection(1)]).toEqual([{ rows: [], total: 0 }, undefined]);
  const cut: number[] = [];
  for (const id of [11, 12, 13, 14]) client.meter.open.add(openOf(id, '192.0.2.1', cut));
  const page = (offset: number, limit: number) => {
    const { rows, total } = client.connections({ offset, limit });
    return [...rows.map(({ id }) => id), `of ${total}`].join(' ');
  };
  expect([page(0, 2), page(1, 2), page(3, 9), page(4, 1), page(0, 0)]).toEqual(['11 12 of 4', '12 13 of 4', '14 of 4', 'of 4', 'of 4']);
  expect(client.closeConnection(13)).toMatchObject({ id: 13 });
  expect(client.closeConnection(15)).toBeUndefined();
  expect(cut).toEqual([13]);
});

const opener = (): Opener => ({ open: () => undefined });

test('a visitor is refused for the first of all causes that apply', async () => {
  const visitors = new Visitors({ total: 0, perAddress: 0 });
  const admission = new Admission(visitors, () => 1000, undefined);
  await admission.setBlackIpList(['192.0.2.1']);
  const worst: Partial<WantedClient> = {
    enabled: false,
    expiresAt: 1000,
    ipWhite: true,
    blackIpList: '192.0.2.1',
    flowLimit: 1,
    maxConnections: 1,
  };
  const used = { inletBytes: 1, exportBytes: 1 };
  const causes: unknown[] = [];
  const refused = async (better: Partial<WantedClient>, from = admission, localProxy = false) => {
    const client = await clientOf(Object.assign(worst, better), used);
    client.meter.connections = 1;
    causes.push(from.admit(client, '192.0.2.1', localProxy));
  };
  await refused({});
  await refused({ enabled: true });
  await refused({ expiresAt: 1001 });
  await admission.setBlackIpList([]);
  await refused({});
  await refused({ ipWhite: false });
  await refused({ blackIpList: '' });
  await refused({ flowLimit: 2 });
  await refused({ maxConnections: 2 });
  const [local, other] = [opener(), opener()];
  await refused({}, new Admission(new Visitors(), () => 1000, undefined), true);
  await refused({}, new Admission(new Visitors(), () => 1000, local));
  expect(causes).toEqual(['disabled', 'expired', 'globalBlackList', 'whiteList', 'blackList', 'flow', 'connections', 'capacity', 'localProxy', 'offline']);

  const client = await clientOf({ flowLimit: 1 }, used);
  const session = sessionOf('192.0.2.1', '1', false);
  client.connected(session, 0);
  // The home of the client knows whether its limits are reached.
  expect(new Admission(new Visitors(), () => 0, local).admit(client, 'a', false, other)).toEqual({ session: other, client: client.meter });
  expect(admission.admit(client, 'a', false, other)).toBe('capacity');
  const free = await clientOf();
  free.connected(session, 0);
  expect(new Admission(new Visitors(), () => 0, local).admit(free, 'a', true)).toEqual({ session: local, client: free.meter });
  expect(new Admission(new Visitors(), () => 0, local).admit(free, 'a', false)).toEqual({ session, client: free.meter });
});

test('a change closes the connections that it no longer admits', async () => {
  const admission = new Admission(new Visitors(), () => 1000, undefined);
  const cutOf = async (wanted: Partial<WantedClient>) => {
    const client = await clientOf(wanted, { inletBytes: 1, exportBytes: 1 });
    const cut: number[] = [];
    for (const [index, address] of ['192.0.2.1', '192.0.2.2', '192.0.2.3'].entries()) client.meter.open.add(openOf(index, address, cut));
    client.meter.connections = 3;
    await admission.changeBlackIpList(['192.0.2.1'], [client]);
    return cut;
  };
  expect(await cutOf({})).toEqual([0]);
  expect(await cutOf({ blackIpList: '192.0.2.3' })).toEqual([0, 2]);
  expect(await cutOf({ ipWhite: true, ipWhiteList: '192.0.2.3\n192.0.2.1' })).toEqual([0, 1]);
  expect(await cutOf({ maxConnections: 2 })).toEqual([0, 2]);
  expect(await cutOf({ maxConnections: 3 })).toEqual([0]);
  expect(await cutOf({ flowLimit: 1 })).toEqual([0, 1, 2]);
  expect(await cutOf({ flowLimit: 2 })).toEqual([0]);
});

test('changed lists hold for the next visitor, also if they are as long as before', async () => {
  const client = await clientOf({ ipWhite: true, ipWhiteList: '192.0.2.1\n192.0.2.2', blackIpList: '192.0.2.1' });
  const refusedBy = () => [1, 2, 3, 4].map((last) => client.turnedAwayBy(`192.0.2.${last}`, AddressSet.of([]), 0));
  expect(refusedBy()).toEqual(['blackList', undefined, 'whiteList', 'whiteList']);
  const wanted = { ...CLIENT, ipWhite: true, ipWhiteList: '192.0.2.3\n192.0.2.4', blackIpList: '192.0.2.3' };
  client.configure(wanted, await client.readyLists(wanted));
  expect(refusedBy()).toEqual(['whiteList', 'whiteList', 'blackList', undefined]);
});

test('an address that a password has allowed is admitted in each of its spellings', async () => {
  const client = await clientOf({ ipWhite: true, ipWhitePassword: 'x' });
  client.allow('2001:DB8:0::1', 0);
  client.allow('192.0.2.1', 0);
  const visitors = ['2001:db8::1', '2001:0DB8::1', '::ffff:192.0.2.1', '2001:db8::2'];
  expect(visitors.map((address) => client.turnedAwayBy(address, AddressSet.none, 0))).toEqual([undefined, undefined, undefined, 'whiteList']);
});

test("a proxy's visitor logs in with one of its accounts, or else with the login of the client; who guesses holds up nobody at other addresses", () => {
  const clients = [{ basicUser: 'me', basicPassword: 'right' }, { basicUser: 'me' }, { basicPassword: 'right' }].map((login) => ({ ...CLIENT, ...login }));
  const logins = new ClientLogins((id) => clients[id - 1], new Attempts(), () => 0);
  expect([1, 2, 3, 4].map((id) => logins.of(id))).toEqual([{ user: 'me', password: 'right' }, undefined, undefined, undefined]);
  const accounts = [{ user: 'alice', password: 'hers' }, { user: 'bob', password: '' }];
  const accepted = (id: number, user: string, password: string, own?: typeof accounts) => logins.accept(id, { user, password }, `192.0.2.${id}`, own);
  expect([accepted(1, 'me', 'right'), accepted(1, 'me', 'wrong'), accepted(1, 'alice', 'hers'), accepted(2, 'me', 'wrong')]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect([accepted(1, 'alice', 'hers', accounts), accepted(1, 'bob', '', accounts)]).toEqual([true, true]);
  for (const [user, password] of [['alice', ''], ['bob', 'hers'], ['me', 'right'], ['', '']] as const) {
    expect(accepted(1, user, password, accounts)).toBe(false);
  }
  // Ten wrong guesses a minute from each address, and 60 for a name.
  for (let address = 1; address <= 12; address++) {
    for (let guess = 0; guess < 11; guess++) logins.accept(1, { user: 'me', password: 'wrong' }, `198.51.100.${address}`);
  }
  const from = (address: string) => logins.accept(1, { user: 'me', password: 'right' }, address);
  expect([from('198.51.100.1'), from('203.0.113.1')]).toEqual([false, true]);
});

test('clients are found by their keys, also when those were exchanged, and counted together', async () => {
  const clients = new Clients();
  const one = await clientOf({ id: 1, vkey: 'one', ipWhitePassword: 'x' }, { inletBytes: 1, exportBytes: 10 });
  const two = await clientOf({ id: 2, vkey: 'two', ipWhitePassword: 'x' }, { inletBytes: 2, exportBytes: 20 });
  const none = await clientOf({ id: 3, vkey: 'three' });
  for (const entry of [one, two, none]) clients.add(entry);
  const found = (...keys: string[]) => keys.map((key) => [clients.byKeyId(keyIdOf(key))?.wanted.id, clients.byVisitorKey(visitorKeyOf(key))?.wanted.id]);
  expect(found('one', 'two', 'three', 'four')).toEqual([[1, 1], [2, 2], [3, undefined], [undefined, undefined]]);
  const update = async (entry: ClientEntry, wanted: Partial<WantedClient>) =>
    clients.update(entry, { ...entry.wanted, ...CLIENT, ...wanted }, await visitorLists(CLIENT));
  await update(one, { id: 1, vkey: 'two', ipWhitePassword: 'x' });
  await update(two, { id: 2, vkey: 'four', ipWhitePassword: '' });
  expect(found('one', 'two', 'four')).toEqual([[undefined, undefined], [1, 1], [2, undefined]]);

  two.meter.connections = 3;
  one.meter.connections = 4;
  expect(clients.traffic()).toMatchObject({ inletBytes: 3, exportBytes: 30, connections: 7 });
  expect(clients.traffic((id) => id === 2)).toMatchObject({ inletBytes: 2, exportBytes: 20, connections: 3 });
  for (const [index, cause] of refusalCauses.entries()) for (let count = 0; count <= index; count++) (count % 2 === 0 ? one : two).meter.countRefusal(cause);
  expect(clients.refusals()).toEqual(Object.fromEntries(refusalCauses.map((cause, index) => [cause, index + 1])));
  clients.remove(one);
  expect([clients.get(1), ...found('two'), [...clients.all()].length]).toEqual([undefined, [undefined, undefined], 2]);
});

test('each cause of a refusal is counted for each client until it is taken', () => {
  const ticker = new Ticker();
  const meters = [1, 2].map((id) => new Meter(ticker, 'client', id, fresh));
  const tunnel = new Meter(ticker, 'tunnel', 1, fresh);
  const expected = refusalCauses.flatMap((cause, index) => [1, 2].map((clientId) => ({ clientId, cause, count: index + clientId })));
  for (const { clientId, cause, count } of expected) for (let nth = 0; nth < count; nth++) meters[clientId - 1]?.countRefusal(cause);
  tunnel.countRefusal('offline');
  expect(tunnel.refusals).toEqual({ offline: 1 });
  const taken = ticker.refusals.take();
  expect(taken).toHaveLength(expected.length);
  expect(taken).toEqual(expect.arrayContaining(expected));
  expect(ticker.refusals.take()).toEqual([]);
});

const health: HealthState = {
  type: 'tcp',
  intervalMs: 1,
  timeoutMs: 1,
  maxFailed: 1,
  path: '',
  targets: [true, false, true].map((healthy, index) => ({ target: `t:${index}`, healthy, failures: 0, since: null, lastError: '' })),
};
const refusedNothing = { refusals: {} };

test("an agent's overview has each tunnel and host of its client", async () => {
  const client = await clientOf();
  const clients = new Clients();
  clients.add(client);
  const hosts = new Hosts(clients, new Ticker(), new Visitors(), new Certificates(silent), 5000);
  const targets = Array.from({ length: 12 }, (_, index) => `t:${index}`);
  const traffic = { connections: 7, rate: 0, inletRate: 0, exportRate: 0, ...fresh };
  const visitors = (['relay', 'direct', 'relay'] as const).map((path) => ({ address: 'a', since: 0, path }));
  const wanted = tunnelOf({ id: 5, mode: 'p2p', port: 80, targets });
  const tunnel: ClientTunnel = {
    wanted,
    meter: new Meter(parts.ticker, 'tunnel', 5, fresh),
    traffic,
    state: { running: true, error: 'x'.repeat(1001), dropped: 0, visitors, health, ...refusedNothing, ...traffic },
    sync: async () => undefined,
    clientChanged: () => undefined,
    forgetHealth: () => undefined,
    next: undefined,
    previous: undefined,
  };
  client.addTunnel(tunnel);
  for (const [index, location] of ['/', '/path'].entries()) hosts.set(hostOf({ id: 8 + index, host: 'a.test', location, scheme: 'https', targets }));
  const stateOf = (id: number) => id === 8 ? { running: true, error: 'why', ...refusedNothing, ...traffic, health } : undefined;
  const first = { targets: targets.slice(0, 10), health: { healthy: 2, targets: 3 } };
  expect([...overviewOf(client, hosts, stateOf)]).toEqual([
    {
      ...first,
      kind: 'tunnel',
      id: 5,
      type: 'p2p',
      host: '',
      port: 80,
      running: true,
      error: 'x'.repeat(1000),
      connections: 7,
      visitors: { relay: 2, direct: 1 },
    },
    { ...first, kind: 'host', id: 8, type: 'https', host: 'a.test', port: 0, running: true, error: 'why', connections: 0, visitors: { relay: 0, direct: 0 } },
    {
      ...first,
      health: null,
      kind: 'host',
      id: 9,
      type: 'https',
      host: 'a.test/path',
      port: 0,
      running: false,
      error: '',
      connections: 0,
      visitors: { relay: 0, direct: 0 },
    },
  ]);
});

test('all visitors of a server, and those of one address, have as many connections as the documents say', () => {
  const visitors = new Visitors();
  const entered = (address: string, times: number) => Array.from({ length: times }, () => visitors.enter(address)).filter(Boolean).length;
  expect(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => entered(address, 12_501))).toEqual([12_500, 12_500, 12_500]);
  expect([entered('192.0.2.4', 12_499), entered('192.0.2.5', 2), visitors.open]).toEqual([12_499, 1, 50_000]);
});

test('a password allows an address for two hours, and 1,000 addresses of a client', () => {
  const allowed = new AllowedAddresses();
  allowed.add('a', 5);
  expect([allowed.has('a', 7_200_004), allowed.has('a', 7_200_005)]).toEqual([true, false]);
  for (let n = 1; n < 1000; n++) allowed.add(`${n}`, 5);
  expect([allowed.has('a', 6), allowed.has('999', 6)]).toEqual([true, true]);
  allowed.add('b', 5);
  expect(['a', '1', 'b'].map((address) => allowed.has(address, 6))).toEqual([false, true, true]);
});

test('an agent may begin 60 sessions at once and one a second, and none for five seconds after it broke the protocol', () => {
  const record = new AgentRecord();
  const begun = (now: number, times: number) => Array.from({ length: times }, () => record.maySession(now)).filter(Boolean).length;
  expect([begun(0, 61), begun(1000, 2), begun(3000, 3)]).toEqual([60, 1, 2]);
  record.sessionBroken(100_000);
  expect([99_999, 100_000, 104_999, 105_000].map((now) => record.maySession(now))).toEqual([true, false, false, true]);
});
