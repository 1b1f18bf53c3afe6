import { foldCase } from '../search/search.ts';
import { openDatabase, type SqliteColumn, type SqliteDatabase, type SqliteStatement, type SqliteValue } from './binding.ts';
import { checked } from './connection.ts';

/** Rows, each the JSON text of an array, with their columns. Integers that no number holds are texts. */
export interface HotRows {
  readonly columns: readonly SqliteColumn[];
  readonly rows: readonly string[];
}

interface Prepared {
  readonly columns: readonly SqliteColumn[];
  /** Gives each row as one text: every value that comes out of the driver costs a call, which is most of what a page costs. */
  readonly asJson: SqliteStatement;
  /** Gives rows that hold what JSON can't, made when one comes. */
  asValues?: SqliteStatement;
}

/** A read-only connection for the hot queries. There are as many statements as the lists have orders and filters. */
export class HotConnection {
  readonly #database: SqliteDatabase;
  readonly #prepared = new Map<string, Prepared>();

  /** @throws SQLite's error when the file isn't there */
  constructor(file: string) {
    this.#database = openDatabase(file, { readOnly: true });
    // SQLite's own lower() knows ASCII only.
    this.#database.function('fold', { deterministic: true }, (text) => foldCase(String(text)));
  }

  /** Runs a query. */
  rows(sql: string, values: readonly SqliteValue[]): HotRows {
    const prepared = this.#prepare(sql);
    const { columns } = prepared;
    const given = checked(values);
    try {
      return { columns, rows: prepared.asJson.all(...given).map(onlyText) };
    } catch (error) {
      if (!isNoJson(error)) throw error;
    }
    prepared.asValues ??= this.#statement(sql, true);
    return { columns, rows: prepared.asValues.all(...given).map((row) => JSON.stringify(row, exact)) };
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      const columns = this.#database.prepare(sql).columns().map(({ name, type }) => ({ name, type }));
      prepared = { columns, asJson: this.#statement(`SELECT json_array(${columns.map(inJson).join(', ')}) FROM (${sql})`, false) };
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

/** A column as an element of a JSON array. */
function inJson({ name, type }: SqliteColumn): string {
  const column = `"${name.replaceAll('"', '""')}"`;
  const { MAX_SAFE_INTEGER: most } = Number;
  return type === 'BIGINT' ? `CASE WHEN ${column} BETWEEN ${-most} AND ${most} THEN ${column} ELSE CAST(${column} AS TEXT) END` : column;
}

/** Another program has stored a BLOB. */
function isNoJson(error: unknown): boolean {
  return error instanceof Error && error.message.includes('JSON cannot hold BLOB');
}

/** Integers that no number holds travel as text. */
function exact(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function onlyText(row: unknown): string {
  if (!Array.isArray(row) || typeof row[0] !== 'string') throw new TypeError('the driver gave a row that is no text');
  return row[0];
}
