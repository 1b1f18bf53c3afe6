import { expect, jest, test } from '@jest/globals';
import { RefusalLog } from '../../../src/engine/vhost/response/refusal-log.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { exchange, startVhost } from '../../support/vhost.ts';

function start() {
  const log = new LogRecorder();
  const refusals = new RefusalLog(log.logger);
  const note = (hostId: number | undefined, reason = 'why') => refusals.note({ refusal: 'noRoute', reason, hostId, address: '192.0.2.1' });
  return { log, refusals, note };
}

test('each of a few refusals has a line of its own', () => {
  const { log, note } = start();
  const ids = [note(1), note(1), note(undefined)];
  expect(new Set(ids).size).toBe(3);
  expect(log.entries.map(({ id }) => id)).toEqual(ids);
  expect(log.entries[0]).toMatchObject({ msg: 'a request was refused: why', hostId: 1, address: '192.0.2.1', status: 404 });
});

test('a flood makes a bounded number of lines, and every id that was shown is in one of them', () => {
  const { log, refusals, note } = start();
  const ids = [...Array.from({ length: 5000 }, (_, index) => note(index)), ...Array.from({ length: 5000 }, () => note(7))];
  const shown = new Set(ids);
  refusals.flush();
  // The host that has a line keeps it.
  expect(new Set(ids.slice(5000))).toEqual(new Set(ids.slice(7, 8)));
  expect(log.entries.length).toBeLessThan(150);
  const logged = new Set(log.entries.map(({ id }) => id));
  expect([...shown].filter((id) => !logged.has(id))).toEqual([]);
  expect(log.entries.reduce((sum, { more }) => sum + (typeof more === 'number' ? more : 1), 0)).toBe(10_000);
});

test('the next second has lines of its own again', () => {
  const { log, refusals, note } = start();
  const before = Array.from({ length: 20 }, () => note(1)).at(-1);
  refusals.flush();
  expect(note(1)).not.toBe(before);
  expect(log.entries.map(({ more }) => more).filter(Boolean)).toEqual([10]);
  for (let hostId = 1; hostId <= 200; hostId++) note(hostId);
  refusals.flush();
  expect(note(2)).not.toBe(note(1));
});

test('a second begins with its first refusal, and ends by itself', () => {
  jest.useFakeTimers();
  try {
    const { log, refusals, note } = start();
    const more = () => log.entries.map((entry) => entry['more']).filter(Boolean);
    for (let count = 0; count < 12; count++) note(1);
    jest.advanceTimersByTime(999);
    expect(more()).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(more()).toEqual([2]);
    note(1);
    jest.advanceTimersByTime(500);
    refusals.flush();
    for (let count = 0; count < 13; count++) note(1);
    jest.advanceTimersByTime(999);
    expect([more(), log.entries.length]).toEqual([[2], 10 + 1 + 1 + 10]);
    jest.advanceTimersByTime(1);
    expect([more(), jest.getTimerCount()]).toEqual([[2, 3], 0]);
    expect(log.entries.at(-1)).toMatchObject({ id: log.entries.at(-2)?.id, hostId: 1, status: 404 });
  } finally {
    jest.useRealTimers();
  }
});

test('requests that share an id are counted in the log before the server has ended', async () => {
  const { httpPort, server, log } = await startVhost([]);
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n';
  await exchange(httpPort, `${`${request}\r\n`.repeat(14)}${request}Connection: close\r\n\r\n`);
  await server.close();
  expect(log.entries.map(({ more }) => more).filter(Boolean)).toEqual([5]);
});

test('external text is one short line of the log', async () => {
  const { log, note } = start();
  note(1, `no host takes \u009b31m${'x'.repeat(1000)}`);
  expect(log.entries[0]?.msg).toMatch(/^a request was refused: no host takes \\x9b31mx+$/);
  expect(log.entries[0]?.msg.length).toBeLessThan(300);
  const { httpPort, log: served } = await startVhost([]);
  const page = await exchange(httpPort, `GET / HTTP/1.1\r\nHost: [31m${'y'.repeat(2000)}\r\nConnection: close\r\n\r\n`);
  const line = await served.line(/a request was refused/);
  expect(line.msg).toMatch(/no host takes \[31my+$/);
  expect(page).toContain(`X-Request-Id: ${String(line['id'])}`);
});
