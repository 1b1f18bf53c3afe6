import type { SqliteColumn, SqliteValue } from './binding.ts';
import type { RowSet } from './connection.ts';
import type { ManyRowsQuery } from '../hot/many-rows.ts';
import type { GuardMemory } from './exit-guard.ts';
import type { Failure } from './failure.ts';
import type { FoundInMemory, Stamp } from '../search/search-index.ts';
import type { Found, Search, SearchedTable } from '../search/search.ts';

/*
 * The messages between the main thread and a database worker. Each request gets one answer with the same number, in any order. Rows
 * are sent as JSON text.
 */

/** A request to the writer. */
export type WriterRequest =
  /** A read-only statement outside of transactions. It sees committed data, and waits for no transaction. */
  | readonly [what: 'read', sql: string, args: readonly SqliteValue[]]
  /** Many rows of a hot query, all at once; the next one is likely to be the same with other values. */
  | readonly [what: 'table', query: Omit<ManyRowsQuery, 'values'>, values: readonly SqliteValue[]]
  /** A statement that may write: outside of transactions, or inside the transaction with this number, which its first statement begins. */
  | readonly [what: 'query' | 'execute', sql: string, args: readonly SqliteValue[], transaction?: number, behindSavepoint?: true]
  /** Rolls a transaction back to its last savepoint. */
  | readonly [what: 'undo', transaction: number]
  /** Any number of statements outside of transactions. */
  | readonly [what: 'script', sql: string]
  | readonly [what: 'commit' | 'rollback', transaction: number]
  | readonly [what: 'close'];

/** A part of the rows of a hot query: the columns (first part only), and the number for requesting the next part; 0 = no more parts. */
export type Part = readonly [columns: readonly SqliteColumn[], json: string, next: number];

/** Many rows of a hot query: the columns, and the JSON text of their values (`Columns`). */
export type Table = readonly [columns: readonly SqliteColumn[], json: string];

/** A request to the reader. */
export type ReaderRequest =
  /** The rows of a query, in parts. `most`: maximum bytes of their texts together. */
  | readonly [what: 'rows', sql: string, values: readonly SqliteValue[], most?: number]
  | readonly [what: 'next', next: number]
  | readonly [what: 'search', search: Search, mostMs: number]
  | readonly [what: 'close'];

/** A request to the worker with PostgreSQL's search index (`SearchIndex`), which reads nothing from the database. */
export type IndexRequest =
  /** Asks which segments have to be stored; `stamps` is the JSON text of all stamps. */
  | readonly [what: 'stale', table: SearchedTable, stamps: string]
  /** `rows` is the JSON text of the segment's rows. */
  | readonly [what: 'put', table: SearchedTable, stamp: Stamp, rows: string]
  | readonly [what: 'find', search: Search]
  | readonly [what: 'close'];

/** A request to a database worker. */
export type AnyRequest = WriterRequest | ReaderRequest | IndexRequest;

/** The possible answers to a request. */
export interface Answers {
  readonly read: RowSet;
  readonly table: Table;
  readonly query: RowSet;
  /** How many rows were changed. */
  readonly execute: number;
  readonly rows: Part;
  readonly next: Part;
  readonly search: Found;
  readonly stale: Stamp[] | undefined;
  readonly put: boolean;
  readonly find: FoundInMemory | undefined;
}

/** A request as sent. */
export type Request<Asked extends AnyRequest> = readonly [id: number, request: Asked];

/** An answer as sent. */
export type Answer = readonly [id: number, failure: Failure | null, result?: unknown];

/** The start parameters of a worker. */
export interface WorkerSettings {
  /** '' = the worker reads no file. */
  readonly file: string;
  readonly role: 'writer' | 'reader' | 'index';
  readonly guard: GuardMemory;
}
