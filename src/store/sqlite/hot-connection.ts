import { manyRowsSql, type ManyRowsQuery } from '../hot/many-rows.ts';
import { foldCase } from '../search/search.ts';
import { openDatabase, type SqliteColumn, type SqliteDatabase, type SqliteStatement, type SqliteValue } from './binding.ts';
import { checked } from './connection.ts';
import type { Table } from './protocol.ts';

/** Columns, and rows as the JSON text of an array each. Integers beyond JavaScript's safe range are texts. */
export interface HotRows {
  readonly columns: readonly SqliteColumn[];
  readonly rows: readonly string[];
}

/** A value as a hot query returns it. Integers beyond JavaScript's safe range are texts. */
export type Stored = string | number | null;

/** Rows as arrays, with their columns. */
export interface HotPage {
  readonly columns: readonly SqliteColumn[];
  readonly rows: readonly (readonly Stored[])[];
  /** No row has a long text. */
  readonly short: boolean;
}

interface Prepared {
  readonly columns: readonly SqliteColumn[];
  /** Returns each row as one text, because the driver's call for each value is most of the cost of a page. */
  asJson?: SqliteStatement;
  /** Returns the bytes of text instead for rows with more than `MOST_TEXT`. */
  asShortJson?: SqliteStatement;
  /** Returns the bytes of text of all rows. */
  asBytes?: SqliteStatement;
  /** Returns many rows as one text, a column after the other. */
  asColumns?: SqliteStatement;
  /** Returns values, for rows with long texts or values that JSON can't represent. */
  asValues?: SqliteStatement;
  /** The last page had long texts, so the next one is likely to. */
  long?: boolean;
}

/** Bytes of text in a row. Writing, copying and parsing longer ones as JSON costs more than the calls for their values. */
const MOST_TEXT = 2048;
/** Bytes of text in the long rows of a page: reading more here would block the calling thread for too long. */
const MOST_PAGE = 2 * 1024 * 1024;

/** Maximum statements kept prepared. Pages need fewer; but callers can combine the conditions of filters in many more ways. */
export const MOST_PREPARED = 500;

/** A read-only connection for the hot queries. */
export class HotConnection {
  readonly #database: SqliteDatabase;
  readonly #prepared = new Map<string, Prepared>();
  readonly #version: SqliteStatement;

  /** @throws SQLite's error when the file isn't there */
  constructor(file: string) {
    this.#database = openDatabase(file, { readOnly: true });
    // SQLite's own lower() knows ASCII only.
    this.#database.function('fold', { deterministic: true }, (text) => foldCase(String(text)));
    this.#version = this.#statement('PRAGMA data_version', false);
  }

  /** Changes with each commit of any other connection, of this program or of another one. Takes about 3 us. */
  version(): unknown {
    return firstColumn(this.#version, [])?.[0];
  }

  /** How many statements are kept prepared. */
  get prepared(): number {
    return this.#prepared.size;
  }

  /** Runs a query. */
  rows(sql: string, values: readonly SqliteValue[]): HotRows {
    const prepared = this.#prepare(sql);
    const { columns } = prepared;
    prepared.asJson ??= this.#statement(`SELECT ${arrayOf(columns)} FROM (${sql})`, false);
    const texts = firstColumn(prepared.asJson, checked(values));
    return { columns, rows: texts?.map(onlyText) ?? this.#values(prepared, sql, values).map((row) => JSON.stringify(row)) };
  }

  /** Runs a query for many rows. */
  manyRows(query: Omit<ManyRowsQuery, 'values'>, values: readonly SqliteValue[]): Table {
    const { text: sql, columns, rare } = query;
    const prepared = this.#prepare(sql);
    prepared.asColumns ??= this.#statement(manyRowsSql('sqlite', query), false);
    const [text] = firstColumn(prepared.asColumns, checked(values)) ?? [];
    if (text !== undefined) return [prepared.columns, onlyText(text)];
    const rows = this.#values(prepared, sql, values);
    const valuesOf = (row: readonly Stored[], names: readonly string[]): Array<Stored | undefined> =>
      names.map((name) => row[prepared.columns.findIndex((column) => column.name === name)]);
    const others = rows.map((row) => valuesOf(row, [...columns.slice(0, 1), ...Object.keys(rare)]));
    return [prepared.columns, JSON.stringify([...columns.map((name) => rows.flatMap((row) => valuesOf(row, [name]))), others])];
  }

  /** The bytes of text in the rows of a query. Texts long enough for overflow pages are not read for this. */
  bytes(sql: string, values: readonly SqliteValue[]): number {
    const prepared = this.#prepare(sql);
    return bytesOf(firstColumn(this.#asBytes(prepared, sql), checked(values)));
  }

  #asBytes(prepared: Prepared, sql: string): SqliteStatement {
    return prepared.asBytes ??= this.#statement(`SELECT ${textOf(prepared.columns)} FROM (${sql})`, false);
  }

  /** Runs a query for a page, at minimum cost to the calling thread. @returns undefined = its texts are too long to be read here */
  page(sql: string, values: readonly SqliteValue[]): HotPage | undefined {
    const prepared = this.#prepare(sql);
    const { columns } = prepared;
    if (prepared.long === true) {
      if (bytesOf(firstColumn(this.#asBytes(prepared, sql), checked(values))) > MOST_PAGE) return undefined;
    } else {
      prepared.asShortJson ??= this.#statement(
        `SELECT CASE WHEN ${textOf(columns)} <= ${MOST_TEXT} THEN ${arrayOf(columns)} ELSE ${textOf(columns)} END FROM (${sql})`,
        false,
      );
      const texts = firstColumn(prepared.asShortJson, checked(values));
      const bytes = bytesOf(texts);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement makes them of arrays
      if (texts !== undefined && bytes === 0) return { columns, rows: JSON.parse(`[${texts.join(',')}]`) as Stored[][], short: true };
      if (bytes > MOST_PAGE) {
        prepared.long = true;
        return undefined;
      }
    }
    const rows = this.#values(prepared, sql, values);
    prepared.long = rows.some(hasLongText);
    return { columns, rows, short: false };
  }

  #values(prepared: Prepared, sql: string, values: readonly SqliteValue[]): Stored[][] {
    prepared.asValues ??= this.#statement(sql, true);
    return prepared.asValues.all(...checked(values)).map((row) => arrayIn(row).map(exact));
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      if (this.#prepared.size >= MOST_PREPARED) this.#prepared.clear();
      prepared = { columns: this.#database.prepare(sql).columns().map(({ name, type }) => ({ name, type })) };
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

/** The expression for a row as JSON. */
function arrayOf(columns: readonly SqliteColumn[]): string {
  const { MAX_SAFE_INTEGER: most } = Number;
  const elements = columns.map(({ name, type }) => {
    const column = quoted(name);
    return type === 'BIGINT' ? `CASE WHEN ${column} BETWEEN ${-most} AND ${most} THEN ${column} ELSE CAST(${column} AS TEXT) END` : column;
  });
  return `json_array(${elements.join(', ')})`;
}

/** The expression for the bytes of text in a row. */
function textOf(columns: readonly SqliteColumn[]): string {
  const lengths = columns.filter(({ type }) => type === 'TEXT').map(({ name }) => `ifnull(octet_length(${quoted(name)}), 0)`);
  return lengths.join(' + ') || '0';
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** @returns undefined = another program has stored a BLOB, which JSON can't hold */
function firstColumn(statement: SqliteStatement, values: readonly SqliteValue[]): unknown[] | undefined {
  try {
    return statement.all(...values).map((row) => arrayIn(row)[0]);
  } catch (error) {
    if (error instanceof Error && error.message.includes('JSON cannot hold BLOB')) return undefined;
    throw error;
  }
}

function arrayIn(row: unknown): unknown[] {
  if (!Array.isArray(row)) throw new TypeError('the driver returned a row that is no array');
  return row;
}

function exact(value: unknown): Stored {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  // A BLOB in its text form, for the columns' decoders.
  return typeof value === 'string' || typeof value === 'number' || value === null ? value : JSON.stringify(value);
}

/** The sum of the values that are numbers. */
function bytesOf(values: readonly unknown[] = []): number {
  let bytes = 0;
  for (const value of values) if (typeof value === 'number') bytes += value;
  return bytes;
}

function hasLongText(row: readonly Stored[]): boolean {
  let length = 0;
  for (const value of row) if (typeof value === 'string') length += value.length;
  return length > MOST_TEXT;
}

function onlyText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('the driver returned a row that is no text');
  return value;
}
