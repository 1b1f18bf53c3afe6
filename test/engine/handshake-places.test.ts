import process from 'node:process';
import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, jest, test } from '@jest/globals';
import type { BridgeTiming } from '../../src/engine/bridge/bridge.ts';
import { HandshakePlaces, PLACE_LIMITS } from '../../src/engine/bridge/handshake-places.ts';
import { HandshakeQueue } from '../../src/engine/limits/handshake-queue.ts';
import { startBridge } from '../support/bridge.ts';
import { EmptySocket } from '../support/empty-socket.ts';

function places(limits = { total: 4, perAddress: 2, minAgeMs: 500 }) {
  const clock = { now: 0 };
  const evicted: string[] = [];
  const all = new HandshakePlaces(limits, () => clock.now);
  const enter = (address: string | undefined, name = '') => all.enter(address, () => evicted.push(name));
  return { clock, evicted, all, enter };
}

test('one address can not take all places, and places come back', () => {
  const { all, enter } = places();
  const first = enter('a');
  expect([enter('a') !== undefined, enter('a'), enter('b') !== undefined, enter('c') !== undefined, enter('d')]).toEqual([
    true,
    undefined,
    true,
    true,
    undefined,
  ]);
  if (first) { for (const _ of [1, 2]) all.leave(first); }
  expect([all.size, enter('d') !== undefined, all.size]).toEqual([3, true, 4]);
});

test('a trusted proxy has no share of the places, but counts for all', async () => {
  const { evicted, clock, enter } = places();
  for (const n of [1, 2, 3, 4]) expect(enter(undefined, String(n))).toBeDefined();
  expect(enter('a')).toBeUndefined();
  clock.now = 500;
  expect([enter('a') !== undefined, evicted]).toEqual([true, ['1']]);
  const { comes } = await startBridge({ trusts: (address) => address === '' });
  const entered = jest.spyOn(HandshakePlaces.prototype, 'enter').mockReturnValue(undefined);
  const socket = new EmptySocket();
  comes(socket);
  expect(entered).toHaveBeenCalledWith(undefined, expect.any(Function));
  entered.mockRestore();
  socket.destroy();
});

test('handshakes that keep the server waiting are evicted, the oldest first; those that wait for the server are not', () => {
  const { clock, evicted, all, enter } = places();
  const asked = enter('a', 'asked');
  enter('a', 'silent');
  if (asked) all.said(asked);
  expect(enter('a', 'third')).toBeUndefined();
  clock.now = 500;
  expect(enter('a', 'third')).toBeDefined();
  expect([evicted, all.size]).toEqual([['silent'], 2]);
  expect(enter('a')).toBeUndefined();
  enter('b', 'b1');
  clock.now = 800;
  enter('b', 'b2');
  clock.now = 1300;
  expect(enter('c', 'c1')).toBeDefined();
  expect([evicted, all.size]).toEqual([['silent', 'third'], 4]);
});

test('silent connections of one address keep no agent of that address out', () => {
  const { clock, enter } = places(PLACE_LIMITS);
  for (let i = 0; i < 3000; i++) enter('attacker and agents');
  clock.now = 500;
  // All agents that connect in the time in which an attacker can fill the places again.
  for (let i = 0; i < 1000; i++) expect(enter('attacker and agents')).toBeDefined();
});

test('a few handshakes are processed in each iteration of the event loop, sessions first, addresses in round-robin order', async () => {
  const turns = new HandshakeQueue();
  const seen: string[] = [];
  const all = [
    ...Array.from({ length: 20 }, (_, index) => turns.next('data', 's').then(() => seen.push(`data ${index}`))),
    ...Array.from({ length: 20 }, (_, index) => turns.next('session', 'many').then(() => seen.push(`many ${index}`))),
    turns.next('session', 'few').then(() => seen.push('few 0')),
  ];
  const most: number[] = [];
  while (seen.length < all.length) {
    const before = seen.length;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    most.push(seen.length - before);
  }
  await Promise.all(all);
  expect(Math.max(...most)).toBeLessThanOrEqual(8);
  expect(seen.slice(0, 3)).toEqual(['many 0', 'few 0', 'many 1']);
  expect(seen.slice(21)).toEqual(Array.from({ length: 20 }, (_, index) => `data ${index}`));
});

test('expensive work runs alone in its iteration', async () => {
  const turns = new HandshakeQueue();
  let done = 0;
  const all = Array.from({ length: 8 }, () =>
    turns.next('session', 'a').then(() => {
      done++;
      for (const start = performance.now(); performance.now() - start < 5;);
    }));
  const most: number[] = [];
  while (done < all.length) {
    const before = done;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    most.push(done - before);
  }
  expect(Math.max(...most)).toBeLessThanOrEqual(2);
});

test('a queue that is empty does nothing', async () => {
  jest.useFakeTimers();
  try {
    const begun = new HandshakeQueue().next('session', 'a');
    expect(jest.getTimerCount()).toBeGreaterThan(0);
    jest.advanceTimersByTime(100);
    expect(jest.getTimerCount()).toBe(0);
    await begun;
  } finally {
    jest.useRealTimers();
  }
});

v8.setFlagsFromString('--expose-gc');
const gc: unknown = vm.runInNewContext('gc');
if (typeof gc !== 'function') throw new Error('there is no garbage collector to call');
const collect = gc;

test('addresses that have left cost no memory', () => {
  const { all } = places();
  const visit = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const place = all.enter(`2001:db8:${(i >> 16).toString(16)}:${(i & 65_535).toString(16)}::1`, () => undefined);
      if (place) all.leave(place);
    }
  };
  visit(0, 10_000);
  collect();
  const before = process.memoryUsage().heapUsed;
  visit(10_000, 60_000);
  collect();
  // An entry for each address would take 10 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(3 * 1024 * 1024);
});

test('a network of IPv6 counts as one address, of which each has a quarter of all places', () => {
  const { clock, all, enter } = places(PLACE_LIMITS);
  const taken = (from: (n: number) => string) => Array.from({ length: 1025 }, (_, n) => enter(from(n))).filter(Boolean).length;
  expect(taken((n) => `2001:db8::${n.toString(16)}`)).toBe(1024);
  expect(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map((address) => taken(() => address))).toEqual([1024, 1024, 1024, 0]);
  clock.now = 499;
  expect(enter('192.0.2.4')).toBeUndefined();
  clock.now = 500;
  expect([enter('192.0.2.4') !== undefined, all.size]).toEqual([true, 4096]);
});

/** A bridge to which connections come that say nothing. */
async function bridgeOf(timing: Partial<BridgeTiming>) {
  const { bridge, comes } = await startBridge({ timing });
  return {
    bridge,
    comes: (): EmptySocket => {
      const socket = new EmptySocket();
      comes(socket);
      return socket;
    },
  };
}

test('512 connections are being refused with a time to wait of one to five seconds, and any others are reset', async () => {
  const { comes, bridge } = await bridgeOf({ places: { total: 0, perAddress: 0, minAgeMs: 0 } });
  const random = jest.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(1);
  const refused = Array.from({ length: 512 }, comes);
  random.mockRestore();
  const said = (socket: EmptySocket | undefined) => /{"code":[^}]*}/.exec(Buffer.from(socket?.received ?? '', 'hex').toString('latin1'))?.[0]; // random bytes before it can be a brace
  expect([0, 1].map((index) => JSON.parse(said(refused[index]) ?? 'null'))).toEqual(
    [1000, 5000].map((retryAfterMs) => ({ code: 'crowded', text: 'too many connect at the same time', retryAfterMs })),
  );
  expect(refused.filter((socket) => said(socket) === undefined)).toEqual([]);
  const reset = comes();
  expect([reset.received, reset.destroyed, bridge.counts]).toEqual(['', true, expect.objectContaining({ handshakesRefused: 513, handshakes: 0 })]);
  refused[0]?.destroy();
  refused.push(comes());
  expect(said(refused.at(-1))).toMatch(/crowded/);
  for (const socket of refused) socket.destroy();
});

test('a handshake may take five seconds', async () => {
  jest.useFakeTimers();
  try {
    const { comes, bridge } = await bridgeOf({});
    const socket = comes();
    await jest.advanceTimersByTimeAsync(4999);
    expect([socket.ended, bridge.counts.handshakes, bridge.counts.garbage]).toEqual([false, 1, 0]);
    await jest.advanceTimersByTimeAsync(1);
    expect([socket.ended, bridge.counts.handshakes, bridge.counts.garbage]).toEqual([true, 0, 1]);
  } finally {
    jest.useRealTimers();
  }
});
