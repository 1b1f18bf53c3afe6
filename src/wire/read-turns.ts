/**
 * What a socket reads in one turn of the event loop before the others go first: libuv alone reads up to 2 MB. Small reads of others wait for
 * every one of these, so it is less while there are such.
 */
const SHARE = { alone: 512 * 1024, amongOthers: 64 * 1024 } as const;
/** A socket that reads more than `bytes` in the time that they take at `perMs` carries much: it waits for those that don't. */
const MUCH = { bytes: 256 * 1024, perMs: 10 * 1024 } as const;
/** Others count for so many ms after their last read. */
const COUNT_MS = 5;
/**
 * While others read, those that carry much rest: `ratio` is the time that they rest beside the time that they may read, `leastMs` and `mostMs` what one
 * rest takes. A process that always has something to do waits longest for its share of the processor, and with it everything small that it carries.
 * A part of a rest costs bulk nothing: its bytes wait in the kernel, and are read faster afterwards. Measured on two busy cores without rests and with a ratio of
 * 0.25, 0.5, 1: small requests 2,030/s, 2,550, 3,070, 4,160; bulk 3.8 Gbit/s, 3.4, 3.4, 2.8. Reads of 64 KB instead of 256 KB served small requests better in one run. On a quiet
 * machine the present values cost bulk more than half of its speed while small requests run (docs/performance.md): more than they should.
 */
const REST = { ratio: 0.75, leastMs: 0.1, mostMs: 1 } as const;

/** A socket that reads. The numbers belong to `ReadTurns`, which keeps no object of its own for each of many idle sockets. */
export interface TurnReader {
  /** The turn of the event loop in which it read last; -1 = it has not read yet. */
  turn: number;
  /** Bytes that it read in that turn. */
  turnBytes: number;
  /** What it read lately, in bytes, less what has run off since; and when that was last counted, in ms. */
  level: number;
  levelAt: number;
  /** After it had its share: it may read again. */
  goOn(): void;
}

/** Who reads how much in a turn of the event loop: one of these for all sockets of a process, whatever backend they are of. */
export class ReadTurns {
  #turn = 0;
  /** When this turn began, in ms; near enough, since it is asked for with every read. */
  #now = 0;
  #ending = false;
  /** Sockets that carry little have read in this turn; and when they last did, in ms. */
  #others = false;
  #othersAt = Number.NEGATIVE_INFINITY;
  /** Those that carry much and had their share, first come first served. */
  #waiting: TurnReader[] = [];
  /** How long they may rest, in ms, since they have read so long. Below 0 = the last rest was too long. */
  #restCredit = 0;
  #creditAt = 0;
  #rest: NodeJS.Timeout | undefined;
  #restFrom = 0;
  #restUntil = 0;

  /** Whether sockets that carry little read at the moment. */
  get amongOthers(): boolean {
    return this.#now - this.#othersAt < COUNT_MS;
  }

  /**
   * Counts what a socket has read.
   * @param shared many streams are read from it: it neither waits for others nor lets others wait
   * @returns true = it had its share: it is to read nothing more until `goOn` is called, in a later turn
   */
  read(reader: TurnReader, bytes: number, shared = false): boolean {
    if (reader.turn !== this.#turn) {
      this.#endTurnSoon();
      reader.turn = this.#turn;
      reader.turnBytes = 0;
    }
    reader.turnBytes += bytes;
    reader.level = Math.min(2 * MUCH.bytes, Math.max(0, reader.level - (this.#now - reader.levelAt) * MUCH.perMs) + bytes);
    reader.levelAt = this.#now;
    const much = reader.level > MUCH.bytes;
    if (!much && !shared) this.#others = true;
    if (reader.turnBytes < (this.amongOthers ? SHARE.amongOthers : SHARE.alone)) return false;
    if (much && !shared) this.#waiting.push(reader);
    else setImmediate(() => reader.goOn());
    return true;
  }

  /** One immediate a turn, whatever the number of sockets. */
  #endTurnSoon(): void {
    if (this.#ending) return;
    this.#ending = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#ending = false;
    this.#turn++;
    this.#now = performance.now();
    if (this.#others) this.#othersAt = this.#now;
    this.#others = false;
    if (this.#waiting.length > 0 && !this.#rests()) this.#goOn();
  };

  /** Whether those that carry much rest; begins and ends it. */
  #rests(): boolean {
    if (this.#rest) {
      if (this.amongOthers && this.#now < this.#restUntil) return true;
      this.#endRest();
      return false;
    }
    this.#restCredit = Math.min(REST.mostMs, this.#restCredit + (this.#now - this.#creditAt) * REST.ratio);
    this.#creditAt = this.#now;
    if (!this.amongOthers || this.#restCredit < REST.leastMs) return false;
    this.#restFrom = this.#now;
    this.#restUntil = this.#now + this.#restCredit;
    // Most rests are shorter: the next read of others after their end is when they are over.
    this.#rest = setTimeout(this.#lastEnd, REST.mostMs);
    return true;
  }

  readonly #lastEnd = (): void => {
    this.#now = performance.now();
    this.#endRest();
    this.#endTurnSoon();
  };

  #endRest(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    this.#restCredit -= this.#now - this.#restFrom;
    this.#creditAt = this.#now;
  }

  /** Among others one at a time, however many there are. */
  #goOn(): void {
    for (const reader of this.#waiting.splice(0, this.amongOthers ? 1 : this.#waiting.length)) reader.goOn();
    if (this.#waiting.length > 0) this.#endTurnSoon();
  }
}

/** Those of this process. */
export const readTurns = new ReadTurns();
