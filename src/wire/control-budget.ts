import process from 'node:process';

const EACH = 1024;
/** The burst, and the rate per second: much more than the declarations, health reports and traffic reports of the largest agent need. */
const MOST = { atOnce: 32 * 1024 * 1024, perSecond: 4 * 1024 * 1024 } as const;

/** Bounds the work that a peer causes by control messages: each is parsed and validated on the thread that moves all bytes. */
export class ControlBudget {
  readonly #now: () => number;
  readonly #most: { readonly atOnce: number; readonly perSecond: number };
  #left: number;
  #at: number;

  /** @param now ms of a monotonic clock @param most the cost at once and per second */
  constructor(now: () => number = () => performance.now(), most: { readonly atOnce: number; readonly perSecond: number } = MOST) {
    this.#now = now;
    this.#most = most;
    this.#left = most.atOnce;
    this.#at = now();
  }

  /** Counts a message. @param cost its {@link controlCost} @returns false = the peer sends more than it may */
  take(cost: number): boolean {
    const now = this.#now();
    this.#left = Math.min(this.#most.atOnce, this.#left + (now - this.#at) * this.#most.perSecond / 1000) - cost;
    this.#at = now;
    return this.#left >= 0;
  }
}

/** The budget of a peer that limits what it sends itself, for all that it carries: what one client causes must not end the session. */
export function unlimited(): ControlBudget {
  return new ControlBudget(undefined, { atOnce: Number.POSITIVE_INFINITY, perSecond: 0 });
}

/** The cost of a control message: its bytes, plus 1 KB of overhead for each message. */
export function controlCost(bytes: number): number {
  return bytes + EACH;
}

/** Measures the work from now on. @returns a function that returns it in ms: the time that has passed, but no more than the process used its processors, so that a peer does not pay for the time that the process waits for one */
export function measureWork(): () => number {
  const began = performance.now();
  const used = process.cpuUsage();
  return () => {
    const passed = performance.now() - began;
    const { user, system } = process.cpuUsage(used);
    return Math.min(passed, (user + system) / 1000);
  };
}

/** The extra cost of a message for its processing time: 10 KB for each ms, so that expensive messages that nobody foresaw are limited, too. */
export function timeCost(ms: number): number {
  return ms * 10 * 1024;
}
