import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import os from 'node:os';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { isUsable, ownCandidates } from '../../src/agent/direct/candidates.ts';
import { DirectHost } from '../../src/agent/direct/direct-host.ts';
import { openPath } from '../../src/agent/direct/open-path.ts';
import { PathKey, Probe } from '../../src/agent/direct/path-key.ts';
import { secureDirect } from '../../src/agent/direct/secure.ts';
import { Signal } from '../../src/agent/direct/signal.ts';
import { loadUdx } from '../../src/agent/direct/udx.ts';
import { StunServer } from '../../src/engine/stun-server.ts';
import { MAX_CANDIDATES } from '../../src/wire/direct-messages.ts';
import { joinedEnds } from '../../src/wire/joined-ends.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket, OnDialled } from '../../src/wire/socket.ts';
import { stunMapped, stunRequest, stunResponse } from '../../src/wire/stun.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';

const udx = await loadUdx();

describe('the public address', () => {
  test.each([['192.0.2.7', 65_535], ['10.0.0.1', 1], ['2001:db8::1', 4000], ['fd00::ab:0:0:2', 99]])('%s port %i arrives', (host, port) => {
    const request = stunRequest();
    const response = stunResponse(request, { host, port });
    expect(response?.length).toBeLessThanOrEqual(request.length);
    expect(stunMapped(response ?? Buffer.alloc(0), request)).toEqual({ host, port });
  });

  test('every form of IPv6 is understood, and reported in the short form', () => {
    const request = stunRequest();
    expect(stunMapped(stunResponse(request, { host: '2001:db8:0:0:0:0:0:1', port: 5 }) ?? Buffer.alloc(0), request)).toEqual({ host: '2001:db8::1', port: 5 });
  });

  test('malformed messages are ignored and get no response', () => {
    const request = stunRequest();
    for (let length = 0; length < 80; length++) {
      const noise = randomBytes(length);
      expect(stunMapped(noise, request)).toBeUndefined();
      expect(stunResponse(noise, { host: '192.0.2.7', port: 1 })).toBeUndefined();
    }
    const response = stunResponse(request, { host: '192.0.2.7', port: 1 }) ?? Buffer.alloc(0);
    for (let length = 0; length < response.length; length++) expect(stunMapped(response.subarray(0, length), request)).toBeUndefined();
  });
});

test.each([
  ['203.0.113.1', 4, true],
  ['10.1.2.3', 4, true],
  ['2001:db8::1', 6, true],
  ['2001:db8::1', 4, false],
  ['203.0.113.1', 6, false],
  ['127.0.0.1', 4, false],
  ['127.9.9.9', 4, false],
  ['0.0.0.0', 4, false],
  ['169.254.1.1', 4, false],
  ['224.0.0.1', 4, false],
  ['255.255.255.255', 4, false],
  ['::1', 6, false],
  ['::', 6, false],
  ['::ffff:127.0.0.1', 6, false],
  ['fe80::1', 6, false],
  ['ff02::1', 6, false],
  ['localhost', 4, false],
])('packets to %s over IPv%i: %s', (host, family, usable) => {
  expect(isUsable({ host, port: 1 }, family)).toBe(usable);
});

test('a side names at most so many places, the public one first, and none that may not be sent to', () => {
  const candidates = ownCandidates({ host: '203.0.113.9', port: 7 }, 8, 4);
  expect(candidates[0]).toEqual({ host: '203.0.113.9', port: 7 });
  expect(candidates.length).toBeLessThanOrEqual(MAX_CANDIDATES);
  for (const candidate of candidates) expect(isUsable(candidate, 4)).toBe(true);
});

test('an address that the server sees and the machine has is named once, and eight at most', () => {
  const of = (address: string, internal = false) => ({ address, internal, family: 'IPv4', netmask: '', mac: '', cidr: null }) as const;
  const interfaces = jest.spyOn(os, 'networkInterfaces').mockReturnValue({
    lo: [of('127.0.0.1', true)],
    one: [of('198.51.100.1'), of('198.51.100.2')],
    two: Array.from({ length: 9 }, (_, index) => of(`203.0.113.${index}`)),
    none: undefined,
  });
  const named = ownCandidates({ host: '198.51.100.2', port: 7 }, 7, 4);
  interfaces.mockRestore();
  expect(named).toEqual(['198.51.100.2', '198.51.100.1', ...[0, 1, 2, 3, 4, 5].map((last) => `203.0.113.${last}`)].map((host) => ({ host, port: 7 })));
});

test('a probe is believed only from the peer, with the same password and the nonces of this path', () => {
  const nonces = { visitor: randomBytes(32).toString('hex'), agent: randomBytes(32).toString('hex') };
  const [visitor, agent] = [new PathKey('visitor', 'password', nonces), new PathKey('agent', 'password', nonces)];
  const kinds = Object.values(Probe);
  expect(kinds).toEqual([1, 2, 3, 4, 5]);
  for (const kind of kinds) expect([agent.read(visitor.probe(kind)), visitor.read(agent.probe(kind))]).toEqual([kind, kind]);
  // A probe of one kind is not another one's.
  const ask = visitor.probe(Probe.ASK);
  for (const kind of [0, 2, 3, 4, 5, 6]) expect(agent.read(Buffer.concat([ask.subarray(0, 1), Buffer.of(kind), ask.subarray(2)]))).toBeUndefined();
  expect(visitor.psk).toEqual(agent.psk);
  expect(visitor.read(visitor.probe(Probe.ASK))).toBeUndefined();
  expect(agent.read(new PathKey('visitor', 'guessed', nonces).probe(Probe.ASK))).toBeUndefined();
  expect(agent.read(new PathKey('visitor', 'password', { ...nonces, agent: nonces.visitor }).probe(Probe.ASK))).toBeUndefined();
  for (const length of [0, 1, 17, 18, 19, 1400]) expect(agent.read(randomBytes(length))).toBeUndefined();
});

test('an agent has at most 1,000 direct paths, with attempts; one that ends makes room for another', async () => {
  const host = new DirectHost({
    sockets: netBackend,
    log: new LogRecorder().logger,
    server: '127.0.0.1',
    send: () => undefined,
    hold: () => () => undefined,
  });
  const attempts: ByteSocket[] = [];
  const reset = jest.fn();
  const accept = () =>
    host.accept({ kind: 'direct', tunnelId: 1, password: 'p', targets: ['127.0.0.1:1'], stunPorts: [1] }, {
      join: (local) => void attempts.push(local),
      reset,
      over: false,
    });
  for (let path = 0; path < 1001; path++) accept();
  expect([attempts.length, reset.mock.calls.length]).toEqual([1000, 1]);
  attempts[0]?.destroy();
  const accepted = () => {
    accept();
    return attempts.length;
  };
  await eventually(accepted, (count) => count > 1000);
  expect(accepted()).toBe(1001);
  for (const attempt of attempts) attempt.destroy();
  host.close();
});

const canMeet = udx !== undefined && Object.values(os.networkInterfaces()).some((list) => list?.some(({ internal, family }) => !internal && family === 'IPv4'));
(canMeet ? describe : describe.skip)(`a direct path${canMeet ? '' : " (skipped: this machine has no UDX, or no address but the loopback's)"}`, () => {
  test('dials at most 1,024 targets at the same time', async () => {
    const dialed: OnDialled[] = [];
    const log = new LogRecorder().logger;
    const stun = new StunServer({ sockets: netBackend, log, host: '127.0.0.1', port: 0 });
    const stunPorts = await stun.ports();
    const host = new DirectHost({
      sockets: { ...netBackend, dial: (_, onDialled) => void dialed.push(onDialled) },
      log,
      server: '127.0.0.1',
      send: () => undefined,
      hold: () => () => undefined,
    });
    const signal = new Signal();
    const [visitors, agents] = joinedEnds();
    visitors.join(signal);
    host.accept({ kind: 'direct', tunnelId: 1, password: 'p', targets: ['127.0.0.1:1'], stunPorts: [...stunPorts] }, agents);
    const { socket, life } = await openPath({ role: 'visitor', password: 'p', signal, server: '127.0.0.1', stunPorts: [], preferred: 'udp' });
    const visitor = new Mux(socket, 'server', { onOpen: () => undefined, onControl: () => undefined, onClose: () => undefined }, life);
    const open = () => {
      const end = new EmptySocket();
      visitor.open(Buffer.alloc(0))?.join(end);
      return end;
    };
    const first = Array.from({ length: 1024 }, open);
    const excess = open();
    await eventually(() => excess.destroyed, (reset) => reset);
    expect([dialed.length, first.filter(({ destroyed }) => destroyed).length]).toEqual([1024, 0]);
    dialed[0]?.(new Error('refused'));
    await eventually(() => first[0]?.destroyed, (reset) => reset === true);
    open();
    await eventually(() => dialed.length, (count) => count > 1024);
    visitor.close('');
    host.close();
    await stun.close();
  });
});

describe('the words of the peer', () => {
  const hello = { type: 'hello', nonce: 'ab'.repeat(32), ways: ['udp'], streamId: 1, stunPorts: [] };
  const candidates = (count: number, host = '192.0.2.1') => ({ type: 'candidates', candidates: Array.from({ length: count }, () => ({ host, port: 1 })) });

  test('are read line by line, in whatever pieces they come', async () => {
    const signal = new Signal();
    const text = `${JSON.stringify(hello)}\n${JSON.stringify(candidates(2))}\n`;
    for (const piece of text.match(/[^]{1,7}/g) ?? []) signal.write(Buffer.from(piece));
    expect(await signal.receive('hello')).toEqual(hello);
    expect((await signal.receive('candidates')).candidates).toHaveLength(2);
  });

  test.each([
    ['no JSON', 'x\n'],
    ['another type', '{"type":"other"}\n'],
    ['too many candidates', `${JSON.stringify(candidates(MAX_CANDIDATES + 1))}\n`],
    ['a name instead of an address', `${JSON.stringify(candidates(1, 'example.com'))}\n`],
    ['far too much', 'x'.repeat(20_000)],
    ['candidates before the greeting', `${JSON.stringify(candidates(1))}\n`],
  ])('that are %s end the attempt', async (_, text) => {
    const signal = new Signal();
    const received = signal.receive('hello');
    for (const piece of text.match(/[^]{1,7000}/g) ?? []) signal.write(Buffer.from(piece));
    await expect(received).rejects.toThrow(/ended the attempt|instead of/);
  });

  test.each([[0, 5000], [1, 4999]])('that do not come within five seconds end the attempt (%#)', async (left, ms) => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'performance'] });
    const signal = new Signal();
    const opening = openPath({ role: 'agent', password: 'a password', signal, server: '127.0.0.1', stunPorts: [], preferred: 'udp' });
    const outcome = opening.catch((error: unknown) => String(error));
    while (jest.getTimerCount() === 0) await new Promise(setImmediate);
    jest.advanceTimersByTime(ms);
    expect(jest.getTimerCount()).toBe(left);
    signal.destroy();
    expect(await outcome).toMatch(left === 0 ? /the peer says nothing/ : /ended the attempt/);
    jest.useRealTimers();
  });

  test('that a stream brings when the attempt is over end that stream', async () => {
    const signal = new Signal();
    signal.send({ type: 'candidates', candidates: [] });
    const seen: string[] = [];
    signal.attach({ onData: () => seen.push('data'), onEnd: () => seen.push('end'), onDrain: () => undefined, onClose: () => seen.push('close') });
    signal.destroy();
    await new Promise(setImmediate);
    expect(seen).toEqual(['close']);
  });

  test('that end are the end', async () => {
    const signal = new Signal();
    const received = signal.receive('hello');
    signal.end();
    await expect(received).rejects.toThrow('the peer ended the attempt');
    await signal.closed;
  });
});

test.each(['udp', 'tcp'] as const)('a visitor that prefers %s names it first', async (preferred) => {
  const signal = new Signal();
  const said = new Promise<string>((resolve) => {
    signal.attach({ onData: (line) => resolve(String(line)), onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  });
  const opening = openPath({ role: 'visitor', password: 'a password', signal, server: '127.0.0.1', stunPorts: [], preferred });
  const ways = ['udp', 'tcp'].filter((way) => way === 'tcp' || udx !== undefined);
  expect(JSON.parse(await said)).toMatchObject({ type: 'hello', ways: ways.toSorted((way) => way === preferred ? -1 : 1) });
  signal.destroy();
  await expect(opening).rejects.toThrow('the peer ended the attempt');
});

test.each([['visitor', 3000], ['agent', 4000]] as const)('an attempt of the %s ends after %i ms', async (role, ms) => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'performance'] });
  try {
    const signal = new Signal();
    const opening = openPath({ role, password: 'a password', signal, server: '127.0.0.1', stunPorts: [port], preferred: 'tcp' });
    const outcome = opening.then(() => 'open', String);
    signal.write(Buffer.from(`${JSON.stringify({ type: 'hello', nonce: 'ab'.repeat(32), ways: ['tcp'], streamId: 1, stunPorts: [port] })}\n`));
    // It asks for its address, and gets no answer.
    await once(server, 'connection');
    jest.advanceTimersByTime(ms - 1);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(jest.getTimerCount()).toBe(0);
    expect(await outcome).toContain('no TCP connection of the peer arrives');
  } finally {
    jest.useRealTimers();
    server.close();
  }
});

describe('the encryption of a path', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Both ends of a connection that is not encrypted yet. */
  async function connected(): Promise<readonly [net.Socket, net.Socket]> {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || !address) throw new Error('it does not listen');
    const near = net.connect(address.port, '127.0.0.1');
    const [far]: net.Socket[] = await once(server, 'connection');
    if (!far) throw new Error('no connection');
    server.close();
    return [near, far];
  }

  test.each(['visitor', 'agent'] as const)('of a %s whose peer says nothing ends in time', async (role) => {
    const [near, far] = await connected();
    await expect(secureDirect(near, role, randomBytes(32), 20)).rejects.toThrow('the peer does not begin');
    if (!near.closed) await once(near, 'close');
    far.destroy();
  });

  test.each([['the same key', true], ['different keys', false]])('between sides with %s leaves no timer', async (_, same) => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'performance', 'hrtime', 'Date'] });
    const [near, far] = await connected();
    const key = randomBytes(32);
    const both = await Promise.allSettled([
      secureDirect(near, 'visitor', key, 60_000),
      secureDirect(far, 'agent', same ? key : randomBytes(32), 60_000),
    ]);
    expect(both.map(({ status }) => status)).toEqual(same ? ['fulfilled', 'fulfilled'] : ['rejected', 'rejected']);
    // A key exchange of its own for each path.
    expect(both.map((one) => one.status === 'fulfilled' && one.value.getProtocol())).toEqual(same ? ['TLSv1.3', 'TLSv1.3'] : [false, false]);
    expect(both.map((one) => one.status === 'fulfilled' && one.value.getEphemeralKeyInfo())[0]).toEqual(same && expect.objectContaining({ type: 'ECDH' }));
    for (const one of both) if (one.status === 'fulfilled') one.value.destroy();
    expect(jest.getTimerCount()).toBe(0);
  });
});
