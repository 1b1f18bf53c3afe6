import { afterEach, jest } from '@jest/globals';

const stopped: Array<() => void> = [];
afterEach(() => {
  for (const go of stopped.splice(0)) go();
});

/**
 * Stops the monotonic clock of this process until the end of the test, so that no time limit passes while a busy machine delays the test. Timers go on.
 * @returns lets a second pass again and again until the event has happened: bytes that were on their way when the test began to wait can still be a sign of life
 */
export function stopClock(): <T>(event: Promise<T>) => Promise<T> {
  let now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  stopped.push(() => clock.mockRestore());
  return async (event) => {
    const passing = setInterval(() => {
      now += 1000;
    }, 20);
    try {
      return await event;
    } finally {
      clearInterval(passing);
    }
  };
}
