import { expect, jest, test } from '@jest/globals';
import type { ProcessMessage } from '../../src/processes/messages.ts';
import { PortsOfOthers } from '../../src/processes/ports-of-others.ts';

test('a port whose handle does not arrive is given up, and closed if it arrives later', async () => {
  const sent: ProcessMessage[] = [];
  const ports = new PortsOfOthers((message) => sent.push(message), 1);
  const place = { purpose: 'tunnel', host: '127.0.0.1', port: 9001 };
  await expect(ports.of('tunnel')('127.0.0.1', 9001)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  // Otherwise, the port would seem to be in use when this process asks again.
  expect(sent).toEqual([{ type: 'share', id: 1, ...place }, { type: 'unshare', ...place }]);
  let closed = 0;
  ports.onMessage({ type: 'shared', id: 1, problem: '' }, { close: () => closed++ });
  expect(closed).toBe(1);
  await expect(ports.claim('udp 9001', () => undefined)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  // Others may have it first, while all start.
  expect(sent.at(-1)).toEqual({ type: 'claim', id: 2, name: 'udp 9001', now: false });
  for (let times = 0; times < 2; times++) await expect(ports.claimNow('udp 9002')).rejects.toMatchObject({ code: 'ETIMEDOUT' });
});

/** The ports of a process, and what it says to the one that has started it. */
function asking() {
  const sent: ProcessMessage[] = [];
  return { sent, ports: new PortsOfOthers((message) => sent.push(message)) };
}

test('a listener gets the handle that all processes share, or the error of the system; when it is closed, this process no longer listens', async () => {
  const { sent, ports } = asking();
  const closed: unknown[] = [];
  const handle = { close: (...args: unknown[]) => void closed.push(args) };
  const got = ports.of('tunnel')('127.0.0.1', 9001);
  const place = { purpose: 'tunnel', host: '127.0.0.1', port: 9001 };
  expect(sent).toEqual([{ type: 'share', id: 1, ...place }]);
  ports.onMessage({ type: 'shared', id: 1, problem: '' }, handle);
  expect(await got).toBe(handle);
  // A question has one answer.
  let closedAgain = 0;
  ports.onMessage({ type: 'shared', id: 1, problem: '' }, { close: () => closedAgain++ });
  expect(closedAgain).toBe(1);
  handle.close('why');
  expect([sent.at(-1), closed]).toEqual([{ type: 'unshare', ...place }, [['why']]]);

  for (const [host, id] of [['', 2], ['::1', 3]] as const) {
    const refused = ports.of('api')(host, 9002);
    expect(sent.at(-1)).toEqual({ type: 'share', id, purpose: 'api', host, port: 9002 });
    ports.onMessage({ type: 'shared', id, problem: 'EACCES' }, undefined);
    await expect(refused).rejects.toMatchObject({ code: 'EACCES', syscall: 'listen', address: host, port: 9002, message: `listen EACCES: ${host}:9002` });
  }
  const named = ports.of('api')('localhost', 9003);
  for (let turns = 0; sent.at(-1)?.type !== 'share' || sent.length < 5; turns++) await new Promise(setImmediate);
  expect(sent.at(-1)).toMatchObject({ port: 9003, host: expect.stringMatching(/^(127\.0\.0\.1|::1)$/) });
  ports.onMessage({ type: 'shared', id: 4, problem: '' }, undefined);
  await expect(named).rejects.toMatchObject({ code: '' });
});

test('a port that one process has is had at once, or when the one that has it gives it up, or not in time', async () => {
  jest.useFakeTimers();
  try {
    const { sent, ports } = asking();
    const granted: string[] = [];
    const answer = (id: number, owned: boolean) => ports.onMessage({ type: 'claimed', id, owned }, undefined);
    const grant = (name: string) => ports.onMessage({ type: 'granted', name }, undefined);
    const first = ports.claim('a', () => granted.push('a'));
    answer(1, true);
    expect(await first).toBe(true);
    grant('a');
    const second = ports.claim('b', () => granted.push('b'));
    answer(2, false);
    expect(await second).toBe(false);
    for (const name of ['b', 'b', 'c']) grant(name);
    expect(granted).toEqual(['b']);
    // It has both.
    expect([await ports.claimNow('a'), await ports.claimNow('b'), sent.length]).toEqual([false, false, 2]);
    ports.release('a');
    expect(sent.at(-1)).toEqual({ type: 'release', name: 'a' });
    const third = ports.claimNow('a');
    expect(sent.at(-1)).toEqual({ type: 'claim', id: 3, name: 'a', now: true });
    // A second request meanwhile does not get it.
    expect(await ports.claimNow('a')).toBe(false);
    answer(3, true);
    expect(await third).toBe(true);
    const later = ports.claimNow('c');
    answer(4, false);
    await jest.advanceTimersByTimeAsync(1999);
    grant('c');
    expect(await later).toBe(true);
    expect(await ports.claimNow('c')).toBe(false);
    const late = ports.claimNow('d');
    answer(5, false);
    await jest.advanceTimersByTimeAsync(2000);
    expect([await late, sent.at(-1)]).toEqual([false, { type: 'release', name: 'd' }]);
    grant('d');
    void ports.claimNow('d');
    expect(sent.at(-1)).toEqual({ type: 'claim', id: 6, name: 'd', now: true });
    answer(6, true);
    const gone = ports.claim('e', () => granted.push('e'));
    answer(7, false);
    await gone;
    ports.release('e');
    grant('e');
    expect(granted).toEqual(['b']);
    // A process that cannot open any more files has a while to answer.
    const slow = ports.claim('f', () => undefined);
    await jest.advanceTimersByTimeAsync(9999);
    answer(8, true);
    expect(await slow).toBe(true);
    // An answer leaves no timer, which would hold a process that is to end.
    expect(jest.getTimerCount()).toBe(0);
    const never = ports.claim('g', () => undefined).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await never).toMatchObject({ code: 'ETIMEDOUT' });
  } finally {
    jest.useRealTimers();
  }
});
