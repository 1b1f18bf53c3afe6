/** One run of an operation: what its resolvers get, and what it still waits for. */
export class Execution {
  readonly context: unknown;
  readonly variables: Readonly<Record<string, unknown>>;
  #waiting = 0;
  #failure: { readonly error: unknown } | undefined;
  #end: (() => void) | undefined;

  constructor(context: unknown, variables: Readonly<Record<string, unknown>>) {
    this.context = context;
    this.variables = variables;
  }

  /** Hands a value on when it is there, unless the operation has failed. What `use` throws, it fails with. */
  wait(value: PromiseLike<unknown>, use: (value: unknown) => void): void {
    this.#waiting++;
    value.then((result) => {
      try {
        if (!this.#failure) use(result);
      } catch (error) {
        this.fail(error);
      }
      this.#settled();
    }, (error: unknown) => {
      this.fail(error);
      this.#settled();
    });
  }

  /** Says that a field has failed. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Resolves when nothing of it goes on any more. @throws what its first field failed with */
  async ended(): Promise<void> {
    if (this.#waiting > 0) await new Promise<void>((resolve) => { this.#end = resolve; });
    if (this.#failure) throw this.#failure.error;
  }

  #settled(): void {
    if (--this.#waiting === 0) this.#end?.();
  }
}
