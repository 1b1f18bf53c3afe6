/** Where a search looks in each table. The triggers of the migrations tell of changes to these columns, and of no others. */
export const searched = {
  Client: { open: ['remark'], secret: ['vkey'], numbers: ['id'], filters: ['userId'] },
  Tunnel: { open: ['remark', 'target'], secret: ['password'], numbers: ['id', 'port'], filters: ['clientId', 'ownerId', 'mode'] },
  Host: { open: ['host', 'remark'], secret: ['clientKey'], numbers: ['id'], filters: ['clientId', 'ownerId'] },
  User: { open: ['username', 'remark'], secret: [], numbers: ['id'], filters: [] },
} as const satisfies Record<string, SearchedColumns>;

/** The columns of a table that a search has to do with. */
export interface SearchedColumns {
  /** Whose text may hold what is looked for. */
  readonly open: readonly string[];
  /** The same, of secrets. */
  readonly secret: readonly string[];
  /** That may equal it, when it is a number. */
  readonly numbers: readonly string[];
  /** By which lists are filtered, besides the id. */
  readonly filters: readonly string[];
}

/** A table that can be searched. */
export type SearchedTable = keyof typeof searched;

/** What a list is filtered by: each column equals its value, null = has none. */
export type Where = Readonly<Record<string, string | number | null>>;

/** A part of what was found, by id. */
export interface Stretch {
  readonly desc: boolean;
  readonly offset: number;
  /** Absent = all that remain. */
  readonly limit?: number;
}

/** A search, as it travels between threads. */
export interface Search {
  readonly table: SearchedTable;
  /** Not empty, without NUL. */
  readonly text: string;
  /** Columns that hold a secret are not looked at. */
  readonly withoutSecrets: boolean;
  readonly where: Where;
  /** Absent = the ids of all, ascending. */
  readonly stretch?: Stretch;
}

/** What a search has found. */
export interface Found {
  /** Of the stretch that was asked for. */
  readonly ids: Int32Array;
  /** How many there are in all. */
  readonly total: number;
}

/** The stretch of all that was found. @param ids of all, ascending */
export function stretchOf(ids: readonly number[], stretch: Stretch | undefined): Found {
  if (stretch === undefined) return { ids: Int32Array.from(ids), total: ids.length };
  const { desc, offset, limit } = stretch;
  const end = limit === undefined ? ids.length : Math.min(ids.length, offset + limit);
  const wanted = desc ? ids.slice(ids.length - end, Math.max(0, ids.length - offset)).toReversed() : ids.slice(offset, end);
  return { ids: Int32Array.from(wanted), total: ids.length };
}

/** The number that a text may be the id or port of; undefined = it is none. */
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
