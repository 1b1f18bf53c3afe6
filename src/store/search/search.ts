/** The searched columns of each table. The triggers of the migrations report changes of these columns, and of no others. */
export const searched = {
  Client: { open: ['remark'], secret: ['vkey'], numbers: ['id'], filters: ['userId'] },
  Tunnel: { open: ['remark', 'target'], secret: ['password'], numbers: ['id', 'port'], filters: ['clientId', 'ownerId', 'mode'] },
  Host: { open: ['host', 'remark'], secret: ['clientKey'], numbers: ['id'], filters: ['clientId', 'ownerId'] },
  User: { open: ['username', 'remark'], secret: [], numbers: ['id'], filters: [] },
} as const satisfies Record<string, SearchedColumns>;

/** The columns of a table that matter for searches. */
export interface SearchedColumns {
  /** The columns that are searched for all callers. */
  readonly open: readonly string[];
  /** The same, for columns with secrets. */
  readonly secret: readonly string[];
  /** Columns that a numeric text may equal. */
  readonly numbers: readonly string[];
  /** The columns that lists are filtered by, in addition to the id. */
  readonly filters: readonly string[];
}

/** A table that can be searched. */
export type SearchedTable = keyof typeof searched;

/** A filter: each column equals its value; null = not set. */
export type Where = Readonly<Record<string, string | number | null>>;

/**
 * A further condition for the rows of a list that no index supports, so that every row is checked. Either SQL on the row's columns, the same for both
 * databases, with `?` for each value, or the ids that are allowed or excluded. Created only in `hot/conditions.ts`.
 */
export type Condition =
  | { readonly sql: string; readonly values?: readonly (string | number)[]; /** Ids that are allowed, too. */ readonly orIds?: readonly number[] }
  | { readonly ids: readonly number[] }
  | { readonly notIds: readonly number[] };

/** A range of the matches, by id. */
export interface PageRange {
  readonly desc: boolean;
  readonly offset: number;
  /** Absent = all that remain. */
  readonly limit?: number;
}

/** A search, as sent between threads. */
export interface Search {
  readonly table: SearchedTable;
  /** Without NUL; '' = any. There is always a text or a condition. */
  readonly text: string;
  /** Columns with secrets are not searched. */
  readonly withoutSecrets: boolean;
  readonly where: Where;
  /** All of them must hold. Absent = none. */
  readonly conditions?: readonly Condition[];
  /** Absent = the ids of all, ascending. */
  readonly range?: PageRange;
}

/** The result of a search. */
export interface Found {
  /** Of the requested range. */
  readonly ids: Int32Array;
  /** Number of all matches. */
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
 * A text in folded case. Two characters are not folded, the signs for kelvin and for the Turkish dotted I: they would become letters of the
 * English alphabet, and SQLite's own `lower()` doesn't fold them, either.
 */
export function foldCase(text: string): string {
  return /[\u0130\u212A]/.test(text) ? text.replaceAll(/[^\u0130\u212A]+/g, (part) => part.toLowerCase()) : text.toLowerCase();
}
