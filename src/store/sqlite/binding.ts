import { DatabaseSync } from '@photostructure/sqlite';

/*
 * The one module that names the package through which SQLite is reached. Nothing is used of it that Node's own `node:sqlite` lacks, so that
 * Node's can replace it here and nowhere else.
 */

/** A value that a statement takes or gives. */
export type SqliteValue = string | number | bigint | null | Uint8Array;

/** A column of a statement; `type` is the one that the table declares, null of an expression. */
export interface SqliteColumn {
  readonly name: string;
  readonly type: string | null;
}

/** A prepared statement. */
export interface SqliteStatement {
  readonly sourceSQL: string;
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  /** Empty when it returns no rows. */
  columns(): readonly SqliteColumn[];
  setReadBigInts(on: boolean): void;
  setReturnArrays(on: boolean): void;
}

/** A connection to a database file. */
export interface SqliteDatabase {
  /** A transaction is open. */
  readonly isTransaction: boolean;
  /** Runs any number of statements. */
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  function(name: string, options: { readonly deterministic: boolean }, run: (value: unknown) => string): void;
  close(): void;
}

/**
 * Opens a database file, and makes it unless `readOnly`.
 * @param busyMs how long SQLite itself waits for another process's lock; the thread is blocked meanwhile
 */
export function openDatabase(file: string, { readOnly = false, busyMs = 0 } = {}): SqliteDatabase {
  return new DatabaseSync(file, { readOnly, timeout: busyMs });
}
