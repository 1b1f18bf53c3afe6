/**
 * How many bytes a socket may read in one iteration of the event loop before it yields to the others; libuv alone would read up to 2 MB. Small reads of
 * other sockets wait for each slice, so slices are smaller while there are any.
 */
const SHARE = { alone: 512 * 1024, amongOthers: 64 * 1024 } as const;
/** A socket that reads more than `bytes` faster than `perMs` is a bulk socket: it waits for the other sockets. */
const MUCH = { bytes: 256 * 1024, perMs: 10 * 1024 } as const;
/** A socket counts as active for this many ms after its last read. */
const COUNT_MS = 5;
/**
 * While other sockets read, bulk sockets pause. `ratio` is the length of pauses in relation to reading time; `leastMs` and `mostMs` limit a single
 * pause. The kernel's scheduler delays a process that is always busy, and with it all small requests.
 * Both kinds of sockets share the processors, so one gains what the other loses. Bulk may lose at most a fifth while both run (docs/performance.md): without pauses and with
 * ratios of 0.2 and 0.3, five quiet rounds had 1, 1.04 and 1.19 times the small requests, and bulk at 1, 0.86 and 0.78 of its speed.
 */
const PAUSE = { ratio: 0.25, leastMs: 0.1, mostMs: 1 } as const;

/** A socket that reads. The counters belong to `ReadSlices`, which keeps no object of its own for each of many idle sockets. */
export interface SliceReader {
  /** The iteration of the event loop in which it last read; -1 = it has not read yet. */
  iteration: number;
  /** Bytes that it read in that iteration. */
  sliceBytes: number;
  /** A leaky bucket of the bytes that it read, and when the level was last updated, in ms. */
  level: number;
  levelAt: number;
  /** Called when the socket may read again after it used up its slice. */
  resumeReading(): void;
}

/** Time slices for reading: how much each socket may read in an iteration of the event loop. One instance serves all sockets of a process, of every backend. */
export class ReadSlices {
  #iteration = 0;
  /** When this iteration began, in ms: exact enough, and cheaper than the clock on every read. */
  #now = 0;
  #ending = false;
  /** Whether a socket that is not bulk has read in this iteration, and when such a socket last read, in ms. */
  #others = false;
  #othersAt = Number.NEGATIVE_INFINITY;
  /** Bulk sockets that used up their slice, first come, first served. */
  #waiting: SliceReader[] = [];
  /** How long bulk sockets may pause, in ms: earned by reading. Below 0 = the last pause was too long. */
  #pauseCredit = 0;
  #creditAt = 0;
  #pause: NodeJS.Timeout | undefined;
  #pauseFrom = 0;
  #pauseUntil = 0;

  /** Whether sockets that are not bulk are reading at the moment. */
  get amongOthers(): boolean {
    return this.#now - this.#othersAt < COUNT_MS;
  }

  /**
   * Counts what a socket has read.
   * @param shared it carries many streams: it neither waits for other sockets nor makes them wait
   * @returns true = its slice is used up: it must not read until `resumeReading` is called, in a later iteration
   */
  read(reader: SliceReader, bytes: number, shared = false): boolean {
    if (reader.iteration !== this.#iteration) {
      this.#endIterationSoon();
      reader.iteration = this.#iteration;
      reader.sliceBytes = 0;
    }
    reader.sliceBytes += bytes;
    reader.level = Math.min(2 * MUCH.bytes, Math.max(0, reader.level - (this.#now - reader.levelAt) * MUCH.perMs) + bytes);
    reader.levelAt = this.#now;
    const much = reader.level > MUCH.bytes;
    if (!much && !shared) this.#others = true;
    if (reader.sliceBytes < (this.amongOthers ? SHARE.amongOthers : SHARE.alone)) return false;
    if (much && !shared) this.#waiting.push(reader);
    else setImmediate(() => reader.resumeReading());
    return true;
  }

  /** One immediate per iteration, for any number of sockets. */
  #endIterationSoon(): void {
    if (this.#ending) return;
    this.#ending = true;
    setImmediate(this.#endIteration);
  }

  readonly #endIteration = (): void => {
    this.#ending = false;
    this.#iteration++;
    this.#now = performance.now();
    if (this.#others) this.#othersAt = this.#now;
    this.#others = false;
    if (this.#waiting.length > 0 && !this.#pauses()) this.#resume();
  };

  /** Whether bulk sockets pause; starts and ends the pause. */
  #pauses(): boolean {
    if (this.#pause) {
      if (this.amongOthers && this.#now < this.#pauseUntil) return true;
      this.#endPause();
      return false;
    }
    this.#pauseCredit = Math.min(PAUSE.mostMs, this.#pauseCredit + (this.#now - this.#creditAt) * PAUSE.ratio);
    this.#creditAt = this.#now;
    if (!this.amongOthers || this.#pauseCredit < PAUSE.leastMs) return false;
    this.#pauseFrom = this.#now;
    this.#pauseUntil = this.#now + this.#pauseCredit;
    // Most pauses end earlier, with the first read of another socket after `#pauseUntil`.
    this.#pause = setTimeout(this.#lastEnd, PAUSE.mostMs);
    return true;
  }

  readonly #lastEnd = (): void => {
    this.#now = performance.now();
    this.#endPause();
    this.#endIterationSoon();
  };

  #endPause(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#pauseCredit -= this.#now - this.#pauseFrom;
    this.#creditAt = this.#now;
  }

  /** Resumes bulk sockets: one at a time while other sockets read. */
  #resume(): void {
    for (const reader of this.#waiting.splice(0, this.amongOthers ? 1 : this.#waiting.length)) reader.resumeReading();
    if (this.#waiting.length > 0) this.#endIterationSoon();
  }
}

/** The slices of this process. */
export const readSlices = new ReadSlices();
