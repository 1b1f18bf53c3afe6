/** One timer for the earliest of any number of deadlines. Set it again after it has fired. */
export class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** When it fires, by the monotonic clock. */
  #at = 0;
  #stopped = false;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Fires in `ms` at the latest. */
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

  /** Stops it. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
