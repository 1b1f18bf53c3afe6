import pg from 'pg';
import { SearchTooBroadError } from '../errors.ts';
import { idList, type HotQuery, type HotReader } from './reader.ts';

/** PostgreSQL's code for a statement that took too long. */
const queryCanceled = '57014';

/** The two types that pg reads otherwise than Prisma: a timestamp would be taken for local time, an int8 stay text. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.TIMESTAMP) return (text: string) => new Date(`${text.replace(' ', 'T')}Z`);
    if (oid === pg.types.builtins.INT8) return BigInt;
    // oxlint-disable-next-line typescript/no-unsafe-return -- pg's parsers make of a text what they like
    return pg.types.getTypeParser(oid, format);
  },
};

/** Reads on the pool that the Prisma client uses too, with prepared statements. */
export class PostgresqlReader implements HotReader {
  readonly dialect = 'postgresql';
  readonly #pool: pg.Pool;
  readonly #searchPool: pg.Pool;
  /** Statement names by text: there are as many as the lists have orders and filters. */
  readonly #names = new Map<string, string>();

  /** @param searchPool for searches alone, whose connections end a statement after `searchMs` */
  constructor(pool: pg.Pool, searchPool: pg.Pool) {
    this.#pool = pool;
    this.#searchPool = searchPool;
  }

  rows<Row>(query: HotQuery): Promise<Row[]> {
    return this.#query(this.#pool, query);
  }

  async search(query: HotQuery): Promise<number[]> {
    try {
      const [found] = await this.#query<{ ids: string }>(this.#searchPool, query);
      return idList.parse(JSON.parse(found?.ids ?? '[]'));
    } catch (error) {
      throw error instanceof pg.DatabaseError && error.code === queryCanceled ? new SearchTooBroadError() : error;
    }
  }

  async #query<Row>(pool: pg.Pool, { text, values }: HotQuery): Promise<Row[]> {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `adit_${this.#names.size}`;
      this.#names.set(text, name);
    }
    // oxlint-disable-next-line typescript/no-unsafe-return -- the caller vouches for the columns
    return (await pool.query({ name, text, values: [...values], types })).rows;
  }

  /** The other pool ends with the Prisma client. */
  async close(): Promise<void> {
    if (!this.#searchPool.ended) await this.#searchPool.end();
  }
}
