import { z } from 'zod';
import type { Dialect } from '../migrations.ts';

/** SQL with its values; the placeholders are those of the reader's database. */
export interface HotQuery {
  readonly text: string;
  readonly values: readonly HotValue[];
  /** It reads few rows by an index: on SQLite such a query runs on the main thread, all others in a worker. */
  readonly bounded?: boolean;
}

/** What a search has found, from JSON. */
export const idList = z.array(z.number());

/** The most that a search may work, in ms. */
export const searchMs = 2000;

/** What a hot query may be given. */
export type HotValue = string | number | null;

/**
 * Reads rows past Prisma, whose own way to the database costs several times as much CPU. Values come out as Prisma gives
 * them: booleans, `Date`, and `bigint` for BigInt columns. Sees what was committed, nothing else.
 */
export interface HotReader {
  readonly dialect: Dialect;
  /** The caller vouches that the query's columns are those of `Row`: test/store compares them with Prisma's rows. */
  rows<Row>(query: HotQuery): Promise<Row[]>;
  /**
   * Runs a search. On SQLite the query is for a part of the table and ends with two placeholders, for the id that it begins behind and for how many
   * rows it looks at; it is run again and again, since nothing can stop a statement.
   * @returns the ids that were found, ascending
   * @throws {SearchTooBroadError} after {@link searchMs}
   */
  search(query: HotQuery): Promise<number[]>;
  close(): Promise<void>;
}

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

/** The query for given ids, for after `IN`. One value holds them all: the statement's text stays the same, so that it is prepared once. */
export function idsOf(binder: Binder, ids: readonly number[]): string {
  const value = binder.bind(JSON.stringify(ids));
  return binder.dialect === 'sqlite' ? `SELECT value FROM json_each(${value})` : `SELECT value::int FROM json_array_elements_text(${value}::json)`;
}
