import type { SqliteColumn } from '../sqlite/binding.ts';
import { isBusy } from '../sqlite/codes.ts';
import { HotConnection, type Stored as HotStored } from '../sqlite/hot-connection.ts';
import type { ReaderRequest, WriterRequest } from '../sqlite/protocol.ts';
import { StatementError, WorkerLink } from '../sqlite/worker-link.ts';
import { RowsTooLongError, SearchTooBroadError } from '../errors.ts';
import type { Found, Search } from '../search/search.ts';
import type { HotQuery } from './binder.ts';
import { type Columns, type Decode, type MakeManyRows, type ManyRows, type ManyRowsQuery, manyRowsMaker } from './many-rows.ts';
import { searchMs, type HotReader } from './reader.ts';
import { type MakeRows, rowMaker } from './row-maker.ts';
import { UnchangedRows } from './unchanged-rows.ts';

type Stored = Exclude<HotStored, null>;
type Decoded = Stored | bigint | boolean | Date;
type Row = Record<string, Decoded | null>;

/** Decoders for the types that SQLite lacks, by the type that the migrations declare. */
const decoders = new Map<string | null, (value: Stored) => Decoded>([
  ['BOOLEAN', (value) => value === 1],
  ['DATETIME', dateOf],
  ['BIGINT', bigintOf],
  ['INTEGER', intOf],
]);

/*
 * SQLite stores any type in any column. An invalid value from another program is shown as 0, or as the beginning of 1970, in its row only, so
 * that lists and the start of the program still work.
 */

function dateOf(value: Stored): Date {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}

function bigintOf(value: Stored): bigint {
  if (typeof value === 'string' && /^-?\d{16,19}$/.test(value)) return BigInt(value);
  const number = Math.trunc(Number(value));
  return Number.isFinite(number) ? BigInt(number) : 0n;
}

/** For `manyRows`. */
function bytesOf(value: Stored): number {
  const number = Math.trunc(Number(value));
  return Number.isFinite(number) ? number : 0;
}

function intOf(value: Stored): number {
  return typeof value === 'number' && (value | 0) === value ? value : 0;
}

/**
 * Bounded queries run on this thread, on a read-only connection that never waits: a page by an index takes less time than a message to a worker.
 * A worker runs all other queries, those with too long texts, and everything while the file is locked.
 */
export class SqliteReader implements HotReader {
  readonly dialect = 'sqlite';
  readonly #here: HotConnection;
  readonly #unchanged = new UnchangedRows<Row>();
  readonly #file: string;
  readonly #writer: Pick<WorkerLink<WriterRequest>, 'ask'>;
  /** What makes the rows of `manyRows`, by the text of the query. */
  readonly #makers = new Map<string, MakeManyRows>();
  #closed = false;
  /** Started on demand; undefined also after it died: it holds no data, and the next query starts a new one. */
  #worker: WorkerLink<ReaderRequest> | undefined;

  /** @param writer reads whole tables: its thread runs anyway */
  constructor(file: string, writer: Pick<WorkerLink<WriterRequest>, 'ask'>) {
    this.#file = file;
    this.#writer = writer;
    this.#here = new HotConnection(file);
  }

  async rows<Wanted>(query: HotQuery): Promise<Wanted[]> {
    const rows = query.bounded === true ? this.#rowsHere(query) : undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller vouches for the columns
    return (rows ?? await this.#rowsOfWorker(query)) as Wanted[];
  }

  async manyRows<Wanted>(query: ManyRowsQuery): Promise<ManyRows<Wanted>> {
    const { text, values, columns, rare } = query;
    const [stored, json] = await this.#writer.ask('table', { text, columns, rare }, values);
    let make = this.#makers.get(text);
    if (make === undefined) {
      make = manyRowsMaker(query, new Map<string, Decode>(stored.map(({ name, type }) => [name, type === 'BIGINT' ? bytesOf : decoders.get(type)])));
      this.#makers.set(text, make);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker made it so
    const read = JSON.parse(json) as Columns;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the first column is the id, and the caller vouches for the columns
    return { ids: read[0] as number[], rows: make(read) as Iterable<Wanted> };
  }

  async search(search: Search): Promise<Found> {
    try {
      return await this.#reading().ask('search', search, searchMs);
    } catch (error) {
      throw error instanceof StatementError && error.failure.tooLong ? new SearchTooBroadError() : error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#here.close();
    await this.#worker?.close();
  }

  #reading(): WorkerLink<ReaderRequest> {
    return this.#worker ??= new WorkerLink(this.#file, 'reader', () => {
      this.#worker = undefined;
    });
  }

  /** undefined = the texts are too long, or the file is locked, which in WAL mode it hardly ever is for readers. */
  #rowsHere({ text, values, once }: HotQuery): Row[] | undefined {
    try {
      if (once) return this.#pageHere(text, values)?.rows;
      // Read before the rows: rows newer than this version are only read again, and outdated rows are never cached.
      const version = this.#here.version();
      const key = values.length === 0 ? text : `${text}\0${JSON.stringify(values)}`;
      const kept = this.#unchanged.at(version, key);
      if (kept) return Array.from(kept);
      const page = this.#pageHere(text, values);
      if (page?.short) this.#unchanged.keep(key, page.rows);
      return page?.rows;
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  #pageHere(text: string, values: HotQuery['values']): { readonly rows: Row[]; readonly short: boolean } | undefined {
    const page = this.#here.page(text, values);
    return page && { rows: decode(page.columns, page.rows), short: page.short };
  }

  async #rowsOfWorker({ text, values, most }: HotQuery): Promise<Row[]> {
    const worker = this.#reading();
    const first = await worker.ask('rows', text, values, most).catch((error: unknown) => {
      throw error instanceof StatementError && error.failure.tooLong ? new RowsTooLongError() : error;
    });
    const rows: Row[] = [];
    for (let part = first;; part = await worker.ask('next', part[2])) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker made it of arrays
      for (const row of decode(first[0], JSON.parse(part[1]) as HotStored[][])) rows.push(row);
      if (part[2] === 0) return rows;
    }
  }
}

/** By the columns of a prepared statement, and by their names and types. */
const known = new WeakMap<readonly SqliteColumn[], MakeRows>();
const makers = new Map<string, MakeRows>();

function decode(columns: readonly SqliteColumn[], rows: readonly (readonly HotStored[])[]): Row[] {
  let make = known.get(columns);
  if (make === undefined) {
    const key = JSON.stringify(columns);
    make = makers.get(key) ?? rowMaker(columns.map(({ name, type }) => ({ name, decode: decoders.get(type) })));
    makers.set(key, make);
    known.set(columns, make);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the decoders return
  return make(rows) as Row[];
}
