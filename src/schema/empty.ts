import { invalidInput } from './errors.ts';

/*
 * The database has '' and 0 where there is no text and no limit; the schema says null. This is where one becomes the other.
 */

/** A text of a row as the schema answers it: null = none. */
export function textOrNull(stored: string): string | null {
  return stored === '' ? null : stored;
}

/** A limit or a port of a row as the schema answers it: null = none. */
export function numberOrNull(stored: number): number | null {
  return stored === 0 ? null : stored;
}

/** What an input gives, with `empty` in place of null; undefined = not given. */
export function givenOr<T, Empty>(value: T | null | undefined, empty: Empty): T | Empty | undefined {
  return value === null ? empty : value;
}

/** A limit that an input gives, as a row has it. @throws {AditError} INVALID_INPUT below 1 */
export function limitOrNone(field: string, value: number | null | undefined): number | undefined {
  if (typeof value === 'number' && value < 1) throw invalidInput(field, 'less than 1; null = unlimited');
  return givenOr(value, 0);
}

/** What an input gives of a field that always has a value. @throws {AditError} INVALID_INPUT for null */
export function neverNull<T>(field: string, value: T | null | undefined): T | undefined {
  if (value === null) throw invalidInput(field, 'null; leave it out to keep its value');
  return value;
}
