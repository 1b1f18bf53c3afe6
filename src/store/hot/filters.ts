import type { Binder } from './reader.ts';

/** Whose records a list shows; absent = everybody's, null = those of clients that nobody owns. */
export type OwnerFilter = number | null | undefined;

/** The condition that a column equals a value; null = has none, undefined = no condition. */
export function equals(binder: Binder, column: string, value: string | number | null | undefined): string[] {
  if (value === undefined) return [];
  return [value === null ? `"${column}" IS NULL` : `"${column}" = ${binder.bind(value)}`];
}

/**
 * The query that counts the rows of a list where no total is kept: it reads an index, no rows, in proportion to what it counts.
 */
export function counted(table: string, conditions: readonly string[]): string {
  return `SELECT count(*) AS total FROM "${table}" WHERE ${conditions.join(' AND ')}`;
}
