import { AditError } from './errors.ts';
import type { HeldByOperation } from './held-records.ts';
import type { Turns } from './turns.ts';

/** What the result of one GraphQL operation may hold, counted while it is made. */
export const resultLimits = {
  /** Records in all of its lists. */
  rows: 20_000,
  /** Characters of all of its texts. */
  characters: 4_000_000,
  /** Characters of the records that were read for it, whichever fields were asked for. The largest page of a user's fits in. */
  read: 32_000_000,
} as const;

/** Rows between two questions whether it is somebody else's turn. */
const ROWS_TOGETHER = 4;
/** What each text adds to its characters: quotes and a comma, and what it takes in memory until it is sent. */
const TEXT_CHARACTERS = 8;

/** Never fulfilled: what an operation that has failed would still do. A new one each time: it holds whatever waits for it, and goes with that. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

/**
 * Makes the lists of one GraphQL operation: within the limits of a result, and not for so long at a time that others have to wait. Beyond the limits
 * the operation stops where it is.
 */
export class ResultLimits {
  readonly #turns: Turns;
  readonly #share: string;
  readonly #held: HeldByOperation;
  #rows = 0;
  #characters = 0;
  #read = 0;
  /** The page that was asked for last: the next one is read after it. */
  #page: Promise<unknown> = Promise.resolve();
  #failure: AditError | undefined;
  #fail: ((error: AditError) => void) | undefined;

  /** @param share whose operation it is @param held what it holds beside its caller's other ones */
  constructor(turns: Turns, share: string, held: HeldByOperation) {
    this.#turns = turns;
    this.#share = share;
    this.#held = held;
  }

  /**
   * Waits for an operation, and for its turn to be turned into text.
   * @throws {AditError} RESULT_TOO_LARGE
   */
  async of<Result extends { readonly data?: unknown }>(operation: Result | Promise<Result>): Promise<Result> {
    try {
      return await this.#whole(operation);
    } finally {
      this.#held.end();
    }
  }

  async #whole<Result extends { readonly data?: unknown }>(operation: Result | Promise<Result>): Promise<Result> {
    const failed = new Promise<never>((_resolve, reject) => { this.#fail = reject; });
    if (this.#failure) throw this.#failure;
    const result = await Promise.race([operation, failed]);
    await this.#turns.next(this.#share);
    if (remaining(result.data, resultLimits.characters) < 0) throw tooLarge('characters');
    await this.#turns.next(this.#share);
    return result;
  }

  /** Asks for a turn to make another list. @returns undefined = at once */
  begin(): Promise<void> | undefined {
    if (this.#failure) return never();
    return this.#turns.next(this.#share)?.then(() => this.#failure ? never() : undefined);
  }

  /** Reads a page of a list: one of an operation at a time, and in its turn, since its rows may have long texts that nobody asked for. */
  page<Page extends { readonly rows: readonly unknown[] }>(read: () => Promise<Page>): Promise<Page> {
    const page = this.#page.then(() => this.#held.read(async () => {
      await this.#turns.next(this.#share);
      if (this.#failure) throw this.#failure;
      const list = await read();
      if (!this.read(list.rows)) throw this.#fails('read');
      return list;
    }));
    this.#page = page.catch(() => undefined);
    return page;
  }

  /** Counts records that were read for the operation. @returns false = they are too many characters */
  read(records: readonly unknown[]): boolean {
    const characters = records.reduce((sum: number, record) => sum + charactersOf(record), 0);
    this.#read += characters;
    this.#held.add(characters);
    return this.#read <= resultLimits.read;
  }

  /** A list of records: the executor gets promises, so that it goes on to the fields of the next ones in another turn. */
  records(list: readonly unknown[]): readonly unknown[] | Promise<never> {
    this.#rows += list.length;
    if (this.#rows > resultLimits.rows) return this.#stop('rows');
    if (this.#read > resultLimits.read) return this.#stop('read');
    let turn = Promise.resolve();
    return list.map((record, index): unknown => {
      if (index < ROWS_TOGETHER) return record;
      if (index % ROWS_TOGETHER === 0) turn = turn.then(() => this.begin());
      return turn.then(() => record);
    });
  }

  /** A list of texts or numbers. */
  values(list: readonly unknown[]): readonly unknown[] | Promise<never> {
    for (const value of list) this.#characters += TEXT_CHARACTERS + (typeof value === 'string' ? value.length : 0);
    return this.#characters > resultLimits.characters ? this.#stop('characters') : list;
  }

  #stop(unit: keyof typeof resultLimits): Promise<never> {
    this.#fails(unit);
    return never();
  }

  #fails(unit: keyof typeof resultLimits): AditError {
    this.#failure ??= tooLarge(unit);
    this.#fail?.(this.#failure);
    return this.#failure;
  }
}

/** What remains of `most` characters after those of a value; negative = it has more. */
function remaining(value: unknown, most: number): number {
  if (typeof value === 'string') return most - value.length - TEXT_CHARACTERS;
  if (typeof value !== 'object' || value === null) return most;
  let rest = most;
  for (const part of Array.isArray(value) ? value : Object.values(value)) {
    rest = remaining(part, rest);
    if (rest < 0) return rest;
  }
  return rest;
}

/** Of the texts that a record has itself. */
function charactersOf(record: unknown): number {
  if (typeof record !== 'object' || record === null) return 0;
  let characters = 0;
  for (const value of Object.values(record)) if (typeof value === 'string') characters += value.length;
  return characters;
}

function tooLarge(unit: keyof typeof resultLimits): AditError {
  return new AditError('RESULT_TOO_LARGE', { unit: unit === 'read' ? 'characters in its records' : unit, most: resultLimits[unit] });
}
