import type { OverviewPart, OverviewRow } from '../wire/overview.ts';

/** Timeout of the server's answer, in ms. A server of an older version never answers. */
const ANSWER_MS = 2000;
/** Maximum rows that are kept. If a client has more tunnels and hosts, the agent shows only the first ones. */
const MOST = 10_000;

/** The server's list of a client's tunnels and hosts, assembled from its parts. */
export class Overview {
  #rows: OverviewRow[] = [];
  #asked: Promise<readonly OverviewRow[] | undefined> | undefined;
  #answer: ((rows: readonly OverviewRow[] | undefined) => void) | undefined;

  /** Requests the list, unless a request is already pending. @returns undefined when there is no answer */
  ask(send: () => void): Promise<readonly OverviewRow[] | undefined> {
    this.#asked ??= new Promise((resolve) => {
      const timer = setTimeout(() => this.#answer?.(undefined), ANSWER_MS);
      this.#rows = [];
      this.#answer = (rows) => {
        clearTimeout(timer);
        this.#asked = undefined;
        this.#answer = undefined;
        resolve(rows);
      };
      send();
    });
    return this.#asked;
  }

  /** Adds a part. */
  add({ rows, last }: OverviewPart): void {
    if (!this.#asked) return;
    if (this.#rows.length < MOST) this.#rows.push(...rows);
    if (last) this.#answer?.(this.#rows);
  }
}
