import { equals, type Binder } from './binder.ts';
import type { Where } from '../search/search.ts';

/** The owner whose records a list shows; absent = all, null = those of clients without an owner. */
export type OwnerFilter = number | null | undefined;

/** What a list is filtered by. @param values by column; undefined = no condition */
export function filterOf(values: Readonly<Record<string, string | number | null | undefined>>): Where {
  const where: Record<string, string | number | null> = {};
  for (const column in values) {
    const value = values[column];
    if (value !== undefined) where[column] = value;
  }
  return where;
}

/** A filter as the condition of WHERE; '' = everything. */
export function conditions(where: Where, binder: Binder): string {
  const all = Object.entries(where).map(([column, value]) => equals(binder, column, value));
  return all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`;
}

/**
 * The query that counts the rows of a list without a stored total: it reads an index, not rows, at a cost proportional to the count.
 */
export function counted(table: string, where: Where, binder: Binder): string {
  return `SELECT count(*) AS total FROM "${table}"${conditions(where, binder)}`;
}
