import type { Page } from '../store/hot/page.ts';

/** Reads a list page by page. @param limit the most rows of all pages together; undefined = all */
type ReadPages<Row> = (limit: number | undefined) => AsyncGenerator<Page<Row>, void, undefined>;

/** A list that is returned by several runs of one operation: each run gets the rows after those of the run before. */
export class ListWalk {
  readonly #most: number | undefined;
  #pages: AsyncGenerator<Page<unknown>, void, undefined> | undefined;
  /** Read, and not yet returned. */
  #rows: unknown[] = [];
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

  /** The next rows. @param count of this run */
  async next<Row>(read: ReadPages<Row>, count: number): Promise<Page<Row>> {
    const pages = this.#pages ??= read(this.#most);
    let over = false;
    // One more than wanted, so that the last run knows that it is.
    while (!over && this.#rows.length <= count) {
      const { value, done } = await pages.next();
      if (done === true) over = true;
      else {
        this.#rows.push(...value.rows);
        this.#total = value.total;
      }
    }
    const rows = this.#rows.splice(0, count);
    this.#ended = over && this.#rows.length === 0;
    // Each run has the same operation, and so the same kind of rows.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { rows: rows as Row[], total: this.#total };
  }
}
