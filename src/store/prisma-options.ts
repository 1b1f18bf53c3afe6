/** How long a write waits for the lock of another program, in ms, on both databases. */
export const LOCK_WAIT_MS = 5000;

/**
 * What both clients are made with. A transaction waits for those before it and must then be quick: nobody else can write
 * meanwhile. Errors carry no source code, for they end in the log.
 */
export const clientOptions = {
  transactionOptions: { maxWait: 15_000, timeout: 15_000 },
  errorFormat: 'minimal',
} as const;
