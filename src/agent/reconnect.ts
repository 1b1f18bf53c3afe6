import { Pace } from '../rules/pace.ts';

/** Times of the reconnect policy, in ms. */
const RECONNECT = {
  /** Upper bound of the first wait. */
  first: 500,
  /**
   * The bound doubles with every failure up to this: after an outage of any length, an agent dials within this time after its end. A dial
   * times out after 5 s (dial-bridge.ts).
   */
  longest: 4_000,
  /** The bound while the server answers but refuses; only the server's operator can change that. */
  longestRefused: 30_000,
  /**
   * Upper bound of the wait after a session with one of several servers was lost: the others are most likely there. It is the spread of the agents of a server
   * that has died.
   */
  elsewhere: 100,
  /** A session that lasted at least this long resets the bound. */
  stable: 2_000,
  /**
   * The bound after a shorter session: long enough not to dial constantly when the server drops each session immediately; short enough that an agent
   * soon reaches a server that was killed twice.
   */
  unstable: 2_000,
} as const;

/**
 * How often another server is tried at once after a short session was lost: servers that die one after another, about every second, keep nobody waiting. Each of several servers
 * that drop every session is dialed about once a second at most, like a single one that does.
 */
const QUICK_MOVES = { atOnce: 8, perSecond: 1 } as const;

/** How long to wait before dialing again: exponential with full jitter, so that a thousand agents don't return in one instant. */
export class ReconnectDelay {
  #bound: number = RECONNECT.first;
  readonly #random: () => number;
  readonly #quick = new Pace(QUICK_MOVES);
  /** The last session was no short one, and no other server was tried since. */
  #lasted = false;

  /** @param random yields 0 <= x < 1 */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** ms until the next attempt. @param refused the server answered with a refusal */
  next(refused = false): number {
    const delay = this.#random() * this.#bound;
    this.#bound = Math.min(this.#bound * 2, refused ? RECONNECT.longestRefused : RECONNECT.longest);
    return delay;
  }

  /** ms until another server is tried: at once, and only once, after a session that lasted, which happens as seldom as short ones may. @param now ms of a monotonic clock */
  elsewhere(now: number): number {
    const first = this.#lasted;
    this.#lasted = false;
    return first || this.#quick.begin(now) ? this.#random() * RECONNECT.elsewhere : this.next();
  }

  /** A session ended after `ms`. */
  sessionLasted(ms: number): void {
    this.#lasted = ms >= RECONNECT.stable;
    this.#bound = ms >= RECONNECT.stable ? RECONNECT.first : Math.min(this.#bound, RECONNECT.unstable);
  }

  /** Waits longer: another agent took the session over. */
  slowDown(): void {
    this.#bound = RECONNECT.longestRefused;
  }
}
