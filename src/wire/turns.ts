/** Limits for the tasks of each iteration of the event loop and for the queue. */
export interface TurnLimits {
  /** Time for all tasks in one iteration, in ms. */
  readonly ms: number;
  /** Maximum queued tasks of one connection. */
  readonly waiting: number;
}

/** The queued tasks of one connection. */
interface Waiting {
  readonly all: Set<() => void>;
  /** Finds the next task without iterating over those already taken. Never called while the queue is empty: an exhausted iterator would find no later tasks. */
  readonly order: Iterator<() => void, undefined>;
}

/**
 * Starts tasks that the peers of many connections cause: immediately while they take little time, otherwise some in each iteration of the event loop, in
 * round-robin order of the connections. One read can bring hundreds of requests or messages, and one iteration reads from all connections.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #now: () => number;
  /** Queued tasks, by connection, in order. */
  readonly #waiting = new Map<object, Waiting>();
  /** Time spent in this iteration, in ms. */
  #spent = 0;
  #scheduled = false;

  /** @param now a monotonic clock, in ms */
  constructor(limits: TurnLimits, now = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Starts a task, now or later. Tasks of one connection start in order.
   * @param connection the task's connection
   * @returns false = the connection's queue is full, and the task was not added
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

  /** Removes a canceled task, if it is queued. */
  withdraw(connection: object, begin: () => void): void {
    const others = this.#waiting.get(connection)?.all;
    if (others?.delete(begin) && others.size === 0) this.#waiting.delete(connection);
  }

  /** Drops all queued tasks of a connection. */
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
      // Its next task follows those of the others.
      this.#waiting.delete(connection);
      if (!begin) continue;
      own.all.delete(begin);
      if (own.all.size > 0) this.#waiting.set(connection, own);
      this.#run(begin);
    }
    // Even if the queue is empty, to reset the time.
    this.#scheduled = false;
    if (this.#spent > 0 || this.#waiting.size > 0) this.#schedule();
  }
}
