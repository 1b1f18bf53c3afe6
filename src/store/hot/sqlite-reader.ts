import Database from 'better-sqlite3';
import type { HotQuery, HotReader } from './reader.ts';

type Stored = string | number;
type Decoded = Stored | boolean | Date | bigint;
type Row = Record<string, Decoded | null>;

/** What SQLite has no type for, by the type that the migrations declare. Numbers are exact to 2^53: bytes come no further. */
const decoders = new Map<string | null, (value: Stored) => Decoded>([
  ['BOOLEAN', (value) => value === 1],
  ['DATETIME', (value) => new Date(value)],
  ['BIGINT', BigInt],
]);

interface Column {
  readonly name: string;
  readonly decode: ((value: Stored) => Decoded) | undefined;
}

interface Prepared {
  /** Rows come as arrays and become objects here: the driver's own objects cost half as much again. */
  readonly statement: Database.Statement<unknown[], readonly (Stored | null)[]>;
  readonly columns: readonly Column[];
}

/** Reads on a connection of its own, so that it neither waits for an open transaction nor sees its changes. */
export class SqliteReader implements HotReader {
  readonly dialect = 'sqlite';
  readonly #database: Database.Database;
  /** By text: there are as many as the lists have orders and filters. */
  readonly #prepared = new Map<string, Prepared>();

  constructor(file: string) {
    this.#database = new Database(file, { readonly: true, fileMustExist: true, timeout: 5000 });
    // SQLite's own lower() knows ASCII only.
    this.#database.function('fold', { deterministic: true }, (text) => String(text).toLowerCase());
  }

  async rows<Wanted>({ text, values }: HotQuery): Promise<Wanted[]> {
    const { statement, columns } = this.#prepare(text);
    const rows = statement.all(...values).map((stored) => rowOf(columns, stored));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller vouches for the columns
    return rows as Wanted[];
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #prepare(text: string): Prepared {
    let prepared = this.#prepared.get(text);
    if (prepared === undefined) {
      const statement = this.#database.prepare<unknown[], readonly (Stored | null)[]>(text).raw();
      const columns = statement.columns().map(({ name, type }) => ({ name, decode: decoders.get(type) }));
      prepared = { statement, columns };
      this.#prepared.set(text, prepared);
    }
    return prepared;
  }
}

function rowOf(columns: readonly Column[], stored: readonly (Stored | null)[]): Row {
  const row: Row = {};
  let index = 0;
  for (const { name, decode } of columns) {
    const value = stored[index++] ?? null;
    row[name] = decode === undefined || value === null ? value : decode(value);
  }
  return row;
}
