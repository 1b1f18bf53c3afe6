import { AditError } from './errors.ts';

/**
 * Gathers what is wrong with the input of one call, so that all of it is reported at once: one error, that of the first problem, which lists
 * them all. Checks name a field from where they begin (`targets.0`); its path gets the argument here (`input.targets.0`).
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

  /** @param at the argument that the fields are in; '' = the fields are arguments, null = the call has no such fields: errors come without one */
  constructor(at: string | null = 'input', found: AditError[] = []) {
    this.#at = at;
    this.#found = found;
  }

  /** Gathers for a part of the input, together with the rest. @param path of the part, such as `platformDomains.0` */
  inside(path: string): Problems {
    return new Problems(this.#at === null ? null : join(this.#at, path), this.#found);
  }

  /** Something was noted. */
  get any(): boolean {
    return this.#found.length > 0;
  }

  /**
   * Runs a check, and notes what it refuses.
   * @param field what has caused an error that names no field @returns undefined = it was noted @throws what no field has caused
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
   * Notes an error; of one field only the first.
   * @param name the field that has caused an error which names none @throws what no field has caused
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

  /** As {@link check}, for what takes time. */
  async later<T>(check: () => Promise<T>, field?: string): Promise<T | undefined> {
    try {
      return await check();
    } catch (error) {
      this.note(error, field);
      return undefined;
    }
  }

  /** Runs a check for each column. @returns the columns; undefined = not given, or noted */
  columns<Checks extends Readonly<Record<string, () => unknown>>>(checks: Checks): { [Column in keyof Checks]: ReturnType<Checks[Column]> | undefined } {
    const columns = Object.entries(checks).map(([column, check]) => [column, this.check(check)]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value is what the check of its column returned
    return Object.fromEntries(columns) as { [Column in keyof Checks]: ReturnType<Checks[Column]> | undefined };
  }

  /** The error that reports all that was noted; only where something was. */
  error(): AditError {
    const [first, ...others] = this.#found;
    if (first === undefined) throw new Error('nothing was noted: a check has neither returned a value nor refused one');
    return new AditError(first.code, first.params, first.message, others);
  }

  /** @throws {AditError} when something was noted */
  end(): void {
    if (this.any) throw this.error();
  }

  /** What a check returned. @throws {AditError} when anything was noted */
  required<T>(value: T | undefined): T {
    if (this.any || value === undefined) throw this.error();
    return value;
  }

  /** Runs all of the call. What was noted is thrown instead of what `work` throws. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!this.any) this.note(error);
      throw this.error();
    }
  }
}

function join(at: string, path: string): string {
  return at === '' ? path : `${at}.${path}`;
}
