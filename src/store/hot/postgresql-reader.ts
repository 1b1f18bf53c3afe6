import pg from 'pg';
import type { HotQuery, HotReader } from './reader.ts';

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
  /** Statement names by text: there are as many as the lists have orders and filters. */
  readonly #names = new Map<string, string>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async rows<Row>({ text, values }: HotQuery): Promise<Row[]> {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `adit_${this.#names.size}`;
      this.#names.set(text, name);
    }
    // oxlint-disable-next-line typescript/no-unsafe-return -- the caller vouches for the columns
    return (await this.#pool.query({ name, text, values: [...values], types })).rows;
  }

  /** The pool ends with the Prisma client. */
  async close(): Promise<void> {}
}
