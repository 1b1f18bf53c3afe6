import process from 'node:process';

interface Batch<State> {
  readonly ids: number[];
  readonly states: Promise<ReadonlyMap<number, State | undefined>>;
}

/**
 * Running states, gathered and asked of the engine together, and remembered. Every row of a list asks for its own, so it makes one promise for each and
 * nothing else.
 */
export class StateBatch<State> {
  readonly #ask: (ids: readonly number[]) => Promise<ReadonlyArray<State | undefined>>;
  readonly #batches = new Map<number, Batch<State>>();
  /** What was not asked yet. */
  #open: Batch<State> | undefined;

  /** @param ask gives a state for each id, in their order */
  constructor(ask: (ids: readonly number[]) => Promise<ReadonlyArray<State | undefined>>) {
    this.#ask = ask;
  }

  /** @returns undefined = the engine doesn't know it */
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
    // After everything that is ready now has asked for its own.
    await Promise.resolve();
    await new Promise<void>((resolve) => { process.nextTick(resolve); });
    this.#open = undefined;
    const states = await this.#ask(ids);
    return new Map(ids.map((id, index) => [id, states[index]]));
  }
}
