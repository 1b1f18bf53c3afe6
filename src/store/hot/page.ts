import { RowsTooLongError } from '../errors.ts';
import type { Client, Host, Tunnel, User } from '../generated/sqlite/client.ts';
import type { Dialect } from '../migrations.ts';
import type { Condition, Found, Search, SearchedTable, PageRange, Where } from '../search/search.ts';
import { Binder, idsOf, type HotQuery } from './binder.ts';
import { conditions } from './filters.ts';
import type { HotReader } from './reader.ts';

/** Which part of a list is wanted (contract 2.1, D4). */
export interface PageQuery<Order extends string> {
  /** Text to find, in any case; '' or absent = all rows. */
  readonly search?: string;
  /** Columns that hold a secret are not searched. */
  readonly withoutSecrets?: boolean;
  /** Further conditions, at least one; they are checked on every row of the list. Absent = none. */
  readonly conditions?: readonly Condition[];
  /** Absent = by id. Rows that compare equal are sorted by id. */
  readonly orderBy?: Order;
  readonly desc?: boolean;
  /** Rows to skip, at least 0. */
  readonly offset: number;
  /** Absent = all that remain; 0 = no rows, only the total. */
  readonly limit?: number;
}

/** A part of a list, and the size of the whole list. */
export interface Page<Row> {
  readonly rows: Row[];
  readonly total: number;
  /** Only when a list is read page by page: the page has fewer rows than requested because of their text. */
  readonly short?: true;
}

/** The rows of each table. */
export interface TableRows {
  readonly Client: Client;
  readonly Tunnel: Tunnel;
  readonly Host: Host;
  readonly User: User;
}

/** Maximum text of a page, in bytes: enough for the largest page of users' records. */
export const pageBytes = 32_000_000;
/** The same for one of several pages, whose rows can also be split over two pages. */
const partBytes = 4_000_000;

/** An ascending order that no column has: that of some ids, and all other rows by id. */
export interface Ranked {
  readonly ids: readonly number[];
  /** Whether the other rows come first. */
  readonly othersFirst: boolean;
}

/** The list that a page is read from. */
export interface PageSource<Order extends string> {
  readonly table: SearchedTable;
  /** The expression of each sort order; an index must begin with it (test/store/page-indexes.test.ts). */
  readonly orders: Readonly<Record<Order, SqlExpression>>;
  /** The filters of the list, in addition to the search. */
  readonly where: Where;
  /** Whether an index gives the rows that are filtered by `where` in this order: then a short page needs no worker. */
  indexed(order: Order | undefined): boolean;
  /** The order of the list where no column has it. Absent = `orders` has it. */
  readonly ranked?: Ranked | undefined;
  /** The stored total of the list without search and conditions. */
  total(binder: Binder): string;
}

/** SQL that differs between the databases, and may bind values. */
export type SqlExpression = (binder: Binder) => string;

/** Sorts by a column as it is. */
export const plain = (column: string): SqlExpression => () => `"${column}"`;

/** Sorts clients and users by whether they may work: neither switched off nor expired. The migrations' indexes repeat this expression. */
export const working: SqlExpression = () => '("enabled" AND NOT "expired")';

/**
 * Sorts text without regard to case, the same way on both databases: byte by byte. Only the beginning counts, as an index
 * on PostgreSQL has to fit a page. The migrations' indexes repeat this expression.
 */
export const folded = (column: string): SqlExpression => ({ dialect }) => `lower(substr("${column}", 1, 200))${dialect === 'sqlite' ? '' : ' COLLATE "C"'}`;

/** The orders of tunnels and hosts without an index, which would be written for each of them once a minute: a worker sorts. */
export const movingOrders: ReadonlySet<string> = new Set(['RATE', 'CONNECTIONS']);

/**
 * Reads a page and the list's total. A page with more text than allowed ({@link pageBytes}) is refused before it is read. Without a search, the cost is
 * that of the page (and of skipping `offset` index entries, and of the ranked ids), in a table of any size. A search or conditions read the whole list; the reader
 * limits their cost.
 * @param most maximum text of the rows, in bytes
 * @throws {RowsTooLongError}
 */
export async function readPage<Row extends { readonly id: number }, Order extends string>(
  reader: HotReader,
  source: PageSource<Order>,
  query: PageQuery<Order>,
  most = pageBytes,
): Promise<Page<Row>> {
  // PostgreSQL can't store this character and refuses to look for it.
  if (query.search?.includes('\0')) return { rows: [], total: 0 };
  if (scans(query) || source.ranked !== undefined) {
    const { ids, total } = await found(reader, source, query);
    return { rows: ids.length === 0 ? [] : await rowsOf(reader, source.table, Array.from(ids), most), total };
  }
  const rows = query.limit === 0 ? [] : await reader.rows<Row>({ ...pageQuery(reader.dialect, source, query), most });
  return { rows, total: await totalOf(reader, source) };
}

/** Whether every row of the list has to be checked: callers run such queries one at a time. */
export function scans({ search, conditions }: { readonly search?: string; readonly conditions?: readonly Condition[] }): boolean {
  return conditions !== undefined || (search !== undefined && search !== '');
}

/** The ids of the requested page of a search's results, or of a ranked list, in the order of the list. */
async function found<Order extends string>(reader: HotReader, source: PageSource<Order>, query: PageQuery<Order>): Promise<Found> {
  const { desc = false, offset, limit } = query;
  if (source.ranked !== undefined) {
    if (!scans(query)) return inRank(reader, source, source.ranked, query);
    const { ids, total } = await reader.search(searchOf(source, query));
    return { ids: sortedByRank(ids, source.ranked, desc).subarray(offset, limit === undefined ? undefined : offset + limit), total };
  }
  if (query.orderBy === undefined || query.orderBy === 'ID') {
    return reader.search(searchOf(source, query, { desc, offset, ...(limit !== undefined && { limit }) }));
  }
  const { ids, total } = await reader.search(searchOf(source, query));
  if (total === 0 || limit === 0) return { ids: new Int32Array(), total };
  const binder = new Binder(reader.dialect);
  const text = `SELECT id FROM "${source.table}" WHERE id IN (${idsOf(binder, Array.from(ids))}) ORDER BY ${orderOf(binder, source, query)}${
    limitSql(binder, query)
  }`;
  return { ids: Int32Array.from(await reader.rows<{ id: number }>({ text, values: binder.values }), ({ id }) => id), total };
}

/** Ids by their rank. @param ids ascending */
function sortedByRank(ids: Int32Array, ranked: Ranked, desc: boolean): Int32Array {
  const left = new Set(ids);
  const first = ranked.ids.filter((id) => left.delete(id));
  const sorted = ranked.othersFirst ? [...left, ...first] : [...first, ...left];
  return Int32Array.from(desc ? sorted.toReversed() : sorted);
}

/** The ids of the requested page of a ranked list without a search. Other rows than the ranked ones are read from the index of the id, and only those of the page. */
async function inRank<Order extends string>(
  reader: HotReader,
  source: PageSource<Order>,
  ranked: Ranked,
  { desc = false, offset, limit }: PageQuery<Order>,
): Promise<Found> {
  const idsOfRows = async (query: HotQuery) => (await reader.rows<{ id: number }>(query)).map(({ id }) => id);
  const total = await totalOf(reader, source);
  const listed = ranked.ids.length === 0 ? [] : await idsOfRows(listedQuery(reader.dialect, source, ranked.ids));
  const left = new Set(listed);
  const ascending = ranked.ids.filter((id) => left.delete(id));
  const own = desc ? ascending.toReversed() : ascending;
  const end = limit === undefined ? total : Math.min(total, offset + limit);
  const ownFirst = ranked.othersFirst === desc;
  const [ownAt, othersAt] = ownFirst ? [0, own.length] : [total - own.length, 0];
  const ownOfPage = own.slice(Math.max(0, offset - ownAt), Math.max(0, end - ownAt));
  const range = { offset: Math.max(0, offset - othersAt), limit: Math.max(0, end - offset) - ownOfPage.length };
  const others = range.limit <= 0 ? [] : await idsOfRows(pageQuery(reader.dialect, source, { desc, ...range }, '"id"', own));
  return { ids: Int32Array.from(ownFirst ? [...ownOfPage, ...others] : [...others, ...ownOfPage]), total };
}

/** The query for those of some ids that are in a list. */
function listedQuery<Order extends string>(dialect: Dialect, { where, table }: PageSource<Order>, ids: readonly number[]): HotQuery {
  const binder = new Binder(dialect);
  const filter = conditions(where, binder);
  const text = `SELECT "id" FROM "${table}"${filter}${filter === '' ? ' WHERE' : ' AND'} "id" IN (${idsOf(binder, ids)})`;
  return { text, values: binder.values, bounded: ids.length <= boundedRows };
}

function searchOf<Order extends string>(
  { table, where }: PageSource<Order>,
  { search = '', withoutSecrets = false, conditions }: PageQuery<Order>,
  range?: PageRange,
): Search {
  return { table, text: search, withoutSecrets, where, ...(conditions && { conditions }), ...(range && { range }) };
}

/** Reads rows by their ids, in the same order; deleted rows are skipped. @param most maximum text of all rows, in bytes @throws {RowsTooLongError} */
export async function rowsOf<Row extends { readonly id: number }>(reader: HotReader, table: string, ids: readonly number[], most?: number): Promise<Row[]> {
  const rows = new Map((await reader.rows<Row>({ ...rowsQuery(reader.dialect, table, ids), most })).map((row) => [row.id, row]));
  return ids.map((id) => rows.get(id)).filter((row) => row !== undefined);
}

/** The most rows that {@link readPages} reads at a time. */
const pagesRows = 100;

/**
 * Reads a list of any length in pages of at most {@link pagesRows} rows, each on request. Which rows, and in which order, is determined
 * at the beginning. The contents are read with each page, and rows deleted in the meantime are skipped. Between two
 * pages, only the ids are in memory, and no connection or snapshot is open. Rows with much text are read in smaller pages.
 */
export async function* readPages<Row extends { readonly id: number }, Order extends string>(
  reader: HotReader,
  source: PageSource<Order>,
  query: PageQuery<Order>,
): AsyncGenerator<Page<Row>, void, undefined> {
  if ((query.limit !== undefined && query.limit <= pagesRows) || query.search?.includes('\0')) {
    const page = await unlessTooLong(readPage<Row, Order>(reader, source, query, partBytes));
    if (page) return yield page;
  }
  const { ids, total } = scans(query) || source.ranked !== undefined ? await found(reader, source, query) : {
    ids: Int32Array.from(await reader.rows<{ id: number }>(pageQuery(reader.dialect, source, query, '"id"')), ({ id }) => id),
    total: await totalOf(reader, source),
  };
  if (ids.length === 0) return yield { rows: [], total };
  for (let start = 0; start < ids.length; start += pagesRows) {
    yield* parts<Row>(reader, source.table, Array.from(ids.subarray(start, start + pagesRows)), total);
  }
}

/** Reads rows by their ids as one page, or as several if they have too much text for one. A single row may have any amount. */
async function* parts<Row extends { readonly id: number }>(
  reader: HotReader,
  table: string,
  ids: readonly number[],
  total: number,
  short?: true,
): AsyncGenerator<Page<Row>, void, undefined> {
  const rows = await unlessTooLong(rowsOf<Row>(reader, table, ids, ids.length === 1 ? undefined : partBytes));
  if (rows) return yield { rows, total, ...(short && { short }) };
  const half = Math.ceil(ids.length / 2);
  yield* parts<Row>(reader, table, ids.slice(0, half), total, true);
  yield* parts<Row>(reader, table, ids.slice(half), total, true);
}

/** @returns undefined = it is too long */
async function unlessTooLong<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RowsTooLongError) return undefined;
    throw error;
  }
}

async function totalOf<Order extends string>(reader: HotReader, source: PageSource<Order>): Promise<number> {
  const [count] = await reader.rows<{ total: number | bigint | null }>(totalQuery(reader.dialect, source));
  return Number(count?.total ?? 0);
}

function rowsQuery(dialect: Dialect, table: string, ids: readonly number[]): HotQuery {
  const binder = new Binder(dialect);
  return { text: `SELECT * FROM "${table}" WHERE id IN (${idsOf(binder, ids)})`, values: binder.values, bounded: ids.length <= boundedRows };
}

function totalQuery<Order extends string>(dialect: Dialect, source: PageSource<Order>): HotQuery {
  const binder = new Binder(dialect);
  const text = source.total(binder);
  return { text, values: binder.values, bounded: !text.startsWith('SELECT count(') };
}

/** Maximum rows that are read on the main thread, and maximum rows that are skipped before them. */
const boundedRows = 200;
const boundedOffset = 1000;

/** Whether a range of a list is so short that sending it to a worker would cost more. */
export function isBounded({ offset, limit }: { readonly offset: number; readonly limit?: number }): boolean {
  return limit !== undefined && limit <= boundedRows && offset <= boundedOffset;
}

function orderOf<Order extends string>(binder: Binder, source: PageSource<Order>, query: PageQuery<Order>): string {
  const direction = query.desc === true ? 'DESC' : 'ASC';
  const key = query.orderBy === undefined ? '"id"' : source.orders[query.orderBy](binder);
  return key === '"id"' ? `"id" ${direction}` : `${key} ${direction}, "id" ${direction}`;
}

/** The query for the rows of a page. Exported for the test that checks its query plan. @param without the ids of rows to leave out */
export function pageQuery<Order extends string>(
  dialect: Dialect,
  source: PageSource<Order>,
  query: PageQuery<Order>,
  columns = '*',
  without: readonly number[] = [],
): HotQuery {
  const binder = new Binder(dialect);
  const where = conditions(source.where, binder);
  const others = without.length === 0 ? '' : `${where === '' ? ' WHERE' : ' AND'} "id" NOT IN (${idsOf(binder, without)})`;
  const text = `SELECT ${columns} FROM "${source.table}"${where}${others} ORDER BY ${orderOf(binder, source, query)}${limitSql(binder, query)}`;
  return { text, values: binder.values, bounded: isBounded(query) && without.length <= boundedRows && source.indexed(query.orderBy) };
}

function limitSql(binder: Binder, { limit, offset }: Pick<PageQuery<string>, 'limit' | 'offset'>): string {
  return ` LIMIT ${binder.bind(limit ?? (binder.dialect === 'sqlite' ? -1 : null))} OFFSET ${binder.bind(offset)}`;
}
