import { expect, jest, test } from '@jest/globals';
import { dialThrough } from '../../src/engine/tunnels/dial-through.ts';
import { encodeDialResult } from '../../src/wire/dial-result.ts';
import { proxyHeader } from '../../src/engine/tunnels/proxy-header.ts';
import { proxyProblems } from '../../src/engine/tunnels/proxy-answers.ts';
import { ByteQueue } from '../../src/engine/tunnels/byte-queue.ts';
import { EmptySocket } from '../support/empty-socket.ts';

test.each([
  ['an agent that says it', (socket: EmptySocket) => socket.sink?.onData(encodeDialResult('refused')), 'refused'],
  ['an end without a result', (socket: EmptySocket) => socket.sink?.onEnd(), 'failed'],
  ['a loss', (socket: EmptySocket) => socket.sink?.onClose(new Error('reset')), 'failed'],
  // The dial timeout and the round trip to the agent have passed.
  ['silence', () => undefined, 'timeout'],
])('the result of a dial is taken from %s', async (_, happen, expected) => {
  const socket = new EmptySocket();
  const { result } = dialThrough(socket, -1990);
  happen(socket);
  expect(await result).toBe(expected);
  if (expected !== 'failed') expect(socket.destroyed).toBe(true);
});

test('a dial may take its time and two seconds for the way; a connection that it has made has no limit', async () => {
  jest.useFakeTimers();
  try {
    const [made, silent] = [new EmptySocket(), new EmptySocket()];
    const results = [made, silent].map((socket) => dialThrough(socket, 1000).result);
    made.sink?.onData(encodeDialResult('connected'));
    expect(await results[0]).toBe('connected');
    jest.advanceTimersByTime(2999);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(await results[1]).toBe('timeout');
    expect([made.destroyed, silent.destroyed, jest.getTimerCount()]).toEqual([false, true, 0]);
  } finally {
    jest.useRealTimers();
  }
});

test('a visitor gets the status of its problem over HTTP, and its code over SOCKS5 (RFC 1928, 6)', () => {
  expect(Object.entries(proxyProblems).map(([problem, { status, socks }]) => [problem, status, socks])).toEqual([
    ['refused', 502, 5],
    ['host-unreachable', 502, 4],
    ['network-unreachable', 502, 3],
    ['timeout', 504, 6],
    ['unknown-name', 502, 4],
    ['forbidden', 502, 2],
    ['failed', 502, 1],
    ['exhausted', 503, 1],
    ['crowded', 503, 1],
    ['offline', 503, 1],
    ['not-served', 503, 1],
  ]);
});

/** The connection of a visitor, from one address to another one. */
function connection(remoteAddress: string, address: string) {
  class Connection extends EmptySocket {
    override readonly remoteAddress = remoteAddress;
    override readonly remotePort = 0x1234;
    readonly local = { address, port: 0x5678 };
  }
  return new Connection();
}

test('the PROXY protocol header has the addresses of both sides, in their order', () => {
  const signature = '0d0a0d0a000d0a515549540a';
  const ipv4 = connection('192.0.2.1', '203.0.113.2');
  expect(proxyHeader('V1', ipv4).toString()).toBe('PROXY TCP4 192.0.2.1 203.0.113.2 4660 22136\r\n');
  expect(proxyHeader('V2', ipv4).toString('hex')).toBe(`${signature}2111000cc0000201cb00710212345678`);
  const ipv6 = connection('fe80::1%eth0', '2001:db8::2%1');
  expect(proxyHeader('V1', ipv6).toString()).toBe('PROXY TCP6 fe80::1 2001:db8::2 4660 22136\r\n');
  expect(proxyHeader('V2', ipv6).toString('hex')).toBe(
    `${signature}21210024fe80000000000000000000000000000120010db800000000000000000000000212345678`,
  );
  for (const version of ['V1', 'V2'] as const) {
    for (const unknown of [connection('', '203.0.113.2'), connection('192.0.2.1', ''), new EmptySocket()]) {
      expect(proxyHeader(version, unknown)).toHaveLength(0);
    }
  }
});

test('a queue of bytes gives them in their order, at most so many at a time', () => {
  const queue = new ByteQueue();
  for (const text of ['abc', 'd', 'ef']) queue.push(Buffer.from(text));
  const taken = [2, 2, 1, 1, 9].map((most) => `${queue.take(most).toString()} ${queue.length}`);
  expect(taken).toEqual(['ab 4', 'c 3', 'd 2', 'e 1', 'f 0']);
  expect(() => queue.take(1)).toThrow('nothing is queued');
  queue.push(Buffer.from('gh'));
  queue.clear();
  expect(queue.length).toBe(0);
  expect(() => queue.take(1)).toThrow('nothing is queued');
});
