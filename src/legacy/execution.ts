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

  /** Some of its fields have no value yet. */
  get waiting(): boolean {
    return this.#waiting > 0;
  }

  /** Hands a value on when it is there. What `use` throws, the operation fails with. */
  wait(value: PromiseLike<unknown>, use: (value: unknown) => void): void {
    this.#waiting++;
    value.then((result) => {
      try {
        use(result);
      } catch (error) {
        this.#failure ??= { error };
      }
      this.#settled();
    }, (error: unknown) => {
      this.#failure ??= { error };
      this.#settled();
    });
  }

  /** Resolves when nothing of it goes on any more. @throws what its first field failed with */
  async ended(): Promise<void> {
    await new Promise<void>((resolve) => { this.#end = resolve; });
    if (this.#failure) throw this.#failure.error;
  }

  #settled(): void {
    if (--this.#waiting === 0) this.#end?.();
  }
}
