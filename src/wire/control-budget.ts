/** What control messages cost: their bytes, and so much each. */
const EACH = 1024;
/** What may come at once, and in a second: much more than declarations, health and traffic of the largest agent. */
const MOST = { atOnce: 32 * 1024 * 1024, perSecond: 4 * 1024 * 1024 } as const;

/** Bounds the work that a peer causes by control messages: each is parsed and validated on the thread that moves everybody's bytes. */
export class ControlBudget {
  readonly #now: () => number;
  #left: number = MOST.atOnce;
  #at: number;

  /** @param now ms by a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** A message of so many bytes came. @returns false = the peer sends more than it may */
  take(bytes: number): boolean {
    const now = this.#now();
    this.#left = Math.min(MOST.atOnce, this.#left + (now - this.#at) * MOST.perSecond / 1000) - bytes - EACH;
    this.#at = now;
    return this.#left >= 0;
  }
}
