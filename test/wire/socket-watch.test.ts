import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { LOOK_MS, SocketWatch } from '../../src/wire/socket-watch.ts';

beforeEach(() => { jest.useFakeTimers(); });
afterEach(() => { jest.useRealTimers(); });

test('all of a crowd that goes at once are found within one round', () => {
  const watch = new SocketWatch();
  let found = 0;
  for (let n = 0; n < 1000; n++) watch.add({ look: () => { found++; return false; } });
  jest.advanceTimersByTime(LOOK_MS);
  expect(found).toBe(1000);
});

test('sockets that stay are looked at once in each round, whatever goes beside them', () => {
  const watch = new SocketWatch();
  let looks = 0;
  for (let n = 0; n < 500; n++) watch.add({ look: () => { looks++; return true; } });
  for (let n = 0; n < 500; n++) watch.add({ look: () => false });
  jest.advanceTimersByTime(LOOK_MS);
  expect(looks).toBe(500);
  jest.advanceTimersByTime(10 * LOOK_MS);
  expect(looks).toBeGreaterThan(500 * 8);
  expect(looks).toBeLessThanOrEqual(500 * 11);
});
