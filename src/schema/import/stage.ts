import { invalidInput } from '../errors.ts';
import { importRecord, ImportSet } from './records.ts';

/** Maximum size of all parts of an import together, in characters. */
const mostText = 128 * 1024 * 1024;
/** How long the parts of an import that does not continue are held, in ms. */
const heldMs = 10 * 60_000;

/** The records of an import that arrives in parts: one import at a time, since all of it is in memory. */
export class ImportStage {
  #id = '';
  #set = new ImportSet();
  #length = 0;
  /** The beginning of a line that the last part has not finished. */
  #rest = '';
  #timer: NodeJS.Timeout | undefined;

  /**
   * Adds a part. Another id begins another import, and drops the parts of the previous one.
   * @param part records as lines of JSON; a line may continue in the next part
   * @returns the number of complete records so far @throws {AditError} INVALID_INPUT
   */
  add(id: string, part: string): number {
    if (id !== this.#id) this.#begin(id);
    this.#length += part.length;
    try {
      if (this.#length > mostText) {
        throw invalidInput('part', `more than ${mostText} characters in one import: stop the server, and import without it`, { most: mostText });
      }
      const lines = `${this.#rest}${part}`.split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#set.add(recordOf(line));
    } catch (error) {
      this.#begin('');
      throw error;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#begin(''), heldMs).unref();
    return this.#set.size;
  }

  /** The records, which are then no longer held; none if no part has arrived. @throws {AditError} INVALID_INPUT if the last line is not complete */
  take(id: string): ImportSet {
    const [set, rest] = id === this.#id ? [this.#set, this.#rest] : [new ImportSet(), ''];
    if (id === this.#id) this.#begin('');
    if (rest !== '') throw invalidInput('id', 'the last part of the import is missing');
    return set;
  }

  #begin(id: string): void {
    clearTimeout(this.#timer);
    this.#id = id;
    this.#set = new ImportSet();
    this.#length = 0;
    this.#rest = '';
  }
}

function recordOf(line: string) {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    throw invalidInput('part', 'not lines of JSON');
  }
  const checked = importRecord.safeParse(parsed);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw invalidInput('part', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
}
