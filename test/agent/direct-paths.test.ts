import { afterEach, expect, jest, test } from '@jest/globals';
import { DirectPaths } from '../../src/agent/direct/direct-paths.ts';
import { Signal } from '../../src/agent/direct/signal.ts';
import { Mux } from '../../src/wire/mux.ts';
import { ASK_DIRECT } from '../../src/wire/visit-messages.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { socketPair } from '../support/wire.ts';

const ends: Array<() => void> = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Direct paths of a visitor whose agent ends each attempt after the greeting; what each attempt prefers, and how long the next one waits. */
async function failing(retry: { readonly first: number; readonly longest: number }) {
  const { dialed, accepted } = await socketPair();
  const greetings: string[] = [];
  const quiet = { onControl: () => undefined, onClose: () => undefined };
  const visitor = new Mux(dialed, 'server', { ...quiet, onOpen: (stream) => stream.reset() });
  const server = new Mux(accepted, 'agent', {
    ...quiet,
    onOpen: (stream, payload) => {
      expect(payload).toEqual(ASK_DIRECT);
      const signal = new Signal();
      stream.join(signal);
      void signal.receive('hello').then(({ ways: [preferred], stunPorts }) => {
        greetings.push(`${preferred} ${stunPorts.length}`);
        signal.destroy();
      });
    },
  });
  const log = new LogRecorder();
  const waits = jest.spyOn(globalThis, 'setTimeout');
  const sent: unknown[] = [];
  const paths = new DirectPaths({
    password: 'p',
    log: log.logger,
    server: '127.0.0.1',
    open: (payload) => visitor.open(payload),
    send: (message) => sent.push(message),
    retry,
  });
  ends.push(() => {
    waits.mockRestore();
    paths.close();
    visitor.close('over');
    server.close('over');
  });
  const failures = () => log.entries.filter(({ msg }) => msg.startsWith('no direct path: ')).map(({ level }) => level);
  /** The waits between attempts: odd, so that no other timer has them. */
  const retries = () => waits.mock.calls.map(([, ms]) => ms ?? 0).filter((ms) => ms % retry.first === 0 && ms <= retry.longest && ms > 0);
  return { paths, greetings, failures, retries, sent };
}

test('attempts follow each other at doubling intervals, with UDP and TCP alternately; the first failure is in the log', async () => {
  const { paths, greetings, failures, retries, sent } = await failing({ first: 7, longest: 28 });
  paths.start();
  // There is an attempt already.
  paths.start();
  await eventually(() => greetings.length, (length) => length >= 5);
  await eventually(failures, ({ length }) => length >= 5);
  expect(greetings.slice(0, 5)).toEqual(['udp 0', 'tcp 0', 'udp 0', 'tcp 0', 'udp 0']);
  expect(failures().slice(0, 5)).toEqual([30, 20, 20, 20, 20]);
  expect(retries().slice(0, 5)).toEqual([7, 14, 28, 28, 28]);
  expect(sent).toEqual([]);
});

test.each(['stop', 'drain', 'close'] as const)('after %s no attempt follows', async (how) => {
  const { paths, greetings, failures, retries } = await failing({ first: 10_007, longest: 20_014 });
  paths.start();
  await eventually(failures, ({ length }) => length === 1);
  expect(retries()).toEqual([10_007]);
  const cleared = jest.spyOn(globalThis, 'clearTimeout');
  paths[how]();
  expect(cleared).toHaveBeenCalled();
  cleared.mockRestore();
  expect(greetings.length).toBe(1);
});

test('it begins again at once, with UDP and the first interval, when the agent is there again; not while the server ends', async () => {
  const { paths, greetings, failures, retries } = await failing({ first: 10_007, longest: 20_014 });
  for (const count of [1, 2]) {
    paths.start();
    await eventually(failures, ({ length }) => length === count);
    paths.stop();
  }
  expect([greetings, retries()]).toEqual([['udp 0', 'udp 0'], [10_007, 10_007]]);
  paths.drain();
  paths.start();
  await new Promise(setImmediate);
  expect(greetings.length).toBe(2);
  expect(paths.carry(new EmptySocket(), () => () => undefined)).toBe(false);
});
