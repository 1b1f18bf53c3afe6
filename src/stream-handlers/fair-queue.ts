/** Tasks of one party that may start in one iteration of the event loop. */
const AT_ONCE = 2;

interface Party {
  /** Tasks started in this iteration. */
  begun: number;
  readonly waiting: (() => void)[];
}

/**
 * Starts tasks of many parties fairly: in each iteration of the event loop a few of every party. A flood of one party only delays
 * its own tasks; a new task of another party waits for at most one iteration.
 */
export class FairQueue<K extends string | number> {
  readonly #mostWaiting: number;
  /** The parties that started a task in this iteration or have tasks waiting. */
  readonly #parties = new Map<K, Party>();
  #due = false;

  /** @param mostWaiting length of one party's queue */
  constructor(mostWaiting: number) {
    this.#mostWaiting = mostWaiting;
  }

  /**
   * Calls `work` synchronously if the party has started few tasks in this iteration, otherwise in a later one. `work` must not throw.
   * @returns false = the party's queue is full: `work` is never called
   */
  begin(key: K, work: () => void): boolean {
    let party = this.#parties.get(key);
    if (!party) {
      party = { begun: 0, waiting: [] };
      this.#parties.set(key, party);
    }
    if (party.waiting.length >= this.#mostWaiting) return false;
    this.#schedule();
    if (party.begun < AT_ONCE) {
      party.begun++;
      work();
    } else {
      party.waiting.push(work);
    }
    return true;
  }

  #schedule(): void {
    if (this.#due) return;
    this.#due = true;
    setImmediate(() => this.#iterate());
  }

  #iterate(): void {
    this.#due = false;
    for (const [key, party] of this.#parties) {
      const next = party.waiting.splice(0, AT_ONCE);
      party.begun = next.length;
      if (next.length === 0) this.#parties.delete(key);
      for (const work of next) work();
    }
    if (this.#parties.size > 0) this.#schedule();
  }
}
