/** Handshakes that are processed per iteration of the event loop, and the ms after which no further one is started. */
const AT_ONCE = 4;
const MOST_MS = 3;

type Waiting = Map<string, (() => void)[]>;

/**
 * A fair queue of complete handshakes. Each iteration of the event loop processes a few of them, however many arrive at once: sessions before data
 * connections, and within each kind the parties in round-robin order.
 */
export class HandshakeQueue {
  readonly #sessions: Waiting = new Map();
  readonly #data: Waiting = new Map();
  #due = false;
  #began = 0;

  /** Resolves when the handshake may be processed. @param party an address, or a session */
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
    // Separate callbacks: the work that follows on one handshake is done before the next one starts.
    setImmediate(() => {
      this.#began = performance.now();
    });
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

/** The first handshake of the next party, which then goes to the end of the queue. */
function shift(waiting: Waiting): (() => void) | undefined {
  for (const [party, all] of waiting) {
    const first = all.shift();
    waiting.delete(party);
    if (all.length > 0) waiting.set(party, all);
    return first;
  }
  return undefined;
}
