import { createHash } from 'node:crypto';
import type net from 'node:net';
import { expect, test } from '@jest/globals';
import type { WantedClient } from '../../src/engine/face.ts';
import { Attempts } from '../../src/rules/attempts.ts';
import { AllowedAddresses } from '../../src/engine/limits/allowed-addresses.ts';
import { ClientLogins } from '../../src/engine/limits/client-logins.ts';
import { eventually } from '../support/eventually.ts';
import { closed, refusal, roundTrip, startEcho, startTarget, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, fresh, openTunnel, startAgent, startEngine, type TestEngine, tunnelOf } from '../support/tunnel.ts';

const here = '127.0.0.1';

/** An engine whose client is limited, with its agent and a tunnel to an echo. */
async function limited(limits: Partial<WantedClient>, moved = fresh) {
  const server = await startEngine({ stored: { clients: [{ ...CLIENT, ...limits, ...moved }] } });
  const { log } = await startAgent(server);
  const tunnel = await openTunnel(server, { targets: [(await startEcho()).address] });
  return { server, log, tunnel };
}

function change({ engine }: TestEngine, limits: Partial<WantedClient>): Promise<void> {
  return engine.apply({ kind: 'client', client: { ...CLIENT, ...limits } });
}

async function greeted(port: number): Promise<net.Socket> {
  const visitor = await visit(port);
  expect(await roundTrip(visitor, 'hello')).toBe('hello');
  return visitor;
}

test.each(
  [
    ['the blacklist', 'blackList', { blackIpList: '192.0.2.1\n127.0.0.0/8' }],
    ['the whitelist', 'whiteList', { ipWhite: true, ipWhiteList: '192.0.2.0/24\nnot an address' }],
    ['a whitelist of which no line is understood', 'whiteList', { ipWhite: true, ipWhiteList: '127.0.0' }],
  ] as const,
)('%s turns a visitor away, which is counted for tunnel and client', async (_, cause, limits) => {
  const { server, tunnel } = await limited(limits);
  await visitUntilClosed(tunnel.port);
  await visitUntilClosed(tunnel.port);
  expect(server.engine.tunnelState(tunnel.id)?.refusals).toEqual({ [cause]: 2 });
  expect(server.engine.clientState(CLIENT.id)?.refusals).toEqual({ [cause]: 2 });
  expect(server.engine.takeRefusals()).toEqual([{ clientId: CLIENT.id, cause, count: 2 }]);
  expect(server.engine.takeRefusals()).toEqual([]);
  await visitUntilClosed(tunnel.port);
  expect(server.engine.takeRefusals()).toEqual([{ clientId: CLIENT.id, cause, count: 1 }]);
});

test.each([
  ['a black list of the client', { blackIpList: here }],
  ['a white list of the client', { ipWhite: true, ipWhiteList: '192.0.2.0/24' }],
])('%s cuts open connections when it becomes active, and admits visitors again when it ends', async (_, limits) => {
  const { server, tunnel } = await limited({});
  const visitor = await greeted(tunnel.port);
  await change(server, limits);
  await closed(visitor);
  await visitUntilClosed(tunnel.port);
  await change(server, {});
  expect(await roundTrip(await visit(tunnel.port), 'again')).toBe('again');
});

test('the global blacklist cuts open connections of every client, and of no address that it does not hold', async () => {
  const { server, tunnel } = await limited({});
  const visitor = await greeted(tunnel.port);
  await server.engine.apply({ kind: 'blackIpList', list: ['127.0.0.2', 'rubbish', '10.0.0.0/8'] });
  expect(await roundTrip(visitor, 'still here')).toBe('still here');
  await server.engine.apply({ kind: 'blackIpList', list: ['::ffff:127.0.0.0/120'] });
  await closed(visitor);
  await visitUntilClosed(tunnel.port);
  expect(server.engine.tunnelState(tunnel.id)?.refusals).toEqual({ globalBlackList: 1 });
});

test('a change that has nothing to do with a visitor leaves the connection alone', async () => {
  const { server, tunnel } = await limited({ maxConnections: 5, blackIpList: '192.0.2.1' });
  const visitor = await greeted(tunnel.port);
  await change(server, { maxConnections: 1, flowLimit: 2 ** 30, rateLimit: 2 ** 30, ipWhite: true, ipWhiteList: here, basicUser: 'x' });
  expect(await roundTrip(visitor, 'still here')).toBe('still here');
});

test('of a burst over two tunnels exactly as many connections are admitted as the client may have, and another one when one closes', async () => {
  const { server, tunnel } = await limited({ maxConnections: 7 });
  const other = await openTunnel(server, { targets: [(await startEcho()).address] });
  const sockets = await Promise.all(Array.from({ length: 100 }, (_, n) => visit(n % 2 === 0 ? tunnel.port : other.port)));
  const answers = await Promise.all(sockets.map((socket) => Promise.race([roundTrip(socket, 'in').catch(() => 'out'), closed(socket).then(() => 'out')])));
  expect(answers.filter((answer) => answer === 'in')).toHaveLength(7);
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connections: 7, refusals: { connections: 93 } });
  const index = answers.indexOf('in');
  const gone = sockets[index];
  if (!gone) throw new Error('no visitor was admitted');
  gone.end();
  await closed(gone);
  await greeted(tunnel.port);
  expect(server.engine.clientState(CLIENT.id)?.connections).toBe(7);
});

test('a lower limit of connections cuts the newest that are too many', async () => {
  const { server, tunnel } = await limited({});
  const visitors: net.Socket[] = [];
  for (let n = 0; n < 4; n++) visitors.push(await greeted(tunnel.port));
  await change(server, { maxConnections: 2 });
  const [first, second, third, fourth] = visitors;
  if (!first || !second || !third || !fourth) throw new Error('four visitors');
  await Promise.all([closed(third), closed(fourth)]);
  expect(await roundTrip(first, 'a') + await roundTrip(second, 'b')).toBe('ab');
  expect(server.engine.clientState(CLIENT.id)?.connections).toBe(2);
});

test('above the flow limit, open connections are closed and new ones refused; a higher limit admits them again', async () => {
  const limit = 3 * 2 ** 20;
  const { server, tunnel } = await limited({ flowLimit: limit }, { inletBytes: 2 ** 20, exportBytes: 0 });
  const idle = await greeted(tunnel.port);
  const busy = await visit(tunnel.port);
  busy.on('data', () => undefined);
  const chunk = Buffer.alloc(64 * 1024);
  const writing = setInterval(() => busy.write(chunk), 1);
  await Promise.all([closed(busy), closed(idle)]);
  clearInterval(writing);
  const { inletBytes = 0, exportBytes = 0 } = server.engine.clientState(CLIENT.id) ?? {};
  expect(inletBytes + exportBytes).toBeGreaterThan(limit);
  expect(inletBytes + exportBytes).toBeLessThan(limit + 2 ** 20);
  await visitUntilClosed(tunnel.port);
  expect(server.engine.clientState(CLIENT.id)?.refusals).toEqual({ flow: 1 });
  await change(server, { flowLimit: limit * 2 });
  await greeted(tunnel.port);
});

test("after a reset of a client's traffic, visitors that the flow limit refused are admitted again, until the limit is exceeded again", async () => {
  const limit = 2 ** 20;
  const used = { inletBytes: limit + 1000, exportBytes: 5 };
  const { server, tunnel } = await limited({ flowLimit: limit }, used);
  await visitUntilClosed(tunnel.port);
  await server.engine.apply({ kind: 'trafficReset', of: 'client', id: CLIENT.id, ...used, inletBytes: limit });
  // What moved since the totals were read still counts.
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ inletBytes: 1000, exportBytes: 0, rate: 0 });
  expect((await server.engine.takeDirty()).clients).toMatchObject([{ id: CLIENT.id, inletBytes: 1000, exportBytes: 0 }]);
  const visitor = await greeted(tunnel.port);
  visitor.on('data', () => undefined).write(Buffer.alloc(limit));
  await closed(visitor);
  await server.engine.apply({ kind: 'trafficReset', of: 'tunnel', id: tunnel.id, inletBytes: 1, exportBytes: 1 });
  await server.engine.apply({ kind: 'trafficReset', of: 'host', id: 99, inletBytes: 1, exportBytes: 1 });
});

test('a flow limit that is set below what was used already cuts at once', async () => {
  const { server, tunnel } = await limited({}, { inletBytes: 0, exportBytes: 5 * 2 ** 20 });
  const visitor = await greeted(tunnel.port);
  await change(server, { flowLimit: 2 ** 20 });
  await closed(visitor);
  expect(server.engine.clientState(CLIENT.id)?.connections).toBe(0);
});

test('an expiry that is brought forward closes the connections of agent and visitors at its time, without waiting for a sweep', async () => {
  const { server, log, tunnel } = await limited({ expiresAt: Date.now() + 3_600_000 });
  const visitor = await greeted(tunnel.port);
  const expiresAt = Date.now() + 200;
  await change(server, { expiresAt });
  await closed(visitor);
  const late = Date.now() - expiresAt;
  expect(late).toBeGreaterThanOrEqual(-5);
  expect(late).toBeLessThan(20_000);
  await log.line(/the client has expired/);
  expect(server.engine.clientState(CLIENT.id)?.connected).toBe(false);
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: false, error: 'the client has expired' });
  expect(await refusal(tunnel.port)).toBe('ECONNREFUSED');
});

test('expiries that are stored when the engine starts hold at their times, one after the other, without waiting for a sweep', async () => {
  const start = Date.now();
  const clients = [400, 700].map((ms, index) => ({ ...CLIENT, id: CLIENT.id + index, vkey: `key ${index}`, expiresAt: start + ms, ...fresh }));
  const tunnels = clients.map(({ id }) => tunnelOf({ clientId: id, mode: 'secret', password: `of visitors of ${id}` }));
  const { engine } = await startEngine({ stored: { clients, tunnels: tunnels.map((tunnel) => ({ ...tunnel, ...fresh })) } });
  for (const [index, { id }] of tunnels.entries()) {
    await eventually(() => engine.tunnelState(id)?.error, (error) => error === 'the client has expired');
    const late = Date.now() - (clients[index]?.expiresAt ?? 0);
    expect(late).toBeGreaterThanOrEqual(-5);
    expect(late).toBeLessThan(20_000);
  }
});

test('visitors without an agent, without a target and beyond what the server takes are counted by their causes', async () => {
  const server = await startEngine({ visitorShares: { total: 1, perAddress: 1 } });
  const { address } = await startTarget();
  const tunnel = await openTunnel(server, { targets: [address] });
  await visitUntilClosed(tunnel.port);
  await startAgent(server);
  const empty = await openTunnel(server, { targets: [] });
  await visitUntilClosed(empty.port);
  await visit(tunnel.port);
  await visitUntilClosed(tunnel.port);
  expect(server.engine.tunnelState(tunnel.id)?.refusals).toEqual({ offline: 1, capacity: 1 });
  expect(server.engine.tunnelState(empty.id)?.refusals).toEqual({ noTarget: 1 });
  expect(server.engine.clientState(CLIENT.id)?.refusals).toEqual({ offline: 1, capacity: 1, noTarget: 1 });
});

test('the password allows a visitor for two hours despite the allowlist, but not despite blacklists; a new password must be given again', async () => {
  let now = Date.now();
  const limits = { ipWhite: true, ipWhitePassword: 'open the door' };
  const server = await startEngine({ now: () => now, stored: { clients: [{ ...CLIENT, ...limits, ...fresh }] } });
  await startAgent(server);
  const tunnel = await openTunnel(server, { targets: [(await startEcho()).address] });
  const key = createHash('md5').update(CLIENT.vkey).digest('hex');
  expect(server.engine.clientOfVisitors(key)).toBe(CLIENT.id);
  await visitUntilClosed(tunnel.port);
  expect(server.engine.allowByPassword(CLIENT.id, here, 'let me out')).toBe(false);
  expect(server.engine.isAllowedByPassword(CLIENT.id, here)).toBe(false);
  expect(server.engine.allowByPassword(CLIENT.id, `::ffff:${here}`, 'open the door')).toBe(true);
  expect(server.engine.isAllowedByPassword(CLIENT.id, here)).toBe(true);
  const visitor = await greeted(tunnel.port);
  now += 2 * 3_600_000;
  await visitUntilClosed(tunnel.port);
  expect(await roundTrip(visitor, 'still here')).toBe('still here');
  server.engine.allowByPassword(CLIENT.id, here, 'open the door');
  const again = await greeted(tunnel.port);
  await change(server, { ...limits, blackIpList: here });
  await Promise.all([closed(visitor), closed(again)]);
  await change(server, limits);
  const third = await greeted(tunnel.port);
  await change(server, { ...limits, ipWhitePassword: 'another' });
  await closed(third);
  await change(server, { ...limits, ipWhitePassword: '' });
  expect(server.engine.clientOfVisitors(key)).toBeUndefined();
  expect(server.engine.allowByPassword(CLIENT.id, here, '')).toBe(false);
});

test('however many addresses guess the login of a client, another one gets in with it, and none that has guessed', () => {
  const login = { user: 'name', password: 'word' };
  const attempts = new Attempts();
  const names = new Set<string>();
  attempts.watch(({ name }) => names.add(name));
  const logins = new ClientLogins(() => ({ ...CLIENT, basicUser: login.user, basicPassword: login.password }), attempts, () => 0);
  const guesses = Array.from({ length: 200 }, (_, n) => logins.accept(CLIENT.id, { ...login, password: `guess ${n}` }, `192.0.2.${n % 20}`));
  expect(guesses.filter(Boolean)).toEqual([]);
  expect([...names]).toEqual(Array.from({ length: 20 }, (_, n) => `client ${CLIENT.id} from 192.0.2.${n}`));
  expect(['192.0.2.0', '198.51.100.1'].map((address) => logins.accept(CLIENT.id, login, address))).toEqual([false, true]);
  // Of a proxy with accounts only these get in, and nobody without a name.
  const accounts = [{ user: 'one', password: 'its' }, { user: 'two', password: 'its own' }];
  const given = [login, { user: '', password: '' }, { user: 'one', password: 'its own' }, { user: 'two', password: 'its own' }];
  expect(given.map((each) => logins.accept(CLIENT.id, each, '198.51.100.1', accounts))).toEqual([false, false, false, true]);
});

test('if too many visitors are allowed by password, the oldest are forgotten', () => {
  const allowed = new AllowedAddresses();
  for (let n = 0; n < 1005; n++) allowed.add(`10.0.${n >> 8}.${n & 255}`, n);
  expect([allowed.has('10.0.0.4', 2000), allowed.has('10.0.0.5', 2000), allowed.has('10.0.3.236', 2000)]).toEqual([false, true, true]);
});

test('a visitor that enters the password again is allowed from then on, and is no longer the oldest', () => {
  const allowed = new AllowedAddresses();
  const [first, hour] = ['192.0.2.1', 3_600_000];
  allowed.add(first, 0);
  allowed.add('192.0.2.2', 1);
  allowed.add(first, hour);
  for (let n = 0; n < 999; n++) allowed.add(`10.0.${n >> 8}.${n & 255}`, hour);
  expect([allowed.has(first, 3 * hour - 1), allowed.has('192.0.2.2', hour)]).toEqual([true, false]);
});

test('a visitor is not allowed for longer if the clock is set back', () => {
  const allowed = new AllowedAddresses();
  const day = 86_400_000;
  allowed.add('192.0.2.1', day);
  expect([allowed.has('192.0.2.1', day), allowed.has('192.0.2.1', day + 7_199_999), allowed.has('192.0.2.1', 0)]).toEqual([true, true, false]);
});
