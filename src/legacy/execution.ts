/** One run of an operation: the arguments for its resolvers, and the promises it waits for. */
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

  /** Calls `use` with the value once it has resolved, unless the operation has failed. An error in `use` fails the operation. */
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

  /** Records that a field has failed. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Resolves when no part of the operation is pending. @throws the error of the first field that failed */
  async ended(): Promise<void> {
    if (this.#waiting > 0) {
      await new Promise<void>((resolve) => {
        this.#end = resolve;
      });
    }
    if (this.#failure) throw this.#failure.error;
  }

  #settled(): void {
    if (--this.#waiting === 0) this.#end?.();
  }
}
