import { RowsTooLongError } from '../../store/errors.ts';
import { AditError } from '../errors.ts';
import type { HeldByOperation } from './held-records.ts';
import type { TimeSlices } from './time-slices.ts';

/** Limits of the result of one GraphQL operation, checked while it is computed. */
export const resultLimits = {
  /** Records in all lists. */
  rows: 20_000,
  /** Characters in all texts. */
  characters: 4_000_000,
  /** Characters of the records that the operation reads, whichever fields are selected. Fits an ordinary user's largest page. */
  read: 32_000_000,
} as const;

/** Rows between two requests for a time slice. */
const ROWS_TOGETHER = 4;
/** Added for each text: quotes, a comma, and memory overhead until it is sent. */
const TEXT_CHARACTERS = 8;

/** A promise that never settles, for the rest of an operation that has failed. Each call creates a new promise, so that its waiters can be garbage-collected. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

/**
 * Produces the lists of one GraphQL operation, within the limits of a result and in time slices. Beyond the limits
 * the operation stops.
 */
export class ResultLimits {
  readonly #slices: TimeSlices;
  readonly #share: string;
  readonly #held: HeldByOperation;
  #rows = 0;
  #characters = 0;
  #read = 0;
  /** Counts rows in pages: an operation with a list in every row would otherwise read all of them before any row is part of the result. */
  #rowsRead = 0;
  /** The page that was requested last; the next page is read after it. */
  #page: Promise<unknown> = Promise.resolve();
  #failure: AditError | undefined;
  #fail: ((error: AditError) => void) | undefined;

  /** @param share the caller's key for time slices @param held the records of this operation and of the caller's other operations */
  constructor(timeSlices: TimeSlices, share: string, held: HeldByOperation) {
    this.#slices = timeSlices;
    this.#share = share;
    this.#held = held;
  }

  /**
   * Waits for the result of an operation, and for a time slice to serialize it.
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
    const failed = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
    });
    if (this.#failure) throw this.#failure;
    const result = await Promise.race([operation, failed]);
    await this.#slices.next(this.#share);
    if (remaining(result.data, resultLimits.characters) < 0) throw tooLarge('characters');
    await this.#slices.next(this.#share);
    return result;
  }

  /** Waits for a time slice to build another list. @returns undefined = continue immediately */
  begin(): Promise<void> | undefined {
    if (this.#failure) return never();
    return this.#slices.next(this.#share)?.then(() => this.#failure ? never() : undefined);
  }

  /**
   * Reads a page of a list. An operation reads one page at a time, in a time slice, since rows may have long texts that are not selected.
   * @param read called with the maximum number of rows to read: one more than the limit still allows
   */
  page<Page extends { readonly rows: readonly unknown[] }>(read: (mostRows: number) => Promise<Page>): Promise<Page> {
    const page = this.#page.then(() =>
      this.#held.read(async () => {
        await this.#slices.next(this.#share);
        if (this.#failure) throw this.#failure;
        const list = await this.bounded(() => read(resultLimits.rows + 1 - this.#rowsRead));
        this.#rowsRead += list.rows.length;
        if (this.#rowsRead > resultLimits.rows) throw this.#fails('rows');
        if (!this.read(list.rows)) throw this.#fails('read');
        return list;
      })
    );
    this.#page = page.catch(() => undefined);
    return page;
  }

  /** Reads records for the operation. The operation fails if their texts are too long. */
  async bounded<Records>(read: () => Promise<Records>): Promise<Records> {
    try {
      return await read();
    } catch (error) {
      throw error instanceof RowsTooLongError ? this.#fails('read') : error;
    }
  }

  /** Counts records that were read for the operation. @returns false = too many characters */
  read(records: readonly unknown[]): boolean {
    const characters = records.reduce((sum: number, record) => sum + charactersOf(record), 0);
    this.#read += characters;
    this.#held.add(characters);
    return this.#read <= resultLimits.read;
  }

  /** Returns a list of records as promises, so that the executor computes later records in other time slices. */
  records(list: readonly unknown[]): readonly unknown[] | Promise<never> {
    this.#rows += list.length;
    if (this.#rows > resultLimits.rows) return this.#stop('rows');
    if (this.#read > resultLimits.read) return this.#stop('read');
    let slice = Promise.resolve();
    return list.map((record, index): unknown => {
      if (index < ROWS_TOGETHER) return record;
      if (index % ROWS_TOGETHER === 0) slice = slice.then(() => this.begin());
      return slice.then(() => record);
    });
  }

  /** Returns a list of texts or numbers. */
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

/** `most` minus the characters of a value; negative = the value has more. */
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

/** The total length of a record's own texts. */
function charactersOf(record: unknown): number {
  if (typeof record !== 'object' || record === null) return 0;
  let characters = 0;
  for (const value of Object.values(record)) if (typeof value === 'string') characters += value.length;
  return characters;
}

function tooLarge(unit: keyof typeof resultLimits): AditError {
  return new AditError('RESULT_TOO_LARGE', { unit: unit === 'read' ? 'characters in its records' : unit, most: resultLimits[unit] });
}
