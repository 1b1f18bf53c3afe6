import { invalidInput } from '../errors.ts';
import { importRecord, ImportSet } from './records.ts';

/** Maximum size of all parts of an import together, in characters. */
const mostText = 64 * 1024 * 1024;
/** How long the parts of an import that does not continue are held, in ms. */
const heldMs = 10 * 60_000;

/** The records of an import that arrives in parts: one import at a time, since all of it is in memory. */
export class ImportStage {
  #id = '';
  #set = new ImportSet();
  #text = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Adds a part. Another id begins another import, and drops the parts of the previous one.
   * @param part a JSON list of records
   * @returns the number of records so far @throws {AditError} INVALID_INPUT
   */
  add(id: string, part: string): number {
    if (id !== this.#id) this.#begin(id);
    this.#text += part.length;
    if (this.#text > mostText) {
      this.#begin('');
      throw invalidInput('part', `more than ${mostText} characters in one import`, { most: mostText });
    }
    for (const record of recordsOf(part)) this.#set.add(record);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#begin(''), heldMs).unref();
    return this.#set.size;
  }

  /** The records, which are then no longer held; none if no part has arrived. */
  take(id: string): ImportSet {
    const set = id === this.#id ? this.#set : new ImportSet();
    if (id === this.#id) this.#begin('');
    return set;
  }

  #begin(id: string): void {
    clearTimeout(this.#timer);
    this.#id = id;
    this.#set = new ImportSet();
    this.#text = 0;
  }
}

function recordsOf(part: string) {
  let parsed: unknown;
  try {
    parsed = JSON.parse(part);
  } catch {
    throw invalidInput('part', 'not JSON');
  }
  const checked = importRecord.array().safeParse(parsed);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw invalidInput('part', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
}
