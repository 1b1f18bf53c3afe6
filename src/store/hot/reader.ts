import type { Dialect } from '../migrations.ts';
import type { Found, Search } from '../search/search.ts';
import type { HotQuery } from './binder.ts';
import type { ManyRows, ManyRowsQuery } from './many-rows.ts';

/** Maximum working time of a search, in ms. */
export const searchMs = 2000;

/**
 * Reads rows without Prisma, which would use several times as much CPU. Values have the same types as with Prisma:
 * booleans, `Date`, and `bigint` for BigInt columns. Only sees committed data.
 */
export interface HotReader {
  readonly dialect: Dialect;
  /**
   * The caller guarantees that the query's columns are those of `Row`: test/store compares them with Prisma's rows.
   * @throws {RowsTooLongError} for more text than the query may read
   */
  rows<Row>(query: HotQuery): Promise<Row[]>;
  /**
   * As `rows`, for hundreds of rows or more: another thread, or the database's process, writes them as JSON, so that this thread only parses them, without a
   * call for each value. Values of BigInt columns are numbers, exact up to 8 PiB.
   */
  manyRows<Row>(query: ManyRowsQuery): Promise<ManyRows<Row>>;
  /**
   * Runs a search, in memory where the texts are available. It sees everything committed before it began.
   * @throws {SearchTooBroadError} after {@link searchMs}
   */
  search(search: Search): Promise<Found>;
  close(): Promise<void>;
}
