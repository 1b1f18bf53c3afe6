import { invalidInput } from '../errors.ts';

/*
 * The database stores '' and 0 for "none" and "unlimited"; the schema uses null. These functions convert between them.
 */

/** A stored text in GraphQL: null = none. */
export function textOrNull(stored: string): string | null {
  return stored === '' ? null : stored;
}

/** A stored limit or port in GraphQL: null = none. */
export function numberOrNull(stored: number): number | null {
  return stored === 0 ? null : stored;
}

/** The value of an input, with `empty` instead of null; undefined = not given. */
export function givenOr<T, Empty>(value: T | null | undefined, empty: Empty): T | Empty | undefined {
  return value === null ? empty : value;
}

/** An input's text as stored. @throws {AditError} INVALID_INPUT for an empty text: use null */
export function textOrNone(field: string, value: string | null | undefined): string | undefined {
  return givenOr(notEmpty(field, value, 'null = none'), '');
}

/** A text of an input. @param instead what to send instead of an empty text @throws {AditError} INVALID_INPUT for an empty text */
export function notEmpty<T extends string | null | undefined>(field: string, value: T, instead: string): T {
  if (value === '') throw invalidInput(field, `an empty text; ${instead}`);
  return value;
}

/** An input's limit as stored. @throws {AditError} INVALID_INPUT below 1 */
export function limitOrNone(field: string, value: number | null | undefined): number | undefined {
  if (typeof value === 'number' && value < 1) throw invalidInput(field, 'less than 1; null = unlimited');
  return givenOr(value, 0);
}

/** The value of an input for a field that always has a value. @throws {AditError} INVALID_INPUT for null */
export function neverNull<T>(field: string, value: T | null | undefined): T | undefined {
  if (value === null) throw invalidInput(field, 'null; leave it out to keep its value');
  return value;
}

/** The fields of an input for a new record, without those that are null: they get their default, as absent ones do. */
export function withoutNulls<Input extends object>(input: Input): { [Field in keyof Input]: Exclude<Input[Field], null> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the filter is what the type says
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as { [Field in keyof Input]: Exclude<Input[Field], null> };
}
