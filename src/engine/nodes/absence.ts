/** Between looks at the clock, in ms. */
const LOOK_MS = 200;
/** This process was away if it has not looked for this long, in ms. Nobody takes over the clients of a node that was silent for a shorter time. */
const AWAY_MS = 1200;
/** Other nodes report within this time what has happened meanwhile, in ms: they dial every 2 s at least. */
const NEWS_MS = 3000;

/** Whether this process did not run for a while, since it or its machine was frozen: other nodes may have become homes of its clients, and it does not know that yet. */
export class Absence {
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #lookedAt: number;
  #outdatedUntil = Number.NEGATIVE_INFINITY;

  /** @param now ms of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#lookedAt = now();
    this.#timer = setInterval(() => this.outdated, LOOK_MS).unref();
  }

  /** What this process knows may be outdated. It also looks: the first thing that a process does when it runs again may be to ask this. */
  get outdated(): boolean {
    const now = this.#now();
    if (now - this.#lookedAt > AWAY_MS) this.#outdatedUntil = now + NEWS_MS;
    this.#lookedAt = now;
    return now < this.#outdatedUntil;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
