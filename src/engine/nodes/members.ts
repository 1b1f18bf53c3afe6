import { awakeNow } from '../../rules/awake-clock.ts';

/** A node that has not reported to the database for this long, in ms, is not alive there: the same time as in the statement that says which are (store/nodes.ts). */
const MEMBER_MS = 10_000;

/**
 * Whether the other nodes must see this one among those that are alive by the database. Among these, and those that can be reached, the home of a client without an agent is chosen.
 * A node that cannot reach another one is home only while that is sure: it has read the list within `MEMBER_MS` after a report of its own, and has been in it for `MEMBER_MS` without
 * a gap. Others may use an older list, without this node, but no longer than that: for them, the same is true.
 */
export class Members {
  readonly #now: () => number;
  /** When the report began that came before the list, and since when there was no gap between reports. */
  #reportedAt = Number.NEGATIVE_INFINITY;
  #since = Number.POSITIVE_INFINITY;

  /** @param now ms of a monotonic clock */
  constructor(now: () => number = awakeNow) {
    this.#now = now;
  }

  /** The list was read. @param reportedAt when the report of this node began that came before, by the same clock @returns whether others may have lost sight of this node meanwhile */
  read(reportedAt: number): boolean {
    const now = this.#now();
    const gap = now - this.#reportedAt >= MEMBER_MS;
    if (gap) this.#since = now;
    this.#reportedAt = reportedAt;
    return gap;
  }

  /** All others see this node. */
  get seen(): boolean {
    const now = this.#now();
    return now - this.#reportedAt < MEMBER_MS && now - this.#since >= MEMBER_MS;
  }
}
