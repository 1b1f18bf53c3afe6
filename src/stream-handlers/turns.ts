/** How many of one party begin in a turn of the event loop. */
const AT_ONCE = 2;

interface Party {
  /** Since the last turn. */
  begun: number;
  readonly waiting: (() => void)[];
}

/**
 * Lets new things of many parties begin by turns: in each turn of the event loop a few of every party, whatever the others bring. So a
 * flood of one party waits for itself, and new ones of another party wait for a turn.
 */
export class Turns<K extends string | number> {
  readonly #mostWaiting: number;
  /** Those that began something in this turn or have something waiting. */
  readonly #parties = new Map<K, Party>();
  #due = false;

  /** @param mostWaiting of one party */
  constructor(mostWaiting: number) {
    this.#mostWaiting = mostWaiting;
  }

  /**
   * Calls `work` at once when the party has had little in this turn, else in a later one. It must not throw.
   * @returns false = too many of this party wait: `work` is never called
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
    setImmediate(() => this.#turn());
  }

  #turn(): void {
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
