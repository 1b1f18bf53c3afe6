import { AditError } from '../errors.ts';

/**
 * Collects all problems with the input of one call, and reports them together: as the error of the first problem, which lists
 * all of them. Checks name a field by its relative path (`targets.0`); this class adds the argument (`input.targets.0`).
 *
 *     const problems = new Problems();
 *     return problems.during(async () => {
 *       const remark = problems.check(() => textOf('remark', input.remark));
 *       return context.write(async (tx) => {
 *         const client = problems.required(await problems.later(() => usableClient(context, tx, input.clientId), 'clientId'));
 *         ...
 */
export class Problems {
  readonly #found: AditError[];
  readonly #at: string | null;

  /** @param at the argument that contains the fields; '' = the fields are arguments, null = the call has no such fields, and errors have no field */
  constructor(at: string | null = 'input', found: AditError[] = []) {
    this.#at = at;
    this.#found = found;
  }

  /** Collects problems of a part of the input, together with the rest. @param path of the part, such as `platformDomains.0` */
  inside(path: string): Problems {
    return new Problems(this.#at === null ? null : join(this.#at, path), this.#found);
  }

  /** Whether any problem was found. */
  get any(): boolean {
    return this.#found.length > 0;
  }

  /**
   * Runs a check and collects its error.
   * @param field the field of an error that names no field @returns undefined = there was an error @throws errors that no field caused
   */
  check<T>(check: () => T, field?: string): T | undefined {
    try {
      return check();
    } catch (error) {
      this.note(error, field);
      return undefined;
    }
  }

  /**
   * Collects an error; only the first one of each field.
   * @param name the field of an error that names no field @throws errors that no field caused
   */
  note(error: unknown, name?: string): void {
    if (!(error instanceof AditError)) throw error;
    const field = error.params['field'] ?? name;
    if (field === undefined) throw error;
    const { field: _, ...params } = error.params;
    if (this.#at === null) throw new AditError(error.code, params, error.message);
    const path = join(this.#at, String(field));
    if (!this.#found.some((found) => found.params['field'] === path)) this.#found.push(new AditError(error.code, { ...params, field: path }, error.message));
  }

  /** As {@link check}, for asynchronous checks. */
  async later<T>(check: () => Promise<T>, field?: string): Promise<T | undefined> {
    try {
      return await check();
    } catch (error) {
      this.note(error, field);
      return undefined;
    }
  }

  /** Runs a check for each column. @returns the columns; undefined = not given, or an error */
  columns<Checks extends Readonly<Record<string, () => unknown>>>(checks: Checks): { [Column in keyof Checks]: ReturnType<Checks[Column]> | undefined } {
    const columns = Object.entries(checks).map(([column, check]) => [column, this.check(check)]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value is what the check of its column returned
    return Object.fromEntries(columns) as { [Column in keyof Checks]: ReturnType<Checks[Column]> | undefined };
  }

  /** The error that reports all problems. There must be at least one. */
  error(): AditError {
    const [first, ...others] = this.#found;
    if (first === undefined) throw new Error('nothing was noted: a check has neither returned a value nor refused one');
    return new AditError(first.code, first.params, first.message, others);
  }

  /** @throws {AditError} if there is a problem */
  end(): void {
    if (this.any) throw this.error();
  }

  /** The result of a check. @throws {AditError} if there is any problem */
  required<T>(value: T | undefined): T {
    if (this.any || value === undefined) throw this.error();
    return value;
  }

  /** Runs the whole call. Problems take precedence over another AditError of `work`, but never over an error of the server. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AditError)) throw error;
      if (!this.any) this.note(error);
      throw this.error();
    }
  }
}

function join(at: string, path: string): string {
  return at === '' ? path : `${at}.${path}`;
}
