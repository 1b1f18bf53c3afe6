/** Handshakes that are looked at in a turn of the event loop, and the ms after which no further one is. */
const AT_ONCE = 4;
const MOST_MS = 3;

type Waiting = Map<string, (() => void)[]>;

/**
 * Has handshakes whose peers have said everything looked at a few in each turn of the event loop, however many come at once: those of sessions before
 * those of data connections, and of each kind the parties by turns.
 */
export class HandshakeTurns {
  readonly #sessions: Waiting = new Map();
  readonly #data: Waiting = new Map();
  #due = false;
  #began = 0;

  /** Resolves when it is the turn of one. @param party an address, or a session */
  next(kind: 'session' | 'data', party: string): Promise<void> {
    const waiting = kind === 'session' ? this.#sessions : this.#data;
    return new Promise((resolve) => {
      const ofParty = waiting.get(party);
      if (ofParty) ofParty.push(resolve);
      else waiting.set(party, [resolve]);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#due) return;
    this.#due = true;
    // What follows on the one is done before the next.
    setImmediate(() => { this.#began = performance.now(); });
    for (let i = 0; i < AT_ONCE; i++) setImmediate(() => this.#one());
    setImmediate(() => {
      this.#due = false;
      if (this.#sessions.size + this.#data.size > 0) this.#schedule();
    });
  }

  #one(): void {
    if (performance.now() - this.#began < MOST_MS) (shift(this.#sessions) ?? shift(this.#data))?.();
  }
}

/** The first of the party whose turn it is; the party goes to the end. */
function shift(waiting: Waiting): (() => void) | undefined {
  for (const [party, all] of waiting) {
    const first = all.shift();
    waiting.delete(party);
    if (all.length > 0) waiting.set(party, all);
    return first;
  }
  return undefined;
}
