import { foldCase, numberIn, type Search, type SearchedColumns, type Where } from './search.ts';

/** Number of low bits of an id within a segment: 512 rows. The triggers of the migrations repeat this number. */
export const SEGMENT_BITS = 9;
/** Rows with longer texts are not kept in memory. */
export const LONG_CHARACTERS = 1024;

/** A row as `rowsSql` returns it: id, whether its texts are omitted because of their length, the texts, the numbers, the filter columns. */
export type SegmentRow = readonly [id: number, long: number, ...values: (string | number | null)[]];

/** The texts of some columns of all rows as one string, which is searched in a single pass. Neither texts nor searches contain a NUL. */
class Texts {
  readonly #text: string;
  readonly #starts: Int32Array;

  constructor(rows: readonly (readonly string[])[]) {
    const parts = rows.map((texts) => texts.map(foldCase).join('\0'));
    this.#starts = new Int32Array(parts.length);
    let at = 0;
    for (const [row, part] of parts.entries()) {
      this.#starts[row] = at;
      at += part.length + 1;
    }
    this.#text = parts.join('\0');
  }

  /** In characters. */
  get length(): number {
    return this.#text.length;
  }

  /** Marks the rows that hold a text. @param search folded */
  mark(search: string, hits: Uint8Array): void {
    let row = 0;
    for (let at = this.#text.indexOf(search); at >= 0; at = this.#text.indexOf(search, this.#starts[row])) {
      row = this.#rowAt(at, row);
      hits[row++] = 1;
      if (row === hits.length) return;
    }
  }

  /** The row of a character. @param low the lowest possible row */
  #rowAt(at: number, low: number): number {
    const starts = this.#starts;
    let step = 1;
    while ((starts[low + step] ?? Infinity) <= at) step *= 2;
    let high = Math.min(starts.length - 1, low + step);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? Infinity) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

type Value = string | number | null;

/** The filter columns of some rows. */
class Filters {
  readonly #columns: ReadonlyMap<string, readonly Value[]>;

  /** @param first the column of the first name in the rows */
  constructor(names: readonly string[], rows: readonly SegmentRow[], first: number) {
    this.#columns = new Map([['id', rows.map(([id]) => id)], ...names.map((name, n): [string, Value[]] => [name, rows.map((row) => row[first + n] ?? null)])]);
  }

  /** Returns a function that tests whether a row belongs to the list. */
  of(where: Where): (row: number) => boolean {
    const wanted = Object.entries(where).map(([name, value]) => ({ values: this.#columns.get(name) ?? [], value }));
    return (row) => wanted.every(({ values, value }) => values[row] === value);
  }
}

/** Neighboring rows of a table, in the form that searches need. */
export class Segment {
  readonly #ids: Int32Array;
  readonly #open: Texts;
  readonly #secret: Texts;
  /** Of each row, by column. */
  readonly #numbers: readonly (readonly Value[])[];
  readonly #filters: Filters;
  /** The ids of rows with long texts, which are searched in the database. */
  readonly #long: Int32Array;
  readonly #longFilters: Filters;
  /** Approximate memory use. */
  readonly bytes: number;

  constructor({ open, secret, numbers, filters }: SearchedColumns, rows: readonly SegmentRow[]) {
    const short = rows.filter(([, isLong]) => isLong === 0);
    const long = rows.filter(([, isLong]) => isLong !== 0);
    this.#long = Int32Array.from(long, ([id]) => id);
    this.#ids = Int32Array.from(short, ([id]) => id);
    let column = 2;
    const textsOf = (columns: readonly string[]) => {
      const from = column;
      column += columns.length;
      return new Texts(short.map((row) => row.slice(from, column).map(String)));
    };
    this.#open = textsOf(open);
    this.#secret = textsOf(secret);
    this.#numbers = numbers.map(() => {
      const at = column++;
      return short.map((row) => row[at] ?? null);
    });
    this.#filters = new Filters(filters, short, column);
    this.#longFilters = new Filters(filters, long, column);
    this.bytes = 500 + 2 * (this.#open.length + this.#secret.length) + (24 + 8 * (numbers.length + filters.length)) * short.length
      + (12 + 8 * filters.length) * long.length;
  }

  /**
   * Adds the ids of matches, and of the list's long rows that the database must check.
   * @param folded the case-folded text to search for
   */
  find({ withoutSecrets, where, text }: Search, folded: string, found: number[], long: number[]): void {
    const hits = new Uint8Array(this.#ids.length);
    this.#open.mark(folded, hits);
    if (!withoutSecrets) this.#secret.mark(folded, hits);
    const number = numberIn(text);
    if (number !== undefined) { for (const values of this.#numbers) mark(values, number, hits); }
    const listed = this.#filters.of(where);
    for (let row = hits.indexOf(1); row >= 0; row = hits.indexOf(1, row + 1)) {
      const id = this.#ids[row];
      if (id !== undefined && listed(row)) found.push(id);
    }
    const longListed = this.#longFilters.of(where);
    for (const [row, id] of this.#long.entries()) if (longListed(row)) long.push(id);
  }
}

function mark(values: readonly Value[], wanted: number, hits: Uint8Array): void {
  for (let row = values.indexOf(wanted); row >= 0; row = values.indexOf(wanted, row + 1)) hits[row] = 1;
}
