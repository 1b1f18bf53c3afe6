/** Refreshes something by key, one run at a time: a caller gets a run that begins after its call, and all calls during a run share the next one. */
export class Refreshes<Key, Refreshed> {
  readonly #run: (key: Key) => Promise<Refreshed>;
  readonly #runs = new Map<Key, { readonly current: Promise<Refreshed>; next?: Promise<Refreshed> }>();

  constructor(run: (key: Key) => Promise<Refreshed>) {
    this.#run = run;
  }

  /** The result of a run that begins now or later. @throws the error of that run */
  after(key: Key): Promise<Refreshed> {
    const runs = this.#runs.get(key);
    if (runs === undefined) return this.#begin(key);
    const begin = () => this.#begin(key);
    return runs.next ??= runs.current.then(begin, begin);
  }

  #begin(key: Key): Promise<Refreshed> {
    const runs: { readonly current: Promise<Refreshed>; next?: Promise<Refreshed> } = { current: this.#run(key) };
    this.#runs.set(key, runs);
    const ended = () => {
      if (runs.next === undefined) this.#runs.delete(key);
    };
    runs.current.then(ended, ended);
    return runs.current;
  }
}
