import { openDatabase, type SqliteColumn, type SqliteDatabase, type SqliteStatement, type SqliteValue } from './binding.ts';
import { checked } from './connection.ts';

/** A value as a hot query gives it. No table has a BLOB. */
export type HotStored = string | number | bigint | null;

/** Rows as arrays, with their columns. */
export interface HotRows {
  readonly columns: readonly SqliteColumn[];
  readonly rows: readonly (readonly HotStored[])[];
}

interface Prepared {
  readonly statement: SqliteStatement;
  readonly columns: readonly SqliteColumn[];
  /** The same statement for rows with integers beyond 2^53, made when such a one comes. */
  exact?: SqliteStatement;
}

/** A read-only connection for the hot queries. There are as many statements as the lists have orders and filters. */
export class HotConnection {
  readonly #database: SqliteDatabase;
  readonly #prepared = new Map<string, Prepared>();

  /** @throws SQLite's error when the file isn't there */
  constructor(file: string) {
    this.#database = openDatabase(file, { readOnly: true });
    // SQLite's own lower() knows ASCII only.
    this.#database.function('fold', { deterministic: true }, (text) => String(text).toLowerCase());
  }

  /** Runs a query. Integers come as numbers, those that are no safe ones as bigint. */
  rows(sql: string, values: readonly SqliteValue[]): HotRows {
    const prepared = this.#prepare(sql);
    const given = checked(values);
    try {
      return { columns: prepared.columns, rows: arrays(prepared.statement.all(...given)) };
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
    // Reading all integers as bigint costs twice as much, so only this result is read so.
    prepared.exact ??= this.#statement(sql, true);
    return { columns: prepared.columns, rows: arrays(prepared.exact.all(...given)) };
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      const statement = this.#statement(sql, false);
      prepared = { statement, columns: statement.columns().map(({ name, type }) => ({ name, type })) };
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }

  #statement(sql: string, exact: boolean): SqliteStatement {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(exact);
    return statement;
  }
}

/** The package and Node say it with different codes, in the same words. */
function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Value is too large to be represented as a JavaScript number');
}

function arrays(rows: unknown[]): readonly (readonly HotStored[])[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement returns arrays
  return rows as HotStored[][];
}
