/** The most that a counter of bytes can say: beyond it numbers are not exact. Both databases, GraphQL's Bytes and JSON take it. */
export const MOST_BYTES = Number.MAX_SAFE_INTEGER;

/** The one way in which counters of bytes grow: the sum, or the most that a counter can say. Both at least 0. */
export function addBytes(count: number, more: number): number {
  const sum = count + more;
  return sum <= MOST_BYTES ? sum : MOST_BYTES;
}

/** What is stored, or was computed, as a counter can say it: a whole number from 0 to MOST_BYTES. What is no number is 0. */
export function byteCount(value: unknown): number {
  const number = Math.trunc(Number(value));
  if (Number.isNaN(number)) return 0;
  return Math.min(MOST_BYTES, Math.max(0, number));
}
