/**
 * Makes a monotonic clock that goes on while the machine sleeps, in ms since the start of the process. On Linux, performance.now() stands still then, but the time of day does not: it is what
 * this clock catches up with. If the time of day is set forward, it seems that the machine has slept.
 */
export function awakeClock(): () => number {
  const ahead = (): number => Date.now() - performance.now();
  const atStart = ahead();
  let slept = 0;
  return () => {
    slept = Math.max(slept, ahead() - atStart);
    return performance.now() + slept;
  };
}

/** The one of this process. @see awakeClock */
export const awakeNow = awakeClock();
