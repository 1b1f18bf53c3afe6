/**
 * A socket that read this much in one turn of the event loop lets the others go first: libuv alone reads up to 2 MB. While other
 * sockets read too, their bytes wait for every one of these, so it is less then.
 */
const YIELD_AFTER = { alone: 512 * 1024, amongOthers: 64 * 1024 } as const;

/** A socket that reads. The two numbers belong to `ReadTurns`, which keeps no object of its own for each of many idle sockets. */
export interface TurnReader {
  /** The turn of the event loop in which it read last; -1 = it has not read yet. */
  turn: number;
  /** Bytes that it read in that turn. */
  turnBytes: number;
  /** After it had its share: it may read again. */
  goOn(): void;
}

/** Who reads how much in a turn of the event loop: one of these for all sockets of a process, whatever backend they are of. */
export class ReadTurns {
  #turn = 0;
  #ending = false;
  /** How many sockets read in this turn, and in the one before. */
  #readers = 0;
  #readersBefore = 0;

  /** Counts what a socket has read. @returns true = it had its share: it is to read nothing more until `goOn` is called, in a later turn */
  read(reader: TurnReader, bytes: number): boolean {
    if (reader.turn !== this.#turn) {
      this.#enterTurn();
      reader.turn = this.#turn;
      reader.turnBytes = 0;
    }
    reader.turnBytes += bytes;
    const most = this.#readersBefore > 1 ? YIELD_AFTER.amongOthers : YIELD_AFTER.alone;
    if (reader.turnBytes < most) return false;
    setImmediate(() => reader.goOn());
    return true;
  }

  /** A socket's first read in a turn; one immediate a turn, whatever the number of sockets. */
  #enterTurn(): void {
    this.#readers++;
    if (this.#ending) return;
    this.#ending = true;
    setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#ending = false;
    this.#turn++;
    this.#readersBefore = this.#readers;
    this.#readers = 0;
  };
}

/** Those of this process. */
export const readTurns = new ReadTurns();
