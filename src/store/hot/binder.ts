import type { Dialect } from '../migrations.ts';

/** SQL with its values; the placeholders are those of the reader's database. */
export interface HotQuery {
  readonly text: string;
  readonly values: readonly HotValue[];
  /** The query reads few rows by an index: on SQLite it runs on the main thread; all other queries run in a worker. */
  readonly bounded?: boolean;
  /** A bounded result is not cached, and the caller may change its rows. */
  readonly once?: true;
  /** Maximum size of the rows' texts together in bytes, at least 2 MB: longer results are never loaded. Absent = unlimited. */
  readonly most?: number;
}

/** A value that can be bound to a hot query. */
export type HotValue = string | number | null;

/** Collects the values of a query while its text is written: `bind` returns the placeholder. Bind in the order of the text. */
export class Binder {
  readonly values: HotValue[] = [];
  readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  bind(value: HotValue): string {
    this.values.push(value);
    return this.dialect === 'sqlite' ? '?' : `$${this.values.length}`;
  }
}

/** The list of ids after `IN`, as a single value, so that the statement's text stays the same and is prepared once. */
export function idsOf(binder: Binder, ids: readonly number[]): string {
  const value = binder.bind(JSON.stringify(ids));
  return binder.dialect === 'sqlite' ? `SELECT value FROM json_each(${value})` : `SELECT value::int FROM json_array_elements_text(${value}::json)`;
}

/** The condition that a column equals a value; null = is not set. */
export function equals(binder: Binder, column: string, value: HotValue): string {
  return value === null ? `"${column}" IS NULL` : `"${column}" = ${binder.bind(value)}`;
}
