/** How much begins in one iteration of the event loop, and how much waits. */
export interface TurnLimits {
  /** How long all of it may take, in ms. */
  readonly ms: number;
  /** The most that waits of one connection. */
  readonly waiting: number;
}

/** What waits of one connection. */
interface Waiting {
  readonly all: Set<() => void>;
  /** Finds the next one without passing those that were taken before. Never asked while there is none, after which it would find nothing more. */
  readonly order: Iterator<() => void, undefined>;
}

/**
 * Begins what the peers of many connections cause: at once as long as it takes little time, else some in each iteration of the event loop, connections in
 * round-robin order. One read brings hundreds of requests or messages of a connection, and one iteration reads from all connections.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #now: () => number;
  /** What waits, by connection, in order. */
  readonly #waiting = new Map<object, Waiting>();
  /** What was spent in this iteration, in ms. */
  #spent = 0;
  #scheduled = false;

  /** @param now a monotonic clock, in ms */
  constructor(limits: TurnLimits, now = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Begins something, now or later. What is of one connection begins in its order.
   * @param connection whose it is
   * @returns false = so much of the connection waits that this is not taken
   */
  add(connection: object, begin: () => void): boolean {
    const others = this.#waiting.get(connection)?.all;
    if (others && others.size >= this.#limits.waiting) return false;
    if (others) others.add(begin);
    else if (this.#waiting.size > 0 || this.#spent >= this.#limits.ms) this.#wait(connection, begin);
    else this.#run(begin);
    if (!this.#scheduled) this.#schedule();
    return true;
  }

  /** Forgets what was canceled, if it waits. */
  withdraw(connection: object, begin: () => void): void {
    const others = this.#waiting.get(connection)?.all;
    if (others?.delete(begin) && others.size === 0) this.#waiting.delete(connection);
  }

  /** Forgets all that waits of a connection. */
  drop(connection: object): void {
    this.#waiting.delete(connection);
  }

  #wait(connection: object, begin: () => void): void {
    const all = new Set([begin]);
    this.#waiting.set(connection, { all, order: all.values() });
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => this.#goOn());
  }

  #run(begin: () => void): void {
    const began = this.#now();
    begin();
    this.#spent += this.#now() - began;
  }

  #goOn(): void {
    this.#spent = 0;
    for (const [connection, own] of this.#waiting) {
      if (this.#spent >= this.#limits.ms) break;
      const { value: begin } = own.order.next();
      // The next one of it comes after those of the others.
      this.#waiting.delete(connection);
      if (!begin) continue;
      own.all.delete(begin);
      if (own.all.size > 0) this.#waiting.set(connection, own);
      this.#run(begin);
    }
    // Once more, to reset the time that was spent.
    this.#scheduled = false;
    if (this.#spent > 0 || this.#waiting.size > 0) this.#schedule();
  }
}
