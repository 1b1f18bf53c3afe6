/** One timer for the earliest of any number of moments. After it rang it has to be set again. */
export class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** When it rings, by the monotonic clock. */
  #at = 0;
  #stopped = false;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings in `ms` at the latest. */
  within(ms: number): void {
    const wait = Math.max(1, ms);
    const at = performance.now() + wait;
    if (this.#stopped || (this.#timer && this.#at <= at)) return;
    clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#ring();
    }, wait).unref();
  }

  /** Never rings again. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
