/** The maximum of a byte counter. Larger numbers are not exact. Both databases, GraphQL's Bytes and JSON can represent it. */
export const MOST_BYTES = Number.MAX_SAFE_INTEGER;

/** Adds to a byte counter; the sum saturates at the maximum. Both must be at least 0. */
export function addBytes(count: number, more: number): number {
  const sum = count + more;
  return sum <= MOST_BYTES ? sum : MOST_BYTES;
}

/** Converts a stored or computed value to a valid counter: an integer from 0 to MOST_BYTES. Anything that is not a number becomes 0. */
export function byteCount(value: unknown): number {
  const number = Math.trunc(Number(value));
  if (Number.isNaN(number)) return 0;
  return Math.min(MOST_BYTES, Math.max(0, number));
}
