import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Departure } from '../src/departure.ts';
import type { OtherServers } from '../src/wire/other-servers.ts';

const another: OtherServers = { servers: [{ host: '192.0.2.1', port: 7000, tlsPort: 7001 }], here: false };

/** A server with others, whose last agent goes when somebody has looked `looks` times. */
function leaving(looks: number, others: OtherServers = another) {
  const seen = { looks: 0, left: new Array<boolean>() };
  const nodes = {
    others,
    siblingServes: false,
    leave: (on: boolean) => void seen.left.push(on),
    get hasAgents() {
      return ++seen.looks < looks;
    },
  };
  return { departure: new Departure({ nodes }, pino({ level: 'silent' })), seen };
}

test('a server that stops keeps its ports open until its last agent has gone', async () => {
  const { departure, seen } = leaving(3);
  await departure.stop(1000);
  expect(seen).toEqual({ looks: 3, left: [true] });
  expect(departure.signal.aborted).toBe(true);
});

test('it waits for an agent that stays as long again as for the load balancers, and no longer', async () => {
  const { departure, seen } = leaving(Infinity);
  const began = performance.now();
  await departure.stop(60);
  expect(performance.now() - began).toBeGreaterThanOrEqual(119);
  expect(seen.looks).toBeGreaterThan(0);
  expect(departure.signal.aborted).toBe(true);
});

test.each([['without other servers', { servers: [], here: false }], ['with other processes on its machine only', { servers: [], here: true }]])(
  '%s it closes its ports at once',
  async (_, others) => {
    const { departure, seen } = leaving(Infinity, others);
    await departure.stop(3_600_000);
    expect(seen).toEqual({ looks: 0, left: [] });
  },
);
