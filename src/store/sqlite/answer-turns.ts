/** Time for processing answers of workers, and everything that follows synchronously, in one iteration of the event loop, in ms. */
const MOST_MS = 8;

/** When the first answer of this iteration was processed; undefined = none so far. */
let since: number | undefined;
/** Answers that wait for a later iteration. */
let waiting = 0;

/**
 * Processes an answer of a database worker now, or in a later iteration of the event loop if the time of this iteration is used up. The system delivers
 * all pending answers in one iteration, and each one causes parsing of rows and further work. Answers are processed in order.
 */
export function inTimeSlice(take: () => void): void {
  if (waiting === 0 && hasTime()) return take();
  waiting++;
  later(take);
}

/** A callback for each answer: its synchronous follow-up work is done before the next one checks the time. */
function later(take: () => void): void {
  setImmediate(() => {
    if (!hasTime()) return later(take);
    waiting--;
    take();
  });
}

function hasTime(): boolean {
  const now = performance.now();
  if (since === undefined) {
    since = now;
    setImmediate(() => {
      since = undefined;
    });
  }
  return now - since < MOST_MS;
}
