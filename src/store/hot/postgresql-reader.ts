import pg from 'pg';
import * as z from 'zod';
import { RowsTooLongError, SearchTooBroadError } from '../errors.ts';
import { together } from '../search/search-index.ts';
import { pageOf, type Found, type Search, type SearchedTable } from '../search/search.ts';
import { rowsSql, searchSql, stampsSql } from '../search/search-sql.ts';
import type { IndexRequest } from '../sqlite/protocol.ts';
import { WorkerLink } from '../sqlite/worker-link.ts';
import type { HotQuery } from './binder.ts';
import { type Columns, type MakeManyRows, type ManyRows, type ManyRowsQuery, manyRowsMaker, manyRowsSql } from './many-rows.ts';
import type { HotReader } from './reader.ts';
import { Refreshes } from './refreshes.ts';

/** PostgreSQL's code for a prepared statement that would have other columns now: a server of a later version has migrated the database. */
const resultChanged = '0A000';
/** PostgreSQL's code for a statement that timed out. */
const queryCanceled = '57014';

/** The two types that pg parses differently from Prisma: pg takes a timestamp for local time, and returns an int8 as text. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.TIMESTAMP) return (text: string) => new Date(`${text.replace(' ', 'T')}Z`);
    if (oid === pg.types.builtins.INT8) return BigInt;
    // oxlint-disable-next-line typescript/no-unsafe-return -- pg's parsers make of a text what they like
    return pg.types.getTypeParser(oid, format);
  },
};

/** The same, but calls `tooLong` if the texts have more than `most` characters. */
function countingTypes(most: number, tooLong: () => void): typeof types {
  let characters = 0;
  const text = (value: string) => {
    characters += value.length;
    if (characters > most) tooLong();
    return value;
  };
  // oxlint-disable-next-line typescript/no-unsafe-return -- as above
  return { getTypeParser: (oid, format) => oid === pg.types.builtins.TEXT ? text : types.getTypeParser(oid, format) };
}

const idList = z.array(z.number());

/** Reads on the pool of the Prisma client, with prepared statements. Searches run in a worker that holds the texts. */
export class PostgresqlReader implements HotReader {
  readonly dialect = 'postgresql';
  readonly #pool: pg.Pool;
  readonly #searchPool: pg.Pool;
  /** Names of prepared statements by text: one for each order of a list. Filter conditions have too many combinations to prepare them all. */
  readonly #names = new Map<string, string>();
  /** How many names were given. */
  #prepared = 0;
  /** What makes the rows of `manyRows`, by the text of the query. */
  readonly #makers = new Map<string, MakeManyRows>();
  /** Started on demand; undefined also after it died: the next search starts a new one, which reads all texts again. */
  #worker: WorkerLink<IndexRequest> | undefined;
  readonly #refreshes = new Refreshes((table: SearchedTable) => this.#refresh(table));

  /** @param searchPool for searches alone, whose connections end a statement after `searchMs` */
  constructor(pool: pg.Pool, searchPool: pg.Pool) {
    this.#pool = pool;
    this.#searchPool = searchPool;
  }

  rows<Row>(query: HotQuery): Promise<Row[]> {
    return this.#query(this.#pool, query);
  }

  async manyRows<Row>(query: ManyRowsQuery): Promise<ManyRows<Row>> {
    const { text, values } = query;
    let make = this.#makers.get(text);
    if (make === undefined) {
      const { fields } = await this.#pool.query({ text: `SELECT * FROM (${text}) q LIMIT 0`, values: [...values] });
      const times = fields.filter(({ dataTypeID }) => dataTypeID === pg.types.builtins.TIMESTAMP);
      make = manyRowsMaker(query, new Map(times.map(({ name }) => [name, (time: string) => new Date(`${time}Z`)])));
      this.#makers.set(text, make);
    }
    const [row] = await this.#query<{ json: Array<Columns[number] | null> }>(this.#pool, { text: manyRowsSql('postgresql', query), values });
    const columns = row?.json.map((column) => column ?? []) ?? [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the first column is the id, and the caller vouches for the columns
    return { ids: columns[0] as number[], rows: make(columns) as Iterable<Row> };
  }

  async search(search: Search): Promise<Found> {
    try {
      if (search.text === '') return pageOf(await this.#inDatabase(search), search.range);
      const worker = await this.#refreshes.after(search.table);
      const found = await worker.ask('find', search);
      if (found === undefined) return pageOf(await this.#inDatabase(search), search.range);
      const { ids, total, long } = found;
      if (long.length === 0 && search.conditions === undefined) return { ids, total };
      const inMemory = search.conditions === undefined ? ids : await this.#inDatabase({ ...search, text: '' }, ids);
      return together(inMemory, long.length === 0 ? [] : await this.#inDatabase(search, long), search);
    } catch (error) {
      throw error instanceof pg.DatabaseError && error.code === queryCanceled ? new SearchTooBroadError() : error;
    }
  }

  /** The other pool ends with the Prisma client. */
  async close(): Promise<void> {
    await this.#worker?.close();
    if (!this.#searchPool.ended) await this.#searchPool.end();
  }

  #index(): WorkerLink<IndexRequest> {
    return this.#worker ??= new WorkerLink('', 'index', () => {
      this.#worker = undefined;
    });
  }

  /** Updates the worker's copy of a table. This thread forwards the texts without parsing them. @returns the worker that was updated */
  async #refresh(table: SearchedTable): Promise<WorkerLink<IndexRequest>> {
    const worker = this.#index();
    const stale = await worker.ask('stale', table, await this.#json(stampsSql('postgresql', table)));
    for (const stamp of stale ?? []) {
      if (!await worker.ask('put', table, stamp, await this.#json(rowsSql('postgresql', table, stamp[0])))) break;
    }
    return worker;
  }

  async #json(query: HotQuery): Promise<string> {
    const [row] = await this.#query<{ json: string }>(this.#searchPool, query);
    return row?.json ?? '[]';
  }

  async #inDatabase(search: Search, among?: Int32Array): Promise<number[]> {
    const { text, values } = searchSql('postgresql', search, among);
    const { rows: [found] } = await this.#searchPool.query<{ ids: string }>({ text, values: [...values], types });
    return idList.parse(JSON.parse(found?.ids ?? '[]'));
  }

  async #query<Row>(pool: pg.Pool, { text, values, most }: HotQuery, again = true): Promise<Row[]> {
    const query = { name: this.#nameOf(text), text, values: [...values] };
    try {
      // oxlint-disable-next-line typescript/no-unsafe-return -- the caller vouches for the columns
      return (most === undefined ? await pool.query({ ...query, types }) : await bounded(pool, query, most)).rows;
    } catch (error) {
      if (!again || !(error instanceof pg.DatabaseError) || error.code !== resultChanged) throw error;
      if (this.#names.get(text) === query.name) this.#names.delete(text);
      return this.#query(pool, { text, values, most }, false);
    }
  }

  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `adit_${this.#prepared++}`;
      this.#names.set(text, name);
    }
    return name;
  }
}

/** Runs a query, and closes its connection when the rows exceed the limit for text: the unread rest could be hundreds of megabytes. */
async function bounded(
  pool: pg.Pool,
  query: { readonly name: string; readonly text: string; readonly values: HotQuery['values'][number][] },
  most: number,
): Promise<pg.QueryResult> {
  const client = await pool.connect();
  // The query fails with the same error. Without a listener, it would end the process.
  const lost = () => {};
  client.on('error', lost);
  let tooLong = false;
  const types = countingTypes(most, () => {
    if (!tooLong) client.release(true);
    tooLong = true;
  });
  try {
    const result = await client.query({ ...query, types });
    if (!tooLong) return result;
  } catch (error) {
    if (!tooLong) throw error;
  } finally {
    if (!tooLong) {
      client.off('error', lost);
      client.release();
    }
  }
  // The query succeeds nevertheless if its last rows had arrived already.
  throw new RowsTooLongError();
}
