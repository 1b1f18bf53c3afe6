import { afterEach, jest } from '@jest/globals';

const stopped: Array<() => void> = [];
afterEach(() => {
  for (const go of stopped.splice(0)) go();
});

/**
 * Stops the monotonic clock of this process until the end of the test, so that no time limit passes while a busy machine delays the test. Timers go on.
 * @returns moves the clock on by so many ms
 */
export function stopClock(): (ms: number) => void {
  let now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  stopped.push(() => clock.mockRestore());
  return (ms) => {
    now += ms;
  };
}
