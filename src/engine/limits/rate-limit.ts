/** The burst that a client may use after being idle, in ms of its rate. */
const BURST_MS = 150;
/** The longest pause of the whole process that is compensated, in ms. */
const LATE_MS = 1000;
/** The time in which every waiting party gets a time slice, in ms, as far as the smallest slice allows. */
const ROUND_MS = 50;
/** The shortest interval between time slices, in ms. */
const PAUSE_MS = 5;
/** The smallest and the largest time slice, in bytes. */
const SHARE = { least: 1024, most: 64 * 1024 } as const;

/** A party whose bytes wait in the queue. */
export interface RateParty {
  /** Passes up to `most` bytes, and waits again if there are more. @returns the number of bytes passed */
  pass(most: number): number;
}

/**
 * A rate that any number of parties share in round-robin order, each with a small slice at a time. Without waiting parties it costs
 * nothing, with any number of them one timer.
 */
export class RateLimit {
  /** Bytes a ms. */
  #rate: number;
  /** Bytes that may be passed on now; negative = more were passed than allowed. */
  #tokens = 0;
  /** A new limit was idle for as long as one likes: it has its burst. */
  #countedAt = Number.NEGATIVE_INFINITY;
  readonly #waiting = new Set<RateParty>();
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #serving = false;

  /** @param bytesPerSecond more than 0 */
  constructor(bytesPerSecond: number) {
    this.#rate = bytesPerSecond / 1000;
  }

  /** Changes the rate. */
  set bytesPerSecond(bytesPerSecond: number) {
    this.#rate = bytesPerSecond / 1000;
    this.#tokens = 0;
    this.#countedAt = performance.now();
    this.#rest();
    if (this.#waiting.size > 0) this.#serveSoon();
  }

  /** Queues `party`, which has bytes: its `pass` is called for each of its slices, in a later iteration of the event loop. */
  wait(party: RateParty): void {
    if (!this.#serving && this.#waiting.size === 0) {
      // An idle limit accumulates no more than the burst.
      this.#count(BURST_MS);
      this.#tokens = Math.min(this.#tokens, this.#rate * BURST_MS);
    }
    this.#waiting.add(party);
    this.#serveSoon();
  }

  /** `party` has no bytes any more. */
  leave(party: RateParty): void {
    this.#waiting.delete(party);
  }

  /** Removes the limit: all parties pass on their waiting bytes. */
  lift(): void {
    this.#rest();
    for (const party of [...this.#waiting]) {
      this.#waiting.delete(party);
      party.pass(Number.POSITIVE_INFINITY);
    }
  }

  #rest(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
  }

  #count(mostMs: number): void {
    const now = performance.now();
    this.#tokens += Math.min(now - this.#countedAt, mostMs) * this.#rate;
    this.#countedAt = now;
  }

  /** The current slice, in bytes. */
  get #share(): number {
    return Math.min(Math.max(SHARE.least, this.#rate * ROUND_MS / this.#waiting.size), SHARE.most);
  }

  #serveSoon(): void {
    if (this.#timer || this.#immediate || this.#serving) return;
    if (this.#tokens > 0) this.#immediate = setImmediate(this.#serve);
    else this.#timer = setTimeout(this.#serve, Math.min(Math.max(PAUSE_MS, (this.#share - this.#tokens) / this.#rate), LATE_MS / 2));
  }

  readonly #serve = (): void => {
    this.#timer = undefined;
    this.#immediate = undefined;
    this.#count(LATE_MS);
    const share = Math.ceil(this.#share);
    this.#serving = true;
    for (const party of this.#waiting) {
      if (this.#tokens <= 0) break;
      // A party that has more is queued again at the end, which this loop reaches too.
      this.#waiting.delete(party);
      this.#tokens -= party.pass(share);
    }
    this.#serving = false;
    if (this.#waiting.size > 0) this.#serveSoon();
  };
}
