/** How long a write waits for the lock of another program, in ms, on both databases. */
export const LOCK_WAIT_MS = 5000;
/** How long a write waits after earlier ones have timed out, in ms, so that queued writes don't all wait for the full time. */
export const SHORT_LOCK_WAIT_MS = 50;
/** If the lock was not seen for this long, in ms, it counts as a new lock. */
export const LOCK_FORGOTTEN_MS = 1000;

/**
 * The options of both clients. A transaction waits for earlier ones and must then be fast, since no other write can run
 * meanwhile. Errors contain no source code, because they are logged.
 */
export const clientOptions = {
  transactionOptions: { maxWait: 15_000, timeout: 15_000 },
  errorFormat: 'minimal',
} as const;
