import { AditError } from '../errors.ts';

/** Maximum id of a record, given by its column. */
const largest = 2 ** 31 - 1;

/**
 * The number of an id in an input; null and undefined stay unchanged. An id that no record has is valid here; the lookup finds nothing.
 * @param field the argument or input field, for the error
 * @throws {AditError} INVALID_INPUT for a text that can't be an id
 */
export function idOf(field: string, id: string): number;
export function idOf(field: string, id: string | undefined): number | undefined;
export function idOf(field: string, id: string | null | undefined): number | null | undefined;
export function idOf(field: string, id: string | null | undefined): number | null | undefined {
  if (id === null || id === undefined) return id;
  const value = Number(id);
  // `String` ensures a canonical spelling: neither 01 nor 1e0.
  if (!Number.isInteger(value) || Math.abs(value) > largest || String(value) !== id) throw new AditError('INVALID_INPUT', { field, reason: 'not an id' });
  return value;
}
