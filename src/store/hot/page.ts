import { Binder, idsOf } from './reader.ts';
import type { HotQuery, HotReader } from './reader.ts';
import type { Dialect } from '../migrations.ts';

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
  readonly table: 'Client' | 'Tunnel' | 'Host' | 'User';
  /** What each order sorts by; an index has to begin with it (test/store/page-indexes.test.ts). */
  readonly orders: Readonly<Record<Order, SqlExpression>>;
  /** Columns whose text is searched. */
  readonly searchText: readonly string[];
  /** Those of them that hold a secret. */
  readonly secretText?: readonly string[];
  /** Columns that a search for a number must equal. */
  readonly searchNumbers: readonly string[];
  /** Conditions of the list, besides the search. */
  filter(binder: Binder): string[];
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
  if (query.search) return foundPage(reader, source, query, await foundIds(reader, source, query));
  const rows = query.limit === 0 ? [] : await reader.rows<Row>(pageQuery(reader.dialect, source, query));
  return { rows, total: await totalOf(reader, source) };
}

/** The page of what a search has found. @param found in the order of the list */
async function foundPage<Row extends { readonly id: number }, Order extends string>(
  reader: HotReader, source: PageSource<Order>, { offset, limit }: PageQuery<Order>, found: readonly number[]): Promise<Page<Row>> {
  const wanted = found.slice(offset, limit === undefined ? undefined : offset + limit);
  return { rows: wanted.length === 0 ? [] : await rowsOf(reader, source.table, wanted), total: found.length };
}

/** The ids of all that a search finds, in the order of the list. */
async function foundIds<Order extends string>(reader: HotReader, source: PageSource<Order>, query: PageQuery<Order>): Promise<number[]> {
  const found = await reader.search(searchQuery(reader.dialect, source, query));
  if (found.length < 2) return found;
  if (query.orderBy === undefined || query.orderBy === 'ID') return query.desc === true ? found.toReversed() : found;
  const binder = new Binder(reader.dialect);
  const text = `SELECT id FROM "${source.table}" WHERE id IN (${idsOf(binder, found)}) ORDER BY ${orderOf(reader.dialect, source, query)}`;
  return (await reader.rows<{ id: number }>({ text, values: binder.values })).map(({ id }) => id);
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
  const found = query.search
    ? await foundIds(reader, source, query)
    : (await reader.rows<{ id: number }>(pageQuery(reader.dialect, source, query, '"id"'))).map(({ id }) => id);
  const total = query.search ? found.length : await totalOf(reader, source);
  const ids = Uint32Array.from(query.search ? found.slice(query.offset, query.limit === undefined ? undefined : query.offset + query.limit) : found);
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
  const where = conditions(source, binder);
  const all = dialect === 'sqlite' ? -1 : null;
  const text = `SELECT ${columns} FROM "${source.table}"${where} ORDER BY ${orderOf(dialect, source, query)} LIMIT ${binder.bind(query.limit ?? all)} OFFSET ${binder.bind(query.offset)}`;
  return { text, values: binder.values, bounded: isBounded(query) };
}

function conditions<Order extends string>(source: PageSource<Order>, binder: Binder): string {
  const all = source.filter(binder);
  return all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`;
}

/** The query for the ids of all rows that hold a text: on SQLite of one part of the table, see {@link HotReader.search}. Exported for the test of its plan. */
export function searchQuery<Order extends string>(dialect: Dialect, source: PageSource<Order>, { search = '', withoutSecrets }: PageQuery<Order>): HotQuery {
  const binder = new Binder(dialect);
  const searched = source.searchText.filter((column) => withoutSecrets !== true || source.secretText?.includes(column) !== true);
  const holds = searched.map((column) => contains(dialect, column, search, binder));
  if (isInt(search)) holds.push(...source.searchNumbers.map((column) => `"${column}" = ${binder.bind(Number(search))}`));
  const found = `(${holds.join(' OR ')})`;
  const filter = source.filter(binder);
  if (dialect === 'postgresql') {
    return { text: `SELECT coalesce(json_agg(id ORDER BY id), '[]')::text AS ids FROM "${source.table}" WHERE ${[...filter, found].join(' AND ')}`, values: binder.values };
  }
  const part = `SELECT id, ${found} AS found FROM "${source.table}" WHERE ${[...filter, 'id > ?'].join(' AND ')} ORDER BY id LIMIT ?`;
  // As text, not as JSON inside JSON.
  return { text: `SELECT count(*), max(id), '' || json_group_array(id) FILTER (WHERE found) AS ids FROM (${part})`, values: binder.values };
}

function contains(dialect: Dialect, column: string, search: string, binder: Binder): string {
  if (dialect === 'postgresql') return `strpos(lower("${column}"), lower(${binder.bind(search)})) > 0`;
  // LIKE takes a time that grows with the square of the text's length where the search nearly matches. SQLite's lower() is the quickest, but
  // folds ASCII only; `fold` knows all alphabets and calls back into JavaScript for each row.
  const ascii = /^[\0-\x7f]*$/.test(search);
  return `instr(${ascii ? 'lower' : 'fold'}("${column}"), ${binder.bind(search.toLowerCase())}) > 0`;
}

function isInt(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31;
}
