import { expect, jest, test } from '@jest/globals';
import { Attempts } from '../../src/rules/attempts.ts';
import { HandshakeError, type Refusal } from '../../src/wire/handshake-error.ts';
import { keyIdOf, proveHandshake, type Role } from '../../src/wire/handshake.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { eventually } from '../support/eventually.ts';
import { Relay } from '../support/relay.ts';
import { stopClock } from '../support/stopped-clock.ts';
import { closed, roundTrip, startEcho, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, fresh, launchAgent, openTunnel, startAgent, startEngine, type TestEngine, tunnelOf } from '../support/tunnel.ts';

const SECOND = { ...CLIENT, id: 2, vkey: 'the-second-vkey' };
const both = { stored: { clients: [{ ...CLIENT, ...fresh }, { ...SECOND, ...fresh }] } };

/** A connection that has proven a vkey and then does what it likes. */
async function provenSocket({ bridge }: TestEngine, vkey = CLIENT.vkey): Promise<ByteSocket> {
  const socket = await netBackend.connect({ ...bridge, timeoutMs: 1000 });
  await proveHandshake(socket, { timeoutMs: 1000, role: 'mux', keyId: keyIdOf(vkey), key: vkey, connection: 0, info: {} });
  return socket;
}

test('a second agent with the same vkey replaces the first, and the log names both addresses', async () => {
  const server = await startEngine();
  const first = await startAgent(server);
  const replaced = first.log.next(/another agent connected with the same vkey/);
  await startAgent(server);
  await replaced;
  const entry = await server.log.line(/second agent with the same vkey replaces the first/);
  expect(entry).toMatchObject({ clientId: 1, was: expect.stringMatching(/^127\.0\.0\.1:\d+$/), now: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
  expect(entry['was']).not.toBe(entry['now']);
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({
    connected: true,
    connectedSince: expect.any(Number),
    lastHeardAt: expect.any(Number),
    secure: false,
    end: null,
  });
  expect(server.engine.records.clients.get(CLIENT.id)?.history.sessions).toMatchObject([
    { until: null, end: null, endText: '' },
    { until: expect.any(Number), address: '127.0.0.1', version: '0.0.1', end: 'replaced', endText: expect.stringMatching(/same vkey from 127/) },
  ]);
});

test('the last ten sessions of an agent are remembered, each with its end', async () => {
  const server = await startEngine();
  for (let n = 0; n < 11; n++) {
    const { agent } = await startAgent(server);
    await agent.stop();
    await eventually(() => server.engine.clientState(CLIENT.id)?.connected, (connected) => connected === false);
  }
  const sessions = server.engine.records.clients.get(CLIENT.id)?.history.sessions ?? [];
  expect(sessions).toHaveLength(10);
  expect(new Set(sessions.map(({ end }) => end))).toEqual(new Set(['agentStopped']));
  expect(sessions[0]?.since).toBeGreaterThanOrEqual(sessions[9]?.since ?? Number.POSITIVE_INFINITY);
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ end: 'agentStopped', connectedSince: null, lastHeardAt: null, version: '0.0.1' });
});

test('the visitors of a replaced agent are closed, new ones go to the second', async () => {
  const server = await startEngine();
  await startAgent(server);
  const { port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  const before = await visit(port);
  await roundTrip(before, 'x');
  await startAgent(server, { random: () => 0.999 });
  await closed(before);
  expect(await roundTrip(await visit(port), 'again')).toBe('again');
});

test.each([
  ['disabled', { enabled: false }, /the client is disabled/],
  ['expired', { expiresAt: 1 }, /the client has expired/],
])('an agent whose client is %s is refused, with the reason', async (_, change, text) => {
  const server = await startEngine({ stored: { clients: [{ ...CLIENT, ...change, ...fresh }] } });
  expect((await launchAgent(server).log.line(/^refused by/)).msg).toMatch(text);
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connected: false, lastOnlineAt: null });
  expect(server.engine.counts.refused).toBe(1);
});

test.each(
  [
    ['disabled', { kind: 'client', client: { ...CLIENT, enabled: false } }, /the client is disabled/, 'disabled'],
    ['given another vkey', { kind: 'client', client: { ...CLIENT, vkey: 'another' } }, /the vkey of the client was changed/, 'keyChanged'],
    ['deleted', { kind: 'clientRemoved', id: CLIENT.id }, /the client was deleted/, undefined],
  ] as const,
)('the agent of a client that is %s is disconnected at once, with the reason', async (_, change, text, end) => {
  const server = await startEngine();
  const { log } = await startAgent(server);
  await server.engine.apply(change);
  expect((await log.line(/^connection to .* lost/)).msg).toMatch(text);
  expect(server.engine.clientState(CLIENT.id)?.connected ?? false).toBe(false);
  expect(server.engine.clientState(CLIENT.id)?.end).toBe(end);
});

test('a client that expires is cut off by the next sweep, and is back when its time is extended', async () => {
  let now = 1000;
  const expiring = { ...CLIENT, expiresAt: 2000 };
  const server = await startEngine({ now: () => now, stored: { clients: [{ ...expiring, ...fresh }] } });
  const { log } = await startAgent(server, { random: () => 0.01 });
  const tunnel = await openTunnel(server, { targets: ['127.0.0.1:9'] });
  await server.engine.sweep();
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: true });
  now = 2000;
  const back = log.next(/^connected to/);
  await server.engine.sweep();
  await log.line(/the client has expired/);
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: false, error: 'the client has expired' });
  await server.engine.apply({ kind: 'client', client: { ...expiring, expiresAt: null } });
  await back;
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: true, error: '' });
});

test('clients that expire together let the event loop go on between their tunnels', async () => {
  let now = 1000;
  const clients = Array.from({ length: 500 }, (_, n) => ({ ...CLIENT, ...fresh, id: n + 1, vkey: `vkey-${n}`, expiresAt: 2000 }));
  const tunnels = clients.flatMap(({ id }) =>
    [1, 2, 3, 4].map((n) => ({ ...tunnelOf({ id: id * 10 + n, clientId: id, mode: 'secret', password: `password-${id}-${n}` }), ...fresh }))
  );
  const server = await startEngine({ now: () => now, stored: { clients, tunnels } });
  now = 2000;
  let iterations = 0;
  let swept = false;
  const count = (): void => {
    iterations++;
    if (!swept) setImmediate(count);
  };
  setImmediate(count);
  await server.engine.sweep();
  swept = true;
  expect(tunnels.filter(({ id }) => server.engine.tunnelState(id)?.running !== false)).toEqual([]);
  expect(iterations).toBeGreaterThanOrEqual(10);
});

test('the state of many tunnels is gathered without holding the event loop', async () => {
  const tunnels = Array.from({ length: 10_000 }, (_, n) => ({ ...tunnelOf({ id: n + 1, mode: 'secret', password: `password-${n}` }), ...fresh }));
  const server = await startEngine({ node: undefined, stored: { tunnels } });
  let gathered = false;
  const gathering = server.engine.takeDirty().then((batch) => {
    gathered = true;
    return batch;
  });
  await new Promise(setImmediate);
  expect(gathered).toBe(false);
  expect((await gathering).tunnels).toHaveLength(tunnels.length);
});

test('a client that expired between two sweeps is cut off by its next visitor', async () => {
  let now = 1000;
  const server = await startEngine({ now: () => now, stored: { clients: [{ ...CLIENT, expiresAt: 2000, ...fresh }] } });
  const { log } = await startAgent(server);
  const tunnel = await openTunnel(server, { targets: [(await startEcho()).address] });
  now = 2000;
  await visitUntilClosed(tunnel.port);
  expect((await log.line(/^connection to .* lost/)).msg).toMatch(/the client has expired/);
});

/** Authenticates with a key. @returns how long the answer took, in ms, and the refusal; undefined = the server accepted the key */
async function offer(
  { bridge }: TestEngine,
  key: string,
  role: Role = 'mux',
): Promise<{ readonly ms: number; readonly refusal: Refusal | undefined }> {
  const start = performance.now();
  const socket = await netBackend.connect({ ...bridge, timeoutMs: 1000 });
  try {
    await proveHandshake(socket, { timeoutMs: 10_000, role, keyId: keyIdOf(key), key, connection: 0, info: {} });
    return { ms: performance.now() - start, refusal: undefined };
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error;
    return { ms: performance.now() - start, refusal: error.refusal };
  } finally {
    socket.destroy();
  }
}

test('wrong vkeys are refused with growing delays; other clients are not affected', async () => {
  const server = await startEngine(both);
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const { ms, refusal } = await offer(server, `guess ${i}`);
    expect(refusal).toEqual({ code: 'unknown-key', text: 'the server does not know this vkey' });
    times.push(ms);
  }
  expect(times[3]).toBeGreaterThan(200);
  expect(times[4]).toBeGreaterThan(450);
  // The first ones are not delayed, but other programs may use the processors.
  expect(Math.min(...times.slice(0, 3))).toBeLessThan(200);
  expect(server.engine.counts).toMatchObject({ sessions: 0, refused: 5 });
});

test('an agent that repeats the same wrong vkey does not delay others at its address, and is logged once', async () => {
  const server = await startEngine(both);
  const own = [];
  for (let i = 0; i < 5; i++) own.push(await offer(server, 'the key of a deleted client'));
  expect(own.map(({ refusal }) => refusal?.code)).toEqual(Array(5).fill('unknown-key'));
  // It waits itself.
  expect(own[4]?.ms).toBeGreaterThan(450);
  expect((await offer(server, SECOND.vkey)).ms).toBeLessThan(own[4]?.ms ?? 0);
  expect(server.log.entries.filter(({ level, msg }) => level >= 40 && /no client has/.test(msg))).toHaveLength(1);
});

test('guesses from an address do not delay clients that were last seen there; others wait, and get the retry delay', async () => {
  const seen = { ...CLIENT, ...fresh, lastAddress: '127.0.0.1' };
  const attempts = new Attempts();
  const server = await startEngine({ attempts, stored: { clients: [seen, { ...SECOND, ...fresh, lastAddress: '192.0.2.1' }] } });
  const warnings = jest.fn<(warning: Error) => void>();
  process.on('warning', warnings);
  await Promise.all(Array.from({ length: 30 }, (_, i) => offer(server, `guess ${i}`)));
  const [known, ...others] = await Promise.all([offer(server, CLIENT.vkey), ...Array.from({ length: 4 }, () => offer(server, SECOND.vkey))]);
  expect(known).toEqual({ ms: expect.any(Number), refusal: undefined });
  expect(known?.ms).toBeLessThan(3000);
  expect(others.map(({ refusal }) => refusal)).toContainEqual({
    code: 'busy',
    text: 'too many wrong keys came from this address: try again later',
    retryAfterMs: 5000,
  });
  process.off('warning', warnings);
  // However many wait.
  expect(warnings).not.toHaveBeenCalledWith(expect.objectContaining({ name: 'MaxListenersExceededWarning' }));
  // The session in reserve of an agent counts like its session.
  const queued = jest.spyOn(attempts, 'queueKey');
  await offer(server, CLIENT.vkey, 'standby');
  expect(queued.mock.calls).toEqual([['127.0.0.1', expect.any(Number), { lastSeenAt: '127.0.0.1' }]]);
});

test('garbage on the bridge port is closed at once and counted', async () => {
  const server = await startEngine();
  const socket = await visit(server.bridge.port);
  socket.write('GET / HTTP/1.1\r\nHost: example.com\r\n\r\n');
  await closed(socket);
  expect(server.engine.counts).toMatchObject({ garbage: 1, handshakes: 0, sessions: 0 });
});

test('an agent of the NPS family is named in the log, with what to do, once an hour for its address', async () => {
  const server = await startEngine();
  for (const parts of [['TST', '\u0006\0\0\u00000.26.0'], ['T', 'ST']]) {
    const socket = await visit(server.bridge.port);
    socket.setNoDelay();
    for (const part of parts) socket.write(part);
    await closed(socket);
  }
  expect(server.engine.counts).toMatchObject({ garbage: 2, handshakes: 0 });
  const lines = server.log.entries.filter(({ msg }) => msg.includes('npc'));
  expect(lines).toEqual([
    expect.objectContaining({ level: 40, address: '127.0.0.1', msg: expect.stringMatching(/NPS family.*run `adit agent --server HOST:PORT`.*ADIT_VKEY/) }),
  ]);
});

test('silence on the bridge port is closed within the time limit and counted', async () => {
  const server = await startEngine({ bridgeTiming: { handshakeMs: 50 } });
  const sockets = await Promise.all([visit(server.bridge.port), visit(server.bridge.port)]);
  sockets[0].write('ADIT');
  await eventually(() => server.engine.counts.garbage, (count) => count === 2);
  await Promise.all(sockets.map(closed));
  expect(server.engine.counts.handshakes).toBe(0);
});

test('the unfinished handshakes of one address are limited; an agent beyond the limit gets a retry delay and logs it', async () => {
  const server = await startEngine({ bridgeTiming: { places: { total: 100, perAddress: 5, minAgeMs: 60_000 } } });
  const silent = await Promise.all(Array.from({ length: 5 }, () => visit(server.bridge.port)));
  await eventually(() => server.engine.counts.handshakes, (count) => count === 5);
  // The longest delay is 5 s.
  const random = jest.spyOn(Math, 'random').mockReturnValue(1);
  const { log } = launchAgent(server, { random: () => 0 });
  const { msg, state } = await log.line(/^refused by/);
  random.mockRestore();
  expect(msg).toMatch(/: too many connect at the same time; trying again in 5\.0 s$/);
  expect(state).toMatchObject({ event: 'disconnected', retryMs: expect.any(Number) });
  expect(server.engine.counts).toMatchObject({ handshakes: 5, handshakesRefused: 1 });
  for (const socket of silent) socket.destroy();
  await log.line(/^connected to/);
});

test('a client that begins too many sessions gets a retry delay; others are not affected', async () => {
  let now = 1_000_000;
  const server = await startEngine({ ...both, now: () => now });
  const refused: unknown[] = [];
  for (let i = 0; i < 62; i++) refused.push((await offer(server, CLIENT.vkey)).refusal);
  expect(refused.slice(0, 60)).toEqual(Array(60).fill(undefined));
  const tooOften = { code: 'too-often', text: 'its sessions begin too often', retryAfterMs: 5000 };
  expect(refused.slice(60)).toEqual([tooOften, tooOften]);
  expect((await offer(server, SECOND.vkey)).refusal).toBeUndefined();
  now += 1000;
  expect([(await offer(server, CLIENT.vkey)).refusal, (await offer(server, CLIENT.vkey)).refusal?.code]).toEqual([undefined, 'too-often']);
});

test('silent connections keep no agent out: the oldest of them goes', async () => {
  const server = await startEngine({ bridgeTiming: { places: { total: 100, perAddress: 5, minAgeMs: 0 } } });
  const silent = await Promise.all(Array.from({ length: 5 }, () => visit(server.bridge.port)));
  await eventually(() => server.engine.counts.handshakes, (count) => count === 5);
  await startAgent(server);
  await Promise.race(silent.map(closed));
  expect(server.engine.counts).toMatchObject({ sessions: 1, handshakesRefused: 0 });
});

test('a handshake that the server lets wait is not the one that goes for another one', async () => {
  const attempts = new Attempts();
  const server = await startEngine({ ...both, attempts, bridgeTiming: { places: { total: 100, perAddress: 1, minAgeMs: 0 } } });
  for (let guess = 0; guess < 4; guess++) attempts.keyFailed('127.0.0.1', Date.now(), `key id ${guess}`);
  const queued = jest.spyOn(attempts, 'queueKey');
  const waiting = offer(server, 'another guess');
  await eventually(() => queued.mock.calls.length, (calls) => calls === 1);
  await visitUntilClosed(server.bridge.port);
  expect(server.engine.counts).toMatchObject({ handshakes: 1, handshakesRefused: 1 });
  expect((await waiting).refusal?.code).toBe('unknown-key');
});

test.each([
  ['an unknown frame type', Buffer.from([99, 0, 0, 0, 0, 0, 0, 0, 0])],
  ['an endless length', Buffer.from([2, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff])],
  ['control that is no JSON', Buffer.from([8, 0, 0, 0, 0, 0, 0, 0, 1, 0x7b])],
])('%s ends that session and no other, and the next one of that client does not begin for 5 s', async (_, bytes) => {
  let now = 1_000_000;
  const server = await startEngine({ ...both, now: () => now });
  await startAgent(server, { vkey: SECOND.vkey });
  const { port } = await openTunnel(server, { clientId: SECOND.id, targets: [(await startEcho()).address] });
  const other = await visit(port);
  const bad = await provenSocket(server);
  const gone = new Promise<void>((resolve) => {
    bad.attach({ onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => resolve() });
  });
  await eventually(() => server.engine.clientState(CLIENT.id)?.connected, Boolean);
  bad.write(bytes);
  await gone;
  expect((await server.log.line(/agent disconnected/))['reason']).toMatch(/protocol error/);
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connected: false, end: 'protocol' });
  expect(await roundTrip(other, 'unharmed')).toBe('unharmed');
  now += 4999;
  expect((await offer(server, CLIENT.vkey)).refusal).toMatchObject({ code: 'too-often', retryAfterMs: 5000 });
  now += 1;
  expect((await offer(server, CLIENT.vkey)).refusal).toBeUndefined();
});

test('an agent that falls silent is disconnected, and its visitors are closed', async () => {
  const passUntil = stopClock();
  const server = await startEngine({ bridgeTiming: { heartbeatMs: 40 } });
  const relay = await Relay.start(server.bridge.port);
  // It is not back before the server has noticed: both do after the same time.
  await startAgent({ bridge: relay.address }, { random: () => 0.99 });
  const { port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  const visitor = await visit(port);
  await roundTrip(visitor, 'x');
  relay.freeze();
  expect((await passUntil(server.log.line(/agent disconnected/)))['reason']).toMatch(/no sign of life/);
  expect(server.engine.records.clients.get(CLIENT.id)?.history.sessions).toMatchObject([{ end: 'lost', endText: expect.stringMatching(/no sign of life/) }]);
});

test('the agent notices a frozen server too and connects again', async () => {
  const passUntil = stopClock();
  const server = await startEngine({ bridgeTiming: { heartbeatMs: 40 } });
  const relay = await Relay.start(server.bridge.port);
  const { log } = await startAgent({ bridge: relay.address }, { random: () => 0 });
  const back = log.next(/^connected to/);
  relay.freeze();
  expect((await passUntil(log.line(/^connection to .* lost/))).msg).toMatch(/no sign of life/);
  expect((await back).msg).toMatch(/as client 1$/);
});

test('an address that guesses keys is listed in the lockouts, and admitted at once when it is freed', async () => {
  const attempts = new Attempts();
  const server = await startEngine({ ...both, attempts });
  for (let i = 0; i < 4; i++) await offer(server, `guess ${i}`);
  const source = '127.0.0.1';
  expect(attempts.lockouts(Date.now())).toEqual([{ credential: 'vkey', kind: 'address', source, until: expect.any(Date) }]);
  expect(attempts.queueKey(source, Date.now(), { lastSeenAt: '' })).toBeGreaterThan(0);
  expect(attempts.free({ kind: 'address', source }, Date.now())).toHaveLength(1);
  expect(attempts.queueKey(source, Date.now(), { lastSeenAt: '' })).toBe(0);
});
