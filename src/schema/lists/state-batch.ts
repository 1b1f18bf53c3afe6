import process from 'node:process';

interface Batch<State> {
  readonly ids: number[];
  readonly states: Promise<ReadonlyMap<number, State | undefined>>;
}

/**
 * Batches and caches requests for running states. Every row of a list requests its own state, so each request only costs one
 * promise.
 */
export class StateBatch<State> {
  readonly #ask: (ids: readonly number[]) => Promise<ReadonlyArray<State | undefined>>;
  readonly #batches = new Map<number, Batch<State>>();
  /** The batch that has not been requested yet. */
  #open: Batch<State> | undefined;

  /** @param ask returns a state for each id, in the same order */
  constructor(ask: (ids: readonly number[]) => Promise<ReadonlyArray<State | undefined>>) {
    this.#ask = ask;
  }

  /** @returns undefined = the engine has no state for it */
  load(id: number): Promise<State | undefined> {
    let batch = this.#batches.get(id);
    if (batch === undefined) {
      batch = this.#open ??= this.#begin();
      batch.ids.push(id);
      this.#batches.set(id, batch);
    }
    return batch.states.then((states) => states.get(id));
  }

  #begin(): Batch<State> {
    const ids: number[] = [];
    return { ids, states: this.#askLater(ids) };
  }

  async #askLater(ids: readonly number[]): Promise<ReadonlyMap<number, State | undefined>> {
    // Waits until all code that is ready to run has added its request.
    await Promise.resolve();
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    this.#open = undefined;
    const states = await this.#ask(ids);
    return new Map(ids.map((id, index) => [id, states[index]]));
  }
}
