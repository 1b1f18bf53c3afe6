/** What a client may use at once after a rest, in ms of its rate. */
const BURST_MS = 150;
/** A pause of the whole program is made up for by as much as this, in ms. */
const LATE_MS = 1000;
/** All who wait get their turn within this, in ms, as far as the smallest share allows. */
const ROUND_MS = 50;
/** Turns are given at least this long apart, in ms. */
const PAUSE_MS = 5;
/** The least and the most that one passes on in a turn, in bytes. */
const SHARE = { least: 1024, most: 64 * 1024 } as const;

/** Someone whose bytes wait for their turn. */
export interface RateParty {
  /** Passes on up to `most` bytes, and waits again if there are more. @returns how many it passed on */
  pass(most: number): number;
}

/**
 * A rate shared by any number of parties: those who have bytes take turns, in order, each with a small share. Without parties it costs
 * nothing, with any number of them one timer.
 */
export class RateLimit {
  /** Bytes a ms. */
  #rate: number;
  /** May be passed on now; below 0 = a share too much was. */
  #tokens: number;
  #countedAt: number;
  readonly #waiting = new Set<RateParty>();
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #serving = false;

  /** @param bytesPerSecond more than 0 */
  constructor(bytesPerSecond: number) {
    this.#rate = bytesPerSecond / 1000;
    this.#tokens = this.#rate * BURST_MS;
    this.#countedAt = performance.now();
  }

  /** Another rate from now on. */
  set bytesPerSecond(bytesPerSecond: number) {
    this.#rate = bytesPerSecond / 1000;
    this.#tokens = 0;
    this.#countedAt = performance.now();
    this.#rest();
    if (this.#waiting.size > 0) this.#serveSoon();
  }

  /** `party` has bytes: its `pass` is called when it is its turn, in a later turn of the event loop. */
  wait(party: RateParty): void {
    if (!this.#serving && this.#waiting.size === 0) {
      // At rest nothing is saved up beyond the burst.
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

  /** The limit is no more: everybody passes on what waits. */
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

  /** What each may pass on in its turn, in bytes. */
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
      // Who has more waits again at the end: the loop comes there too.
      this.#waiting.delete(party);
      this.#tokens -= party.pass(share);
    }
    this.#serving = false;
    if (this.#waiting.size > 0) this.#serveSoon();
  };
}
