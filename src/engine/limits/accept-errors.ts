import type { Logger } from 'pino';

/** Minimum interval between log lines, in ms: when file descriptors run out, every accept fails. */
const PAUSE_MS = 10_000;

/** The handler for failed accepts of a listener: logs them, with the number of failures that were not logged. */
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
