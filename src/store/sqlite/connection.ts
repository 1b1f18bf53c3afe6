import type { ColumnType } from '@prisma/driver-adapter-utils';
import { openDatabase, type SqliteColumn, type SqliteDatabase, type SqliteStatement, type SqliteValue } from './binding.ts';
import { completeTypes, toJson, typesOf } from './columns.ts';
import { NulError } from './failure.ts';

/** Rows of a statement for Prisma; `json` is the text of an array of arrays, the form that costs the receiving thread least. */
export type RowSet = readonly [names: string[], types: ColumnType[], json: string];

interface Prepared {
  readonly statement: SqliteStatement;
  readonly columns: readonly SqliteColumn[];
  readonly types: readonly (ColumnType | undefined)[];
}

/** Maximum number of prepared statements in the cache. Prisma uses few texts; raw statements may contain lists of ids. */
const MOST_PREPARED = 500;

/** A connection that keeps its statements prepared and reads integers of any size. */
export class Connection {
  readonly database: SqliteDatabase;
  readonly #prepared = new Map<string, Prepared>();

  constructor(file: string, options: { readonly readOnly?: boolean; readonly busyMs?: number } = {}) {
    this.database = openDatabase(file, options);
  }

  /** The rows of a statement; empty for a statement that only writes. @throws {NulError} */
  rows(sql: string, args: readonly SqliteValue[]): RowSet {
    const { statement, columns, types } = this.#prepare(sql);
    if (columns.length === 0) {
      statement.run(...checked(args));
      return [[], [], '[]'];
    }
    const rows = statement.all(...checked(args)).map(asArray);
    const complete = completeTypes(types, rows);
    return [columns.map(({ name }) => name), complete, JSON.stringify(rows.map((row) => row.map((value, index) => toJson(value, complete[index]))))];
  }

  /** Runs a statement. @returns how many rows it changed @throws {NulError} */
  execute(sql: string, args: readonly SqliteValue[]): number {
    return Number(this.#prepare(sql).statement.run(...checked(args)).changes);
  }

  close(): void {
    this.#prepared.clear();
    this.database.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    const columns = statement.columns();
    const prepared = { statement, columns, types: typesOf(columns) };
    if (this.#prepared.size >= MOST_PREPARED) this.#prepared.clear();
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** The driver would cut the text at the NUL and drop the rest. */
export function checked(values: readonly SqliteValue[]): readonly SqliteValue[] {
  if (values.some((value) => typeof value === 'string' && value.includes('\0'))) throw new NulError();
  return values;
}

function asArray(row: unknown): readonly unknown[] {
  if (!Array.isArray(row)) throw new TypeError('the driver gave a row that is no array');
  return row;
}
