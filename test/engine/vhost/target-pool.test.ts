import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { Clients } from '../../../src/engine/client-index.ts';
import { Ticker } from '../../../src/engine/limits/meter.ts';
import { Visitors } from '../../../src/engine/limits/visitors.ts';
import type { HostEntry } from '../../../src/engine/vhost/host-entry.ts';
import { Hosts } from '../../../src/engine/vhost/hosts.ts';
import { TargetConnection } from '../../../src/engine/vhost/target/target-connection.ts';
import { TargetPool } from '../../../src/engine/vhost/target/target-pool.ts';
import { Certificates } from '../../../src/engine/vhost/tls/certificates.ts';
import { type DialResult, encodeDialResult } from '../../../src/wire/dial-result.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { hostOf } from '../../support/vhost.ts';

function hostEntry(): HostEntry {
  const hosts = new Hosts(new Clients(), new Ticker(), new Visitors(), new Certificates(pino({ level: 'silent' })), 5000);
  const host = hostOf({});
  hosts.set(host);
  const entry = hosts.get(host.id);
  if (!entry) throw new Error('there is a host');
  return entry;
}

test('each kept connection is closed when it has been idle for long enough, not earlier', () => {
  const entry = hostEntry();
  jest.useFakeTimers();
  try {
    const pool = new TargetPool(10, 10_000);
    const give = (): EmptySocket => {
      const socket = new EmptySocket();
      const target = new TargetConnection(socket, entry, '192.0.2.1');
      target.idleSince = performance.now();
      pool.give(target);
      return socket;
    };
    const first = give();
    jest.advanceTimersByTime(4000);
    const second = give();
    const closed: boolean[][] = [];
    for (const ms of [5000, 2000, 2000, 2000]) {
      jest.advanceTimersByTime(ms);
      closed.push([first.destroyed, second.destroyed]);
    }
    expect(closed).toEqual([[false, false], [true, false], [true, false], [true, true]]);
    expect(pool.has(entry, '192.0.2.1')).toBe(false);
    pool.close();
  } finally {
    jest.useRealTimers();
  }
});

test('of more connections than are kept, those that were closed go first, then the one that was idle longest; a closed pool keeps none', () => {
  const entry = hostEntry();
  const pool = new TargetPool(2, 60_000);
  const sockets = Array.from({ length: 6 }, () => new EmptySocket());
  const targets = sockets.map((socket, index) => new TargetConnection(socket, entry, `192.0.2.${index}`));
  const give = (...chosen: readonly number[]): boolean[] => {
    for (const target of targets.filter((_, index) => chosen.includes(index))) pool.give(target);
    return sockets.map((_, index) => pool.has(entry, `192.0.2.${index}`));
  };
  expect(give(0, 1)).toEqual([true, true, false, false, false, false]);
  targets[1]?.close();
  expect(give(2)).toEqual([true, false, true, false, false, false]);
  expect(give(3)).toEqual([false, false, true, true, false, false]);
  expect([pool.take(entry, '192.0.2.4'), pool.take(hostEntry(), '192.0.2.2'), sockets.map(({ destroyed, ended }) => destroyed || ended)])
    .toEqual([undefined, undefined, [true, true, false, false, false, false]]);
  pool.close();
  expect(give(4)).toEqual(Array(6).fill(false));
  expect(sockets.map(({ destroyed, ended }) => destroyed || ended)).toEqual([true, true, true, true, true, false]);
});

test('the connection that was used last is taken first, of those to a host for one address', () => {
  const [entry, other] = [hostEntry(), hostEntry()];
  const pool = new TargetPool(9, 60_000);
  const given = ([[entry, 1], [entry, 2], [entry, 1], [other, 1], [entry, 2]] as const).map(([to, address]) => {
    const target = new TargetConnection(new EmptySocket(), to, `192.0.2.${address}`);
    pool.give(target);
    return target;
  });
  const taken = Array.from({ length: 3 }, () => pool.take(entry, '192.0.2.1'));
  expect(taken.map((one) => given.findIndex((target) => target === one))).toEqual([2, 0, -1]);
  expect([pool.take(entry, '192.0.2.2') === given[4], pool.take(other, '192.0.2.1') === given[3]]).toEqual([true, true]);
  pool.close();
});

test('a connection says when its socket is full; while it rests it is read, however slow its last visitor was', () => {
  const [writes, calls]: [boolean[], string[]] = [[true, false], []];
  class Recorded extends EmptySocket {
    override write = (): boolean => writes.shift() ?? true;
    override pause = (): void => void calls.push('pause');
    override resume = (): void => void calls.push('resume');
  }
  const socket = new Recorded();
  const target = new TargetConnection(socket, hostEntry(), '192.0.2.1');
  target.use({ onData: () => undefined, onEnd: () => undefined, onLost: () => undefined, onDrain: () => void calls.push('drain') });
  expect([target.write(Buffer.from('a')), target.write(Buffer.from('b'))]).toEqual([true, false]);
  target.onDrain();
  target.pause();
  target.rest();
  target.onDrain();
  target.close();
  target.resume();
  expect(calls).toEqual(['drain', 'pause', 'resume']);
});

test('what arrives in one piece with the result of the dial belongs to the response', () => {
  const socket = new EmptySocket();
  const entry = hostEntry();
  const target = new TargetConnection(socket, entry, '192.0.2.1');
  const received: string[] = [];
  target.use({
    onData: (chunk) => received.push(chunk.toString()),
    onEnd: () => undefined,
    onDrain: () => undefined,
    onLost: (refusal) => received.push(refusal),
  });
  target.onData(Buffer.concat([encodeDialResult('connected'), Buffer.from('HTTP/1.1 200 OK')]));
  target.onData(Buffer.from('\r\n'));
  expect(received).toEqual(['HTTP/1.1 200 OK', '\r\n']);
});

test('each result of a dial, and each end of a connection before and after it, has its refusal; what a target says without a request ends its connection', () => {
  const entry = hostEntry();
  const outcome = (...events: ReadonlyArray<DialResult | 'end' | 'close' | 'rest' | 'data'>): string[] => {
    const happened: string[] = [];
    const socket = new EmptySocket();
    const target = new TargetConnection(socket, entry, '192.0.2.1');
    target.use({
      onData: () => happened.push('data'),
      onEnd: () => happened.push('end'),
      onDrain: () => undefined,
      onLost: (refusal) => happened.push(refusal),
    });
    for (const event of events) {
      if (event === 'end') target.onEnd();
      else if (event === 'close') target.onClose();
      else if (event === 'rest') target.rest();
      else target.onData(event === 'data' ? Buffer.from('x') : encodeDialResult(event));
    }
    return [...happened, ...target.open ? [] : ['closed'], ...socket.destroyed ? ['reset'] : [], ...socket.ended ? ['ended'] : []];
  };
  const lost = (refusal: string) => [refusal, 'closed', 'reset'];
  const results: ReadonlyArray<readonly [DialResult, string]> = [
    ['refused', 'refused'],
    ['host-unreachable', 'refused'],
    ['network-unreachable', 'refused'],
    ['timeout', 'silent'],
    ['unknown-name', 'refused'],
    ['forbidden', 'refused'],
    ['failed', 'refused'],
    ['exhausted', 'exhausted'],
    ['crowded', 'tooMany'],
    ['offline', 'offline'],
  ];
  for (const [result, refusal] of results) expect([result, outcome(result)]).toEqual([result, lost(refusal)]);
  expect([outcome('end'), outcome('close')]).toEqual([lost('refused'), lost('offline')]);
  expect([outcome('connected', 'end'), outcome('connected', 'close')]).toEqual([['end'], lost('refused')]);
  for (const event of ['data', 'end', 'close'] as const) expect([event, outcome('connected', 'rest', event)]).toEqual([event, ['closed', 'ended']]);
  expect(outcome('refused', 'end', 'close', 'data')).toEqual(lost('refused'));
});
