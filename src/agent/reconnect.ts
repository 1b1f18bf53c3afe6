/** Times of the reconnect policy, in ms. */
export const RECONNECT = {
  /** Upper bound of the first wait. */
  first: 500,
  /**
   * The bound doubles with every failure up to this: whatever the length of an outage, an agent dials again so soon after its end. A dial that is
   * not answered is given up after 5 s (dial-bridge.ts).
   */
  longest: 4_000,
  /** The same while the server answers and refuses: somebody has to do something about that first. */
  longestRefused: 30_000,
  /** A session that lived this long was a good one: the bound starts anew. */
  stable: 2_000,
  /**
   * The bound after a session that didn't. A server that is killed again and again is found soon each time: two more failures,
   * and the agent is back within 8 s. One that drops everybody at once isn't dialled all the time.
   */
  unstable: 2_000,
} as const;

/** How long to wait before dialling again: exponential with full jitter, so that a thousand agents don't return in one instant. */
export class ReconnectDelay {
  #bound: number = RECONNECT.first;
  readonly #random: () => number;

  /** @param random yields 0 <= x < 1 */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** ms until the next attempt. @param refused the server was there, and said no */
  next(refused = false): number {
    const delay = this.#random() * this.#bound;
    this.#bound = Math.min(this.#bound * 2, refused ? RECONNECT.longestRefused : RECONNECT.longest);
    return delay;
  }

  /** A session ended after `ms`. */
  sessionLasted(ms: number): void {
    this.#bound = ms >= RECONNECT.stable ? RECONNECT.first : Math.min(this.#bound, RECONNECT.unstable);
  }

  /** There is no hurry: another agent took the session over. */
  slowDown(): void {
    this.#bound = RECONNECT.longestRefused;
  }
}
