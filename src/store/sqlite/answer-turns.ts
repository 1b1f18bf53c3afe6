/** How long answers of workers may be processed in one iteration of the event loop, with what follows on each at once, in ms. */
const MOST_MS = 8;

/** When the first one of this iteration was taken; undefined = none was. */
let since: number | undefined;
/** Answers that wait for a later iteration. */
let waiting = 0;

/**
 * Takes an answer of a database worker now, or in a later iteration of the event loop if others have used up the time of this one. The system delivers all that
 * have arrived in one iteration, and on each follow the parsing of rows and what an operation makes of them. They are taken in their order.
 */
export function inTimeSlice(take: () => void): void {
  if (waiting === 0 && hasTime()) return take();
  waiting++;
  later(take);
}

/** In callbacks of their own: what follows on one answer is done before the next one looks at the clock. */
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
    setImmediate(() => { since = undefined; });
  }
  return now - since < MOST_MS;
}
