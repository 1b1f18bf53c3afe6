/**
 * Most visitor connections of the whole server at once. Each may pin a stream's credit (1 MB) when its visitor stops reading, and holds a
 * file descriptor: without a limit a stranger decides how much memory the server takes.
 */
export const MAX_VISITORS = 50_000;

/** Counts the open visitor connections of all tunnels. */
export class Visitors {
  readonly #max: number;
  #open = 0;
  readonly #waiting = new Set<() => void>();

  constructor(max: number = MAX_VISITORS) {
    this.#max = max;
  }

  get open(): number {
    return this.#open;
  }

  get full(): boolean {
    return this.#open >= this.#max;
  }

  enter(): void {
    this.#open++;
  }

  leave(): void {
    this.#open--;
    if (this.#open > 0) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves when no connection is open, after `ms` at the latest. */
  async gone(ms: number): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
    });
  }
}
