import { expect, jest, test } from '@jest/globals';
import { Answerer } from '../../src/stream-handlers/answerer.ts';
import { DatagramBudget } from '../../src/wire/datagram-socket.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { encodeOpen } from '../../src/wire/open.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';

/** An answerer whose dials are written down and never succeed. */
function recording() {
  const dialed: number[] = [];
  const dial = ({ port }: { readonly port: number }) => {
    dialed.push(port);
  };
  const answerer = new Answerer({ sockets: { ...netBackend, dial }, datagrams: new DatagramBudget(), hold: () => () => undefined }, new LogRecorder().logger);
  const ends: Array<{ over: boolean }> = [];
  const ask = (tunnel: number) => {
    const stream = {
      over: false,
      join: () => undefined,
      reset() {
        this.over = true;
      },
    };
    ends.push(stream);
    answerer.answer(stream, encodeOpen({ kind: 'tcp', by: `tunnel ${tunnel}`, targets: [`127.0.0.1:${tunnel}`] }));
    return stream;
  };
  return { dialed, ask, ends };
}

test('targets of one tunnel are dialed although hundreds of another wait for theirs', async () => {
  const { dialed, ask } = recording();
  for (let i = 0; i < 500; i++) ask(1);
  ask(2);
  expect(dialed.indexOf(2)).toBeGreaterThanOrEqual(0);
  expect(dialed.indexOf(2)).toBeLessThan(10);
  await eventually(() => dialed.length, (count) => count === 501);
});

test('nothing is dialed for a visitor that disconnected while it waited', async () => {
  const { dialed, ask } = recording();
  const streams = Array.from({ length: 100 }, () => ask(1));
  for (const stream of streams.slice(50)) stream.over = true;
  ask(1);
  await eventually(() => dialed.length, (count) => count >= 51);
  expect(dialed.length).toBe(51);
});

test('a tunnel whose targets are silent leaves room for the others', async () => {
  const { dialed, ask, ends } = recording();
  for (let i = 0; i < 3000; i++) ask(1);
  await eventually(() => ends.filter(({ over }) => over).length, (count) => count === 3000 - 2048);
  ask(2);
  expect(dialed.filter((port) => port === 2).length).toBe(1);
  expect(dialed.length).toBe(2049);
});

test('a tunnel dials 2048 targets at once, all together 4096; each answer makes room for one more', async () => {
  const answers = new Map<number, Array<() => void>>([[1, []], [2, []], [3, []]]);
  let dialed = [0, 0, 0];
  const failed = new Error('not there');
  const sockets = {
    ...netBackend,
    dial: ({ port }: { readonly port: number }, onDialled: (outcome: Error) => void) => {
      dialed = dialed.map((count, at) => at === port - 1 ? count + 1 : count);
      answers.get(port)?.push(() => onDialled(failed));
    },
  };
  const answerer = new Answerer({ sockets, datagrams: new DatagramBudget(), hold: () => () => undefined }, new LogRecorder().logger);
  let resets = 0;
  const ask = (tunnel: number, count: number): void => {
    for (let i = 0; i < count; i++) {
      const stream = { over: false, join: () => undefined, reset: () => void resets++ };
      answerer.answer(stream, encodeOpen({ kind: 'tcp', by: `tunnel ${tunnel}`, targets: [`127.0.0.1:${tunnel}`] }));
    }
  };
  const answer = (tunnel: number, count: number): void => {
    for (const one of answers.get(tunnel)?.splice(0, count) ?? []) one();
  };
  ask(1, 2050);
  await eventually(() => resets, (count) => count === 2);
  expect(dialed).toEqual([2048, 0, 0]);
  answer(1, 48);
  expect(resets).toBe(50);
  ask(2, 2048);
  await eventually(() => dialed[1], (count) => count === 2048);
  ask(3, 50);
  await eventually(() => resets, (count) => count === 52);
  expect(dialed).toEqual([2048, 2048, 48]);
  answer(2, 60);
  ask(1, 100);
  await eventually(() => resets, (count) => count === 52 + 60 + 52);
  // 48 of its own had made room, and 12 more of the others.
  expect(dialed).toEqual([2048 + 48, 2048, 48]);
  ask(3, 20);
  await eventually(() => resets, (count) => count === 52 + 60 + 52 + 8);
  expect(dialed).toEqual([2096, 2048, 60]);
});

test.each([
  ['of an unknown kind', Buffer.from('{"kind":"x"}'), 'the server sent a request that this version does not know'],
  ['for what it does not have', encodeOpen({ kind: 'file', by: 'tunnel 1', path: '/x', stripPrefix: '' }), 'files are served by agents only'],
  [
    'for a direct path to no agent',
    encodeOpen({ kind: 'direct', tunnelId: 1, password: 'p', targets: ['127.0.0.1:1'], stunPorts: [2] }),
    'direct paths lead to agents only',
  ],
  ['for no target', encodeOpen({ kind: 'tcp', by: 'tunnel 1', targets: ['nonsense'] }), 'no target responds: "nonsense" is not a target'],
  [
    'for a UDP target whose name is unknown',
    encodeOpen({ kind: 'udp', by: 'tunnel 1', targets: ['no-such-name.invalid:53'] }),
    expect.stringMatching(/^no target responds: no-such-name\.invalid:53: getaddrinfo /),
  ],
  ['for no UDP target', encodeOpen({ kind: 'udp', by: 'tunnel 1', targets: ['nonsense'] }), 'no target responds: "nonsense" is not a target'],
])('a request %s is refused with the reason in the log, which tells it once in a while', async (_what, payload, reason) => {
  const { logger, entries } = new LogRecorder();
  const answerer = new Answerer({ sockets: netBackend, datagrams: new DatagramBudget(), hold: () => () => undefined }, logger);
  let resets = 0;
  const stream = { over: false, join: () => undefined, reset: () => void resets++ };
  answerer.answer(stream, payload);
  answerer.answer(stream, payload);
  await eventually(() => resets, (count) => count === 2);
  const warnings = () => entries.filter(({ level }) => level === 40).map(({ msg }) => msg);
  expect(warnings()).toEqual([reason]);
  const later = performance.now() + 10_000;
  const now = jest.spyOn(performance, 'now').mockReturnValue(later);
  answerer.answer(stream, payload);
  await eventually(() => resets, (count) => count === 3);
  now.mockRestore();
  expect(warnings()).toEqual([reason, reason]);
});
