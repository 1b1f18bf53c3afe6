/** How long a write waits for the lock of another program, in ms, on both databases. */
export const LOCK_WAIT_MS = 5000;

/**
 * The options of both clients. A transaction waits for earlier ones and must then be fast, since no other write can run
 * meanwhile. Errors contain no source code, because they are logged.
 */
export const clientOptions = {
  transactionOptions: { maxWait: 15_000, timeout: 15_000 },
  errorFormat: 'minimal',
} as const;
