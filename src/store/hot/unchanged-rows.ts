/** Maximum number of cached results; together with the limit of rows, a few megabytes, since only rows with short texts are cached. */
const MOST_RESULTS = 64;
const MOST_ROWS = 50;

/**
 * Caches results of queries until the next commit by any process: dashboards and panels request the same page again and again, and
 * reading it is a quarter of the cost of a response. A result is never out of date, since the database reports at each query whether it has changed.
 */
export class UnchangedRows<Row extends object> {
  readonly #results = new Map<string, readonly Row[]>();
  #version: unknown;

  /** The cached result of a query. @param version the database's current one: other results are dropped */
  at(version: unknown, query: string): readonly Row[] | undefined {
    if (version === this.#version) return this.#results.get(query);
    this.#results.clear();
    this.#version = version;
    return undefined;
  }

  /** Caches the result of a query for the version that was requested last. The rows are frozen, since they are shared. */
  keep(query: string, rows: readonly Row[]): void {
    if (rows.length > MOST_ROWS) return;
    if (this.#results.size >= MOST_RESULTS) this.#forgetOldest();
    this.#results.set(query, rows.map((row) => Object.freeze(row)));
  }

  #forgetOldest(): void {
    for (const query of this.#results.keys()) {
      this.#results.delete(query);
      return;
    }
  }
}
