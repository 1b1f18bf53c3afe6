import * as z from 'zod';
import type { AuditEntry } from '../generated/sqlite/client.ts';
import { contains } from '../search/search-sql.ts';
import { Binder, equals, type HotQuery } from './binder.ts';
import { pageBytes, rowsOf } from './page.ts';
import { type HotReader, searchMs } from './reader.ts';
import { storedTime } from './stored-time.ts';

/** The wanted entries; absent = any. */
export interface AuditConditions {
  readonly resource?: string;
  readonly resourceId?: string;
  readonly action?: string;
  readonly callerKind?: string;
  readonly callerId?: number;
  readonly from?: Date;
  /** The end of the range, exclusive. */
  readonly to?: Date;
  /** Only entries with smaller ids. */
  readonly beforeId?: number;
  /** Only entries that contain this text, in any case; absent or '' = any. Without NUL. */
  readonly search?: string;
}

/** What a search found. */
export interface AuditFound {
  /** The newest first. */
  readonly ids: readonly number[];
  /** The oldest entry that was looked at, if older ones were not; absent = all were. */
  readonly last?: number;
}

/** The most entries that one search looks at. */
const mostSearched = 100_000;
/** Entries per statement: on SQLite it can't be interrupted, and other readers wait for it. */
const together = 5000;
/** Entries per page of a download. */
const pageRows = 100;

const idList = z.string().transform((text): unknown => JSON.parse(text)).pipe(z.array(z.number()));

/**
 * Searches the entries that meet the other conditions, from the newest one, in a worker or by PostgreSQL: at most {@link mostSearched} of them, for about
 * {@link searchMs} at most.
 */
export async function searchAudit(reader: HotReader, conditions: AuditConditions): Promise<AuditFound> {
  const end = performance.now() + searchMs;
  const ids: number[] = [];
  let beforeId = conditions.beforeId;
  for (let looked = 0; looked < mostSearched; looked += together) {
    const [part] = await reader.rows<{ looked: number | bigint; last: number | null; ids: string }>(partQuery(reader, { ...conditions, beforeId }));
    if (part === undefined) break;
    ids.push(...idList.parse(part.ids).toSorted((a, b) => b - a));
    beforeId = part.last ?? undefined;
    if (Number(part.looked) < together || beforeId === undefined) return { ids };
    if (performance.now() > end) break;
  }
  return { ids, ...(beforeId !== undefined && { last: beforeId }) };
}

/** The wanted entries, newest first, one page after the other is requested. Of a search, as many as {@link searchAudit} finds. */
export async function* auditPages(reader: HotReader, conditions: AuditConditions): AsyncGenerator<readonly AuditEntry[], void, undefined> {
  const { search = '', ...others } = conditions;
  if (search !== '') {
    const { ids } = await searchAudit(reader, conditions);
    for (let start = 0; start < ids.length; start += pageRows) {
      yield await rowsOf<AuditEntry>(reader, 'AuditEntry', ids.slice(start, start + pageRows), pageBytes);
    }
    return;
  }
  let { beforeId } = others;
  for (;;) {
    const binder = new Binder(reader.dialect);
    const text = `SELECT * FROM "AuditEntry" WHERE ${whereOf(binder, { ...others, beforeId })} ORDER BY id DESC LIMIT ${binder.bind(pageRows)}`;
    const rows = await reader.rows<AuditEntry>({ text, values: binder.values });
    if (rows.length > 0) yield rows;
    beforeId = rows.at(-1)?.id;
    if (rows.length < pageRows) return;
  }
}

function partQuery({ dialect }: Pick<HotReader, 'dialect'>, { search = '', ...conditions }: AuditConditions): HotQuery {
  const binder = new Binder(dialect);
  // The values of records are stored as JSON.
  const inJson = JSON.stringify(search).slice(1, -1);
  const found = [
    ...['resourceId', 'address', 'tokenName'].map((column) => contains(dialect, column, search, binder)),
    ...['before', 'after'].map((column) => contains(dialect, column, inJson, binder)),
  ].join(' OR ');
  const part = `SELECT id, (${found}) AS found FROM "AuditEntry" WHERE ${whereOf(binder, conditions)} ORDER BY id DESC LIMIT ${binder.bind(together)}`;
  const ids = dialect === 'sqlite' ? `'' || json_group_array(id) FILTER (WHERE found)` : `coalesce(json_agg(id) FILTER (WHERE found), '[]')::text`;
  return { text: `SELECT count(*) AS looked, min(id) AS last, ${ids} AS ids FROM (${part}) AS part`, values: binder.values };
}

function whereOf(binder: Binder, { from, to, beforeId, ...equal }: Omit<AuditConditions, 'search'>): string {
  const all = Object.entries(equal).flatMap(([column, value]) => value === undefined ? [] : [equals(binder, column, value)]);
  if (from !== undefined) all.push(`at >= ${binder.bind(storedTime(from))}`);
  if (to !== undefined) all.push(`at < ${binder.bind(storedTime(to))}`);
  if (beforeId !== undefined) all.push(`id < ${binder.bind(beforeId)}`);
  return all.length === 0 ? 'true' : all.join(' AND ');
}
