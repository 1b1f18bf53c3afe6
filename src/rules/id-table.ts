/** Ids of a page: a power of two, small enough that pages with few ids left take little memory. */
const PAGE = 64;
const BITS = 6;

/**
 * Records by their ids, which the database counts up. A `Map` would take three times the memory, and most of a start with hundreds of thousands of rows would
 * be spent in its tables.
 */
export class IdTable<T> {
  readonly #pages = new Map<number, Array<T | undefined>>();
  /** The page that was last added to. */
  #last: { readonly number: number; readonly page: Array<T | undefined> } | undefined;

  /** @param id of a record, or any other number, which no record has */
  get(id: number): T | undefined {
    // Bits alone would take 2^32 + 1 for 1.
    return (id | 0) === id ? this.#pages.get(id >> BITS)?.[id & (PAGE - 1)] : undefined;
  }

  /** @param id from the database: 31 bits */
  set(id: number, record: T): void {
    const number = id >> BITS;
    if (this.#last?.number !== number) this.#last = { number, page: this.#pageOf(number) };
    this.#last.page[id & (PAGE - 1)] = record;
  }

  #pageOf(number: number): Array<T | undefined> {
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = Array.from({ length: PAGE }, () => undefined);
      this.#pages.set(number, page);
    }
    return page;
  }

  delete(id: number): void {
    const number = id >> BITS;
    const page = this.#pages.get(number);
    if (page === undefined || this.get(id) === undefined) return;
    page[id & (PAGE - 1)] = undefined;
    if (page.some((record) => record !== undefined)) return;
    this.#pages.delete(number);
    if (this.#last?.number === number) this.#last = undefined;
  }

  /** All records, of each page by their ids. While they are walked through, others may be added, replaced or deleted. */
  *values(): Generator<T, undefined> {
    for (const page of this.#pages.values()) {
      for (const record of page) if (record !== undefined) yield record;
    }
  }
}
