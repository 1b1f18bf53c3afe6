/** Where a search looks in each table. The triggers of the migrations tell of changes to these columns, and of no others. */
export const searched = {
  Client: { open: ['remark'], secret: ['vkey'], numbers: ['id'], filters: ['userId'] },
  Tunnel: { open: ['remark', 'target'], secret: ['password'], numbers: ['id', 'port'], filters: ['clientId', 'ownerId', 'mode'] },
  Host: { open: ['host', 'remark'], secret: ['clientKey'], numbers: ['id'], filters: ['clientId', 'ownerId'] },
  User: { open: ['username', 'remark'], secret: [], numbers: ['id'], filters: [] },
} as const satisfies Record<string, SearchedColumns>;

/** The columns of a table that a search has to do with. */
export interface SearchedColumns {
  /** The columns that are searched for all callers. */
  readonly open: readonly string[];
  /** The same, of secrets. */
  readonly secret: readonly string[];
  /** That may equal it, when it is a number. */
  readonly numbers: readonly string[];
  /** The columns that lists are filtered by, in addition to the id. */
  readonly filters: readonly string[];
}

/** A table that can be searched. */
export type SearchedTable = keyof typeof searched;

/** A filter: each column equals its value; null = not set. */
export type Where = Readonly<Record<string, string | number | null>>;

/**
 * What else the rows of a list have to fulfill, which no index answers: every row is looked at. Either SQL of the row's columns, the same for both
 * databases, with `?` for each value, or the ids that rows may have. Made in `hot/conditions.ts` alone.
 */
export type Condition = { readonly sql: string; readonly values?: readonly (string | number)[] } | { readonly ids: readonly number[] };

/** A part of what was found, by id. */
export interface PageRange {
  readonly desc: boolean;
  readonly offset: number;
  /** Absent = all that remain. */
  readonly limit?: number;
}

/** A search, as it travels between threads. */
export interface Search {
  readonly table: SearchedTable;
  /** Without NUL; '' = any. There is a text or a condition. */
  readonly text: string;
  /** Columns that hold a secret are not looked at. */
  readonly withoutSecrets: boolean;
  readonly where: Where;
  /** All of them must hold. Absent = none. */
  readonly conditions?: readonly Condition[];
  /** Absent = the ids of all, ascending. */
  readonly range?: PageRange;
}

/** What a search has found. */
export interface Found {
  /** Of the requested range. */
  readonly ids: Int32Array;
  /** How many there are in all. */
  readonly total: number;
}

/** The requested range of all results. @param ids of all, ascending */
export function pageOf(ids: readonly number[], range: PageRange | undefined): Found {
  if (range === undefined) return { ids: Int32Array.from(ids), total: ids.length };
  const { desc, offset, limit } = range;
  const end = limit === undefined ? ids.length : Math.min(ids.length, offset + limit);
  const wanted = desc ? ids.slice(ids.length - end, Math.max(0, ids.length - offset)).toReversed() : ids.slice(offset, end);
  return { ids: Int32Array.from(wanted), total: ids.length };
}

/** The number in a text that may be an id or port; undefined = not a number. */
export function numberIn(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined;
}

/**
 * A text without regard to case. Two letters stay as they are: the signs for kelvin and for the Turkish dotted I, which SQLite's own `lower()` leaves
 * too, would become letters of the English alphabet.
 */
export function foldCase(text: string): string {
  return /[\u0130\u212A]/.test(text) ? text.replaceAll(/[^\u0130\u212A]+/g, (part) => part.toLowerCase()) : text.toLowerCase();
}
