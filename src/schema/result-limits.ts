import { AditError } from './errors.ts';
import type { Turns } from './turns.ts';

/** What the result of one GraphQL operation may hold, counted while it is made. */
export const resultLimits = {
  /** Records in all of its lists. */
  rows: 20_000,
  /** Characters of all of its texts. */
  characters: 4_000_000,
} as const;

/** Rows between two questions whether it is somebody else's turn. */
const ROWS_TOGETHER = 4;
/** What an item of a list adds to its text: quotes and a comma. */
const ITEM_CHARACTERS = 3;

/** Makes the lists of one GraphQL operation: within the limits of a result, and not for so long at a time that others have to wait. */
export class ResultLimits {
  readonly #turns: Turns;
  readonly #share: string;
  #rows = 0;
  #characters = 0;

  /** @param share whose operation it is */
  constructor(turns: Turns, share: string) {
    this.#turns = turns;
    this.#share = share;
  }

  /**
   * A list of records: the executor gets a promise for each, so that it goes on to the fields of the next ones in another turn.
   * @throws {AditError} RESULT_TOO_LARGE
   */
  records(list: readonly unknown[]): readonly unknown[] {
    this.#rows += list.length;
    if (this.#rows > resultLimits.rows) throw tooLarge('rows');
    let turn = Promise.resolve(this.#turns.next(this.#share));
    return list.map((record, index) => {
      if (index > 0 && index % ROWS_TOGETHER === 0) turn = turn.then(() => this.#turns.next(this.#share));
      return turn.then(() => record);
    });
  }

  /** A list of texts or numbers. @throws {AditError} RESULT_TOO_LARGE */
  values(list: readonly unknown[]): readonly unknown[] | Promise<readonly unknown[]> {
    for (const value of list) this.#characters += ITEM_CHARACTERS + (typeof value === 'string' ? value.length : 0);
    if (this.#characters > resultLimits.characters) throw tooLarge('characters');
    return this.#turns.next(this.#share)?.then(() => list) ?? list;
  }

  /** Checks all texts of a result that was made. @throws {AditError} RESULT_TOO_LARGE */
  check(result: unknown): void {
    if (remaining(result, resultLimits.characters) < 0) throw tooLarge('characters');
  }
}

/** What remains of `most` characters after those of a value; negative = it has more. */
function remaining(value: unknown, most: number): number {
  if (typeof value === 'string') return most - value.length - ITEM_CHARACTERS;
  if (typeof value !== 'object' || value === null) return most;
  let rest = most;
  for (const part of Array.isArray(value) ? value : Object.values(value)) {
    rest = remaining(part, rest);
    if (rest < 0) return rest;
  }
  return rest;
}

function tooLarge(unit: keyof typeof resultLimits): AditError {
  return new AditError('RESULT_TOO_LARGE', { unit, most: resultLimits[unit] });
}
