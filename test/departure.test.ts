import { expect, test } from '@jest/globals';
import { Departure } from '../src/departure.ts';
import type { OtherServers } from '../src/wire/other-servers.ts';
import { LogRecorder } from './support/log-recorder.ts';

const another: OtherServers = { servers: [{ host: '192.0.2.1', port: 7000, tlsPort: 7001 }], here: false };

/** A server with others, whose last agent or visitor program goes when somebody has looked `looks` times. */
function leaving(looks: number, others: OtherServers = another, siblingServes = false, last: 'hasAgents' | 'hasVisitors' = 'hasAgents') {
  const seen = { looks: 0, left: new Array<boolean>() };
  const nodes = {
    others,
    siblingServes,
    leave: (on: boolean) => void seen.left.push(on),
    hasAgents: false,
    hasVisitors: false,
  };
  Object.defineProperty(nodes, last, { get: () => ++seen.looks < looks });
  const log = new LogRecorder();
  const departure = new Departure({ nodes }, log.logger);
  const refuses = () => {
    try {
      departure.check();
      return false;
    } catch {
      return true;
    }
  };
  return { departure, seen, log, refuses };
}

test('a server that drains sends others away until it is to serve again, unless another process serves at its ports', () => {
  const { departure, seen, log, refuses } = leaving(1);
  const states: unknown[] = [];
  for (const on of [false, true, true, false, true]) {
    departure.drain(on);
    states.push([departure.draining, departure.stopping, refuses()]);
  }
  const [serves, drains] = [[false, false, false], [true, false, true]];
  expect(states).toEqual([serves, drains, drains, serves, drains]);
  expect([seen.left, log.entries.map(({ msg }) => msg.split(':')[0])]).toEqual([[true, false, true], ['draining', 'no longer draining', 'draining']]);
  expect(() => departure.check()).toThrow(expect.objectContaining({ code: 'NODE_DRAINING' }));
  const sibling = leaving(1, another, true);
  sibling.departure.drain(true);
  expect([sibling.departure.draining, sibling.refuses()]).toEqual([true, false]);
});

test.each([false, true])('a server that stops gives the others time to notice, and stays on its way out; it drained before: %s', async (drained) => {
  const { departure, seen, refuses } = leaving(1, another, true);
  departure.drain(drained);
  const stopped = departure.stop(200);
  await new Promise(setImmediate);
  expect([departure.stopping, departure.draining, departure.signal.aborted, refuses()]).toEqual([true, true, false, true]);
  departure.drain(false);
  await stopped;
  expect([seen.left, departure.draining, departure.signal.aborted]).toEqual([[true], true, true]);
});

test.each(['hasAgents', 'hasVisitors'] as const)(
  'a server that stops keeps its ports open until its last agent or visitor program has gone (%s)',
  async (last) => {
    const { departure, seen, log } = leaving(3, another, false, last);
    await departure.stop(1000);
    expect(seen).toEqual({ looks: 3, left: [true] });
    expect(log.entries.filter(({ level }) => level >= 40)).toEqual([]);
    expect(departure.signal.aborted).toBe(true);
  },
);

test.each([['an agent', 'hasAgents'], ['a visitor program', 'hasVisitors']] as const)(
  'it waits for %s that stays as long again as for the load balancers, and no longer',
  async (_, last) => {
    const { departure, seen, log } = leaving(Infinity, another, false, last);
    const began = performance.now();
    await departure.stop(60);
    expect(performance.now() - began).toBeGreaterThanOrEqual(119);
    expect(seen.looks).toBeGreaterThan(0);
    expect(log.entries.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^some agents or visitor programs have not gone to another server: /),
    ]);
    expect(departure.signal.aborted).toBe(true);
  },
);

test.each([['without other servers', { servers: [], here: false }], ['with other processes on its machine only', { servers: [], here: true }]])(
  '%s it closes its ports at once',
  async (_, others) => {
    const { departure, seen } = leaving(Infinity, others);
    await departure.stop(3_600_000);
    expect(departure.signal.aborted).toBe(true);
    expect(seen).toEqual({ looks: 0, left: [] });
  },
);
