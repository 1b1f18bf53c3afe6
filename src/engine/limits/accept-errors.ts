import type { Logger } from 'pino';

/** One line at most in this many ms: when file descriptors run out, every connection that comes fails. */
const PAUSE_MS = 10_000;

/** What a listener does with accepts that fail: log them, and say how many were not logged. */
export function logAcceptErrors(log: Logger, port: number): (error: Error) => void {
  let last = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (error) => {
    const now = performance.now();
    if (now - last < PAUSE_MS) {
      unlogged++;
      return;
    }
    log.error({ err: error, port, unlogged }, 'a listener failed to accept a connection');
    last = now;
    unlogged = 0;
  };
}
