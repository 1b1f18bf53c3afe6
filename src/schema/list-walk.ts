import type { Page } from '../store/hot/page.ts';

/** Reads a list. @param limit the most rows of all pages together; undefined = all */
export interface ReadList<Row> {
  /** As one page. */
  readonly page: (limit: number) => Promise<Page<Row>>;
  /** Page by page. */
  readonly pages: (limit: number | undefined) => AsyncGenerator<Page<Row>, void, undefined>;
}

/** Characters of the rows of one run, about: rows with long texts take as long as many others. */
const runCharacters = 64 * 1024;

/** A list that is returned by several runs of one operation: each run gets the rows after those of the run before. */
export class ListWalk {
  readonly #most: number | undefined;
  #pages: AsyncGenerator<Page<Readonly<Record<string, unknown>>>, void, undefined> | undefined;
  /** Read, and not yet returned. */
  #rows: Array<Readonly<Record<string, unknown>>> = [];
  #total = 0;
  #ended = false;

  /** @param most rows of all runs together; undefined = all */
  constructor(most: number | undefined) {
    this.#most = most;
  }

  /** No row is left for another run. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The next rows. @param count the most of this run */
  async next<Row extends Readonly<Record<string, unknown>>>(read: ReadList<Row>, count: number): Promise<Page<Row>> {
    let over = false;
    if (this.#pages === undefined && this.#most !== undefined && this.#most <= count) {
      ({ rows: this.#rows, total: this.#total } = await read.page(this.#most));
      this.#pages = none();
      over = true;
    }
    const pages = this.#pages ??= read.pages(this.#most);
    // One more than wanted, so that the last run knows that it is.
    while (!over && this.#rows.length <= count) {
      const { value, done } = await pages.next();
      if (done === true) over = true;
      else {
        this.#rows.push(...value.rows);
        this.#total = value.total;
      }
    }
    const rows = this.#rows.splice(0, Math.min(count, short(this.#rows)));
    this.#ended = over && this.#rows.length === 0;
    // Each run has the same operation, and so the same kind of rows.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { rows: rows as Row[], total: this.#total };
  }
}

/** What is left of a list that was one page. */
async function* none(): AsyncGenerator<never, void, undefined> {}

/** How many rows, one at least, have no more text than a run may have. */
function short(rows: ReadonlyArray<Readonly<Record<string, unknown>>>): number {
  let characters = 0;
  const end = rows.findIndex((row, index) => {
    characters += charactersOf(row);
    return index > 0 && characters > runCharacters;
  });
  return end < 0 ? rows.length : end;
}

/** A row has some 30 columns, and every list asks this of all its rows: `for in` makes no array of their values. */
function charactersOf(row: Readonly<Record<string, unknown>>): number {
  let characters = 0;
  for (const column in row) {
    const value = row[column];
    if (typeof value === 'string') characters += value.length;
  }
  return characters;
}
