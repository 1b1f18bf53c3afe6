/** Bytes that went over direct paths: from visitors, and to them. */
export interface DirectBytes {
  readonly inlet: number;
  readonly exported: number;
}

/** What the direct paths of one tunnel can carry in each direction, in bytes a millisecond: 10 Gbit/s. */
export const DIRECT_BYTES_PER_MS = 1_250_000;
/** An agent that was busy reports late, in ms: what its paths could have carried before that is not believed. */
const LATEST_MS = 60_000;

/**
 * Believes an agent's reports of what direct paths of a tunnel carried as far as they can be true: while no path is open nothing is carried, and
 * in any time no more than a fast network takes. So a false report costs its client nothing that real traffic could not.
 */
export class DirectTraffic {
  readonly #now: () => number;
  #open = 0;
  /** What may still be reported in each direction, as of `#at`. */
  readonly #room = { inlet: 0, exported: 0 };
  #at = 0;

  /** @param now ms by a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A visitor and the agent begin to open a path. */
  opened(): void {
    this.#fill();
    this.#open++;
  }

  /** A path is over, or could not be opened. */
  closed(): void {
    this.#fill();
    this.#open--;
  }

  /** What of a report is to be counted. */
  believable({ inlet, exported }: DirectBytes): DirectBytes {
    this.#fill();
    return { inlet: this.#take('inlet', inlet), exported: this.#take('exported', exported) };
  }

  #take(direction: keyof DirectBytes, bytes: number): number {
    const taken = Math.min(bytes, Math.floor(this.#room[direction]));
    this.#room[direction] -= taken;
    return taken;
  }

  #fill(): void {
    const now = this.#now();
    if (this.#open > 0) {
      const more = (now - this.#at) * DIRECT_BYTES_PER_MS;
      for (const direction of ['inlet', 'exported'] as const) this.#room[direction] = Math.min(this.#room[direction] + more, LATEST_MS * DIRECT_BYTES_PER_MS);
    }
    this.#at = now;
  }
}
