import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { LOOK_MS, NOT_WATCHED, SocketWatch, type Watched } from '../../src/wire/socket-watch.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function watched(look: () => boolean): Watched {
  return { watchPlace: NOT_WATCHED, look };
}

test('all of a crowd that goes at once are found within one round', () => {
  const watch = new SocketWatch();
  let found = 0;
  for (let n = 0; n < 1000; n++) {
    watch.add(watched(() => {
      found++;
      return false;
    }));
  }
  jest.advanceTimersByTime(LOOK_MS);
  expect(found).toBe(1000);
});

test('sockets that stay are looked at once in each round, whatever goes beside them', () => {
  const watch = new SocketWatch();
  let looks = 0;
  for (let n = 0; n < 500; n++) {
    watch.add(watched(() => {
      looks++;
      return true;
    }));
  }
  for (let n = 0; n < 500; n++) watch.add(watched(() => false));
  jest.advanceTimersByTime(LOOK_MS);
  expect(looks).toBe(500);
  jest.advanceTimersByTime(10 * LOOK_MS);
  expect(looks).toBeGreaterThan(500 * 8);
  expect(looks).toBeLessThanOrEqual(500 * 11);
});

test('no socket is skipped when others are added or removed between and during the steps', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { minLength: 300, maxLength: 300 }), (choices) => {
      jest.useRealTimers();
      jest.useFakeTimers();
      const watch = new SocketWatch();
      const passing: Watched[] = [];
      let choice = 0;
      const chosen = (): number => choices[choice++ % choices.length] ?? 0;
      const come = (): void => {
        const socket = watched(() => true);
        watch.add(socket);
        watch.add(socket);
        passing.push(socket);
      };
      const go = (): void => {
        const [gone] = passing.splice(Math.floor(passing.length * chosen() / 10), 1);
        if (!gone) return;
        watch.delete(gone);
        watch.delete(gone);
      };
      let looks: number[] = [];
      let over = false;
      for (let n = 0; n < 50; n++) {
        come();
        watch.add(watched(() => {
          looks.push(n);
          // As a socket that is gone takes others with it.
          if (chosen() < 5) go();
          return !over;
        }));
      }
      for (let round = 0; round < 5; round++) {
        looks = [];
        for (let step = 0; step < 35; step++) {
          jest.advanceTimersByTime(LOOK_MS / 15);
          for (let n = chosen(); n > 0; n--) (chosen() < 5 ? come : go)();
        }
        // A round takes 15 steps, or a few more as sockets come. One that was moved is looked at early in one round and late in the next.
        expect(new Set(looks).size).toBe(50);
      }
      for (const each of passing) watch.delete(each);
      over = true;
      jest.advanceTimersByTime(2 * LOOK_MS);
      expect(jest.getTimerCount()).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('a closed socket is not probed, and its place is free', () => {
  const watch = new SocketWatch();
  const gone = watched(() => {
    throw new Error('it was looked at');
  });
  watch.add(gone);
  watch.delete(gone);
  expect(gone.watchPlace).toBe(NOT_WATCHED);
  jest.advanceTimersByTime(2 * LOOK_MS);
  expect(jest.getTimerCount()).toBe(0);
});
