import { expect, jest, test } from '@jest/globals';
import { UdpSessions } from '../../src/engine/tunnels/udp-sessions.ts';
import { DatagramBudget, DatagramSocket } from '../../src/wire/datagram-socket.ts';

/** No address is a trusted proxy's. */
const nobody = () => false;

/** Adds a visitor's session; `ended` holds the ports of those that were ended cleanly. */
function add(sessions: UdpSessions, port: number, ended: number[], address = '127.0.0.1') {
  const session = new DatagramSocket({
    remoteAddress: address,
    remotePort: port,
    budget: new DatagramBudget(),
    onDatagram: () => undefined,
    onClose: () => sessions.remove({ address, port }, session),
  });
  session.attach({ onData: () => undefined, onEnd: () => ended.push(port), onDrain: () => undefined, onClose: () => undefined });
  return { session, used: sessions.add({ address, port }, session) };
}

test('beyond the limit, the least recently used session is evicted', () => {
  const sessions = new UdpSessions(60_000, nobody, { total: 3, perAddress: 3, fair: 3 });
  const ended: number[] = [];
  for (const port of [1, 2, 3]) add(sessions, port, ended);
  sessions.use({ address: '127.0.0.1', port: 1 });
  for (const port of [4, 5]) add(sessions, port, ended);
  expect(ended).toEqual([2, 3]);
  expect([1, 2, 3, 4, 5].map((port) => sessions.use({ address: '127.0.0.1', port }) !== undefined)).toEqual([true, false, false, true, true]);
  sessions.use({ address: '127.0.0.1', port: 1 });
  add(sessions, 6, ended);
  expect(ended).toEqual([2, 3, 4]);
  sessions.closeAll();
  expect(sessions.use({ address: '127.0.0.1', port: 1 })).toBeUndefined();
});

test('all sessions of a tunnel share one timer', () => {
  const started = jest.spyOn(globalThis, 'setInterval');
  try {
    const sessions = new UdpSessions(60_000, nobody, { total: 8, perAddress: 8, fair: 8 });
    for (const port of [1, 2, 3, 4, 5]) add(sessions, port, []);
    expect(started).toHaveBeenCalledTimes(1);
    sessions.closeAll();
  } finally {
    started.mockRestore();
  }
});

test('one address has a share: beyond it, its own least recently used session is evicted', () => {
  const sessions = new UdpSessions(60_000, nobody, { total: 8, perAddress: 3, fair: 2 });
  const ended: number[] = [];
  add(sessions, 1, ended, '192.0.2.1');
  for (const port of [11, 12, 13]) add(sessions, port, ended, `2001:db8::${port}`); // one /64
  sessions.use({ address: '2001:db8::11', port: 11 });
  for (const port of [14, 15, 16]) add(sessions, port, ended, '2001:db8::ffff');
  expect(ended).toEqual([12, 13, 11]);
  expect(sessions.use({ address: '192.0.2.1', port: 1 })).toBeDefined();
});

test('a trusted proxy has no share: in a full table, the least recently used session is evicted', () => {
  const sessions = new UdpSessions(60_000, (address) => address === '192.0.2.9', { total: 4, perAddress: 2, fair: 1 });
  const ended: number[] = [];
  add(sessions, 1, ended, '192.0.2.1');
  for (const port of [11, 12, 13, 14]) add(sessions, port, ended, '::ffff:192.0.2.9');
  expect(ended).toEqual([1]);
});

test('in a full table, a session of the address with most sessions is evicted, down to its fair share; then the least recently used session', () => {
  const sessions = new UdpSessions(60_000, nobody, { total: 8, perAddress: 6, fair: 2 });
  const ended: number[] = [];
  add(sessions, 1, ended, '192.0.2.1');
  for (const port of [11, 12, 13, 14, 15]) add(sessions, port, ended, '192.0.2.11');
  for (const port of [21, 22]) add(sessions, port, ended, '192.0.2.21');
  for (const port of [11, 12, 13, 14, 15]) sessions.use({ address: '192.0.2.11', port });
  for (const port of [2, 3, 4]) add(sessions, port, ended, `192.0.2.${port}`);
  expect(ended).toEqual([11, 12, 13]);
  // Nobody has more than is fair now: the oldest that is not in use, were it the only one of its address.
  for (const port of [14, 15]) sessions.use({ address: '192.0.2.11', port });
  sessions.use({ address: '192.0.2.1', port: 1 });
  add(sessions, 5, ended, '192.0.2.5');
  expect(ended).toEqual([11, 12, 13, 21]);
  sessions.closeAll();
});

test('without sessions, no timer is left', () => {
  jest.useFakeTimers();
  try {
    const sessions = new UdpSessions(60_000, nobody, { total: 8, perAddress: 8, fair: 8 });
    for (const port of [1, 2]) add(sessions, port, []);
    jest.advanceTimersByTime(0); // what the sessions send at first
    expect(jest.getTimerCount()).toBe(1);
    sessions.closeAll();
    expect(jest.getTimerCount()).toBe(0);
    // The next ones have one again, which looks at them until they have been idle for long enough.
    const ended: number[] = [];
    add(sessions, 3, ended);
    jest.advanceTimersByTime(60_000);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(5001);
    expect([ended, jest.getTimerCount()]).toEqual([[3], 0]);
  } finally {
    jest.useRealTimers();
  }
});

test('an answer marks a session as used, and no longer one that was evicted', () => {
  const sessions = new UdpSessions(60_000, nobody, { total: 3, perAddress: 3, fair: 3 });
  const ended: number[] = [];
  const [first, second] = [1, 2, 3].map((port) => add(sessions, port, ended));
  add(sessions, 4, ended);
  first?.used();
  second?.used();
  for (const port of [5, 6, 7, 8]) add(sessions, port, ended);
  expect(ended).toEqual([1, 3, 4, 2, 5]);
  sessions.closeAll();
});

test('the end of a session that was evicted does not end the next one of the same visitor', () => {
  const sessions = new UdpSessions(60_000, nobody, { total: 1, perAddress: 1, fair: 1 });
  const ended: number[] = [];
  const { session } = add(sessions, 1, ended);
  add(sessions, 2, ended);
  add(sessions, 1, ended);
  session.destroy();
  expect([ended, sessions.use({ address: '127.0.0.1', port: 1 }) !== undefined]).toEqual([[1, 2], true]);
  sessions.closeAll();
});

test('an address has 1,024 sessions of a tunnel; beyond that, its least recently used one is evicted', () => {
  const sessions = new UdpSessions(60_000, nobody);
  const ended: number[] = [];
  for (let port = 1; port <= 1024; port++) add(sessions, port, ended);
  expect(ended).toEqual([]);
  add(sessions, 1025, ended);
  expect(ended).toEqual([1]);
  sessions.closeAll();
});

test('a tunnel has 4,096 sessions; beyond that, holders with more than 64 lose theirs first', () => {
  const sessions = new UdpSessions(60_000, nobody);
  const ended: number[] = [];
  for (let n = 0; n < 4096 - 65; n++) add(sessions, n, ended, `10.0.${n >> 6}.1`);
  for (let n = 5000; n < 5065; n++) add(sessions, n, ended, '192.0.2.1');
  expect(ended).toEqual([]);
  for (const port of [1, 2]) add(sessions, port, ended, `198.51.100.${port}`);
  expect(ended).toEqual([5000, 0]);
  sessions.closeAll();
});
