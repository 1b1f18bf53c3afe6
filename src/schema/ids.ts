import { AditError } from './errors.ts';

/** The largest id of a record: what its column holds. */
const largest = 2 ** 31 - 1;

/**
 * The number behind an id as a caller gave it; null and undefined stay what they are. An id that no record has is no fault here: the lookup finds none.
 * @param field the argument or input field that holds it, for the error
 * @throws {AditError} INVALID_INPUT for a text that is no id of a record
 */
export function idOf(field: string, id: string): number;
export function idOf(field: string, id: string | undefined): number | undefined;
export function idOf(field: string, id: string | null | undefined): number | null | undefined;
export function idOf(field: string, id: string | null | undefined): number | null | undefined {
  if (id === null || id === undefined) return id;
  const value = Number(id);
  // `String` makes sure that a record has one id: neither 01 nor 1e0.
  if (!Number.isInteger(value) || Math.abs(value) > largest || String(value) !== id) throw new AditError('INVALID_INPUT', { field, reason: 'not an id' });
  return value;
}
