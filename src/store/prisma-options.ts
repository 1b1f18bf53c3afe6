/**
 * What both clients are made with. A transaction waits for those before it and must then be quick: nobody else can write
 * meanwhile. Errors carry no source code, for they end in the log.
 */
export const clientOptions = {
  transactionOptions: { maxWait: 15_000, timeout: 15_000 },
  errorFormat: 'minimal',
} as const;
