/** Bytes that went over direct paths: from visitors, and to them. */
export interface DirectBytes {
  readonly inlet: number;
  readonly exported: number;
}

/** What the direct paths of one tunnel can carry in each direction, in bytes a millisecond: 10 Gbit/s. */
export const DIRECT_BYTES_PER_MS = 1_250_000;
/** How late a busy agent may report, in ms. Traffic that its paths could have carried before that is not counted. */
const LATEST_MS = 60_000;

/**
 * Limits an agent's reports of the traffic on a tunnel's direct paths to what is possible: nothing while no path is open, and
 * never more than a fast network carries. So a false report costs its client no more than real traffic could.
 */
export class DirectTraffic {
  readonly #now: () => number;
  #open = 0;
  /** What may still be reported in each direction, as of `#at`. */
  readonly #room = { inlet: 0, exported: 0 };
  #at = 0;

  /** @param now ms of a monotonic clock */
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

  /** The plausible part of a report. */
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
