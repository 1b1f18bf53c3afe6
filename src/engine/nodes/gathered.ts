/** Gathers different items for some time before they are passed on together. */
export class Gathered<T> {
  readonly #ms: number;
  readonly #pass: (items: readonly T[]) => void;
  readonly #items = new Set<T>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, pass: (items: readonly T[]) => void) {
    this.#ms = ms;
    this.#pass = pass;
  }

  add(item: T): void {
    this.#items.add(item);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const items = [...this.#items];
      this.#items.clear();
      this.#pass(items);
    }, this.#ms).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
