/** Times in ms, and limits. Authorities allow more: 300 orders in 3 hours, 5 failures per name and hour. */
export const ACME_TIMING = {
  /** The delay before the second attempt; it doubles for each further attempt. */
  backoffMs: 5 * 60_000,
  longestBackoffMs: 24 * 3_600_000,
  /** Maximum concurrent orders. */
  atOnce: 4,
  /** Maximum orders started per hour. */
  perHour: 60,
  /** Maximum attempts per name and hour that are requested in addition to those after the delay. Authorities allow 5 failures. */
  retriesPerHour: 3,
  /** Maximum interval between checks of the clock, which may be changed. */
  lookMs: 60_000,
  /** The same with other servers: the one that orders may have ended. */
  lookAmongOthersMs: 2000,
} as const;

/** @see ACME_TIMING */
export type AcmeTiming = { readonly [Name in keyof typeof ACME_TIMING]: number };
