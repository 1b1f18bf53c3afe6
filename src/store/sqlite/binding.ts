import { DatabaseSync } from '@photostructure/sqlite';

/*
 * The only module that imports the SQLite package. It uses nothing that Node's own `node:sqlite` lacks, so that
 * Node's module can replace the package by changing this file only.
 */

/** A value that a statement accepts or returns. */
export type SqliteValue = string | number | bigint | null | Uint8Array;

/** A column of a statement; `type` is the type declared by the table, null for an expression. */
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
  /** Whether a transaction is open. */
  readonly isTransaction: boolean;
  /** Runs any number of statements. */
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  function(name: string, options: { readonly deterministic: boolean }, run: (value: unknown) => string): void;
  close(): void;
}

/**
 * Opens a database file; creates it unless `readOnly`.
 * @param busyMs how long SQLite itself waits for another process's lock; the thread is blocked meanwhile
 */
export function openDatabase(file: string, { readOnly = false, busyMs = 0 } = {}): SqliteDatabase {
  return new DatabaseSync(file, { readOnly, timeout: busyMs });
}
