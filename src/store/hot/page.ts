import type { Dialect } from '../migrations.ts';
import type { Found, Search, SearchedTable, Stretch, Where } from '../search/search.ts';
import { Binder, idsOf, type HotQuery } from './binder.ts';
import { conditions } from './filters.ts';
import type { HotReader } from './reader.ts';

/** Which part of a list is wanted (contract 2.1, D4). */
export interface PageQuery<Order extends string> {
  /** Text to find, in any case; '' or absent = all rows. */
  readonly search?: string;
  /** Columns that hold a secret are not searched. */
  readonly withoutSecrets?: boolean;
  /** Absent = by id. Equal rows stand in the order of their ids. */
  readonly orderBy?: Order;
  readonly desc?: boolean;
  /** Rows to leave out at the beginning, at least 0. */
  readonly offset: number;
  /** Absent = all that remain; 0 = none, for the total alone. */
  readonly limit?: number;
}

/** A part of a list, and the size of the whole list. */
export interface Page<Row> {
  readonly rows: Row[];
  readonly total: number;
}

/** A list as the page needs it. */
export interface PageSource<Order extends string> {
  readonly table: SearchedTable;
  /** What each order sorts by; an index has to begin with it (test/store/page-indexes.test.ts). */
  readonly orders: Readonly<Record<Order, SqlExpression>>;
  /** What the list is filtered by, besides the search. */
  readonly where: Where;
  /** The kept total of the list without a search. */
  total(binder: Binder): string;
}

/** SQL that differs between the databases. */
export type SqlExpression = (dialect: Dialect) => string;

/** Sorts by a column as it is. */
export const plain = (column: string): SqlExpression => () => `"${column}"`;

/** Sorts clients and users by whether they may work: neither switched off nor expired. The migrations' indexes repeat this expression. */
export const working: SqlExpression = () => '("enabled" AND NOT "expired")';

/**
 * Sorts text without regard to case, the same way on both databases: byte by byte. Only the beginning counts, as an index
 * on PostgreSQL has to fit a page. The migrations' indexes repeat this expression.
 */
export const folded = (column: string): SqlExpression => (dialect) =>
  `lower(substr("${column}", 1, 200))${dialect === 'sqlite' ? '' : ' COLLATE "C"'}`;

/**
 * Reads a page and the list's total. Without a search the cost is that of the page (and of stepping over `offset` index
 * entries), in a table of any size; a search reads the whole list, and what it costs is bounded by the reader.
 */
export async function readPage<Row extends { readonly id: number }, Order extends string>(
  reader: HotReader, source: PageSource<Order>, query: PageQuery<Order>): Promise<Page<Row>> {
  // PostgreSQL can't store this character and refuses to look for it.
  if (query.search?.includes('\0')) return { rows: [], total: 0 };
  if (query.search) {
    const { ids, total } = await found(reader, source, query);
    return { rows: ids.length === 0 ? [] : await rowsOf(reader, source.table, Array.from(ids)), total };
  }
  const rows = query.limit === 0 ? [] : await reader.rows<Row>(pageQuery(reader.dialect, source, query));
  return { rows, total: await totalOf(reader, source) };
}

/** The ids of the page of what a search finds, in the order of the list. */
async function found<Order extends string>(reader: HotReader, source: PageSource<Order>, query: PageQuery<Order>): Promise<Found> {
  const { desc = false, offset, limit } = query;
  if (query.orderBy === undefined || query.orderBy === 'ID') return reader.search(searchOf(source, query, { desc, offset, ...(limit !== undefined && { limit }) }));
  const { ids, total } = await reader.search(searchOf(source, query));
  if (total === 0 || limit === 0) return { ids: new Int32Array(), total };
  const binder = new Binder(reader.dialect);
  const text = `SELECT id FROM "${source.table}" WHERE id IN (${idsOf(binder, Array.from(ids))}) ORDER BY ${orderOf(reader.dialect, source, query)}${stretchSql(binder, query)}`;
  return { ids: Int32Array.from(await reader.rows<{ id: number }>({ text, values: binder.values }), ({ id }) => id), total };
}

function searchOf<Order extends string>({ table, where }: PageSource<Order>, { search = '', withoutSecrets = false }: PageQuery<Order>, stretch?: Stretch): Search {
  return { table, text: search, withoutSecrets, where, ...(stretch && { stretch }) };
}

/** Reads rows by their ids, in the order of these; one that is gone is left out. */
async function rowsOf<Row extends { readonly id: number }>(reader: HotReader, table: string, ids: readonly number[]): Promise<Row[]> {
  const rows = new Map((await reader.rows<Row>(rowsQuery(reader.dialect, table, ids))).map((row) => [row.id, row]));
  return ids.map((id) => rows.get(id)).filter((row) => row !== undefined);
}

/** The most rows that {@link readPages} reads at a time. */
export const pagesRows = 100;

/**
 * Reads a list of any length in pages of at most {@link pagesRows} rows, each when it is asked for. Which rows, and in which order, is decided
 * at the beginning; what they hold is read with their page, and a row that was deleted meanwhile is left out. Nothing is open between two
 * pages: whoever stops asking holds the ids, and neither connection nor snapshot.
 */
export async function* readPages<Row extends { readonly id: number }, Order extends string>(
  reader: HotReader, source: PageSource<Order>, query: PageQuery<Order>): AsyncGenerator<Page<Row>, void, undefined> {
  if ((query.limit !== undefined && query.limit <= pagesRows) || query.search?.includes('\0')) return yield await readPage(reader, source, query);
  const { ids, total } = query.search ? await found(reader, source, query) : {
    ids: Int32Array.from(await reader.rows<{ id: number }>(pageQuery(reader.dialect, source, query, '"id"')), ({ id }) => id),
    total: await totalOf(reader, source),
  };
  if (ids.length === 0) return yield { rows: [], total };
  for (let start = 0; start < ids.length; start += pagesRows) {
    yield { rows: await rowsOf<Row>(reader, source.table, Array.from(ids.subarray(start, start + pagesRows))), total };
  }
}

async function totalOf<Order extends string>(reader: HotReader, source: PageSource<Order>): Promise<number> {
  const [count] = await reader.rows<{ total: number | bigint | null }>(totalQuery(reader.dialect, source));
  return Number(count?.total ?? 0);
}

function rowsQuery(dialect: Dialect, table: string, ids: readonly number[]): HotQuery {
  const binder = new Binder(dialect);
  return { text: `SELECT * FROM "${table}" WHERE id IN (${idsOf(binder, ids)})`, values: binder.values, bounded: true };
}

function totalQuery<Order extends string>(dialect: Dialect, source: PageSource<Order>): HotQuery {
  const binder = new Binder(dialect);
  const text = source.total(binder);
  return { text, values: binder.values, bounded: !text.startsWith('SELECT count(') };
}

/** The most rows that are read on the main thread, and the most that are stepped over on the way to them. */
const boundedRows = 200;
const boundedOffset = 1000;

/** Whether a stretch of a list is so short that a message to a worker costs more. */
export function isBounded({ offset, limit }: { readonly offset: number; readonly limit?: number }): boolean {
  return limit !== undefined && limit <= boundedRows && offset <= boundedOffset;
}

function orderOf<Order extends string>(dialect: Dialect, source: PageSource<Order>, query: PageQuery<Order>): string {
  const direction = query.desc === true ? 'DESC' : 'ASC';
  const key = query.orderBy === undefined ? '"id"' : source.orders[query.orderBy](dialect);
  return key === '"id"' ? `"id" ${direction}` : `${key} ${direction}, "id" ${direction}`;
}

/** The query for the rows of a page. Exported for the test that looks at its plan. */
export function pageQuery<Order extends string>(dialect: Dialect, source: PageSource<Order>, query: PageQuery<Order>, columns = '*'): HotQuery {
  const binder = new Binder(dialect);
  const where = conditions(source.where, binder);
  const text = `SELECT ${columns} FROM "${source.table}"${where} ORDER BY ${orderOf(dialect, source, query)}${stretchSql(binder, query)}`;
  return { text, values: binder.values, bounded: isBounded(query) };
}

function stretchSql(binder: Binder, { limit, offset }: Pick<PageQuery<string>, 'limit' | 'offset'>): string {
  return ` LIMIT ${binder.bind(limit ?? (binder.dialect === 'sqlite' ? -1 : null))} OFFSET ${binder.bind(offset)}`;
}
