import type { Page } from '../../store/hot/page.ts';

/** Reads a list. @param limit maximum rows of all pages together; undefined = all */
export interface ReadList<Row> {
  /** As one page. */
  readonly page: (limit: number) => Promise<Page<Row>>;
  /** Page by page. */
  readonly pages: (limit: number | undefined) => AsyncGenerator<Page<Row>, void, undefined>;
}

/** Approximate maximum of characters in one run: rows with long texts take as long as many short ones. */
const runCharacters = 64 * 1024;

/** A list that is returned by several runs of one operation. Each run returns the rows after those of the previous run. */
export class ListWalk {
  readonly #most: number | undefined;
  #pages: AsyncGenerator<Page<Readonly<Record<string, unknown>>>, void, undefined> | undefined;
  /** Rows that were read but not returned yet. */
  #rows: Array<Readonly<Record<string, unknown>>> = [];
  #total = 0;
  /** Whether `#rows` has so much text that it must be returned before more rows are read. */
  #full = false;
  #ended = false;

  /** @param most maximum rows of all runs together; undefined = all */
  constructor(most: number | undefined) {
    this.#most = most;
  }

  /** Whether no row is left for another run. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The next rows. @param count maximum number of rows of this run */
  async next<Row extends Readonly<Record<string, unknown>>>(read: ReadList<Row>, count: number): Promise<Page<Row>> {
    let over = false;
    if (this.#pages === undefined && this.#most !== undefined && this.#most <= count) {
      ({ rows: this.#rows, total: this.#total } = await read.page(this.#most));
      this.#pages = none();
      over = true;
    }
    const pages = this.#pages ??= read.pages(this.#most);
    // Reads one row more, so that the last run knows that it is the last.
    while (!over && this.#rows.length <= (this.#full ? 0 : count)) {
      const { value, done } = await pages.next();
      if (done === true) over = true;
      else {
        this.#rows.push(...value.rows);
        this.#total = value.total;
        this.#full = value.short === true;
      }
    }
    const rows = this.#rows.splice(0, Math.min(count, short(this.#rows)));
    this.#ended = over && this.#rows.length === 0;
    // All runs are of the same operation, so the rows have the same type.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { rows: rows as Row[], total: this.#total };
  }
}

/** The remaining rows of a list with a single page. */
async function* none(): AsyncGenerator<never, void, undefined> {}

/** How many rows, at least one, fit into the characters of one run. */
function short(rows: ReadonlyArray<Readonly<Record<string, unknown>>>): number {
  let characters = 0;
  const end = rows.findIndex((row, index) => {
    characters += charactersOf(row);
    return index > 0 && characters > runCharacters;
  });
  return end < 0 ? rows.length : end;
}

/** Called for every row of every list. A row has about 30 columns; `for in` creates no array of their values. */
function charactersOf(row: Readonly<Record<string, unknown>>): number {
  let characters = 0;
  for (const column in row) {
    const value = row[column];
    if (typeof value === 'string') characters += value.length;
  }
  return characters;
}
