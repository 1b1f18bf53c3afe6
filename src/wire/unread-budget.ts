/** A stream as the budget of its session sees it. */
export interface UnreadHolder {
  /** Bytes that wait here for the stream's local socket; what it says later of more or less starts from this. */
  recount(): number;
  /** Ends the stream. */
  reset(): void;
}

/** Bytes that the streams of one session may hold for local sockets which don't take them: beyond `tight` each gets less credit, beyond `most` those that hold most end. */
export const UNREAD = { tight: 16 * 1024 * 1024, most: 128 * 1024 * 1024 } as const;
/** What is known may be too much by so many bytes before all streams are looked at again: sockets that take bytes say so only when they were full. */
const SLACK = 4 * 1024 * 1024;

/** Counts what the streams of a session hold. Each of them alone may hold a whole window, which is too much for thousands. */
export class UnreadBudget {
  readonly #holders: () => Iterable<UnreadHolder>;
  readonly #limits: { readonly tight: number; readonly most: number };
  #bytes = 0;
  #countAt: number;

  /** @param holders all streams of the session */
  constructor(holders: () => Iterable<UnreadHolder>, limits: { readonly tight: number; readonly most: number } = UNREAD) {
    this.#holders = holders;
    this.#limits = limits;
    this.#countAt = limits.tight;
  }

  /** So much waits that no stream should get more credit than it needs to go on. */
  get tight(): boolean {
    return this.#bytes > this.#limits.tight;
  }

  /** A stream holds so many bytes more, or less. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes > 0 && this.#bytes > this.#countAt) this.#count();
  }

  #count(): void {
    const holders = [...this.#holders()].map((holder) => ({ holder, unread: holder.recount() }));
    this.#bytes = holders.reduce((sum, { unread }) => sum + unread, 0);
    if (this.#bytes > this.#limits.most) {
      // Down to three quarters, lest all of this is done again for the next few bytes.
      holders.sort((one, other) => other.unread - one.unread);
      for (const { holder } of holders) {
        if (this.#bytes <= this.#limits.most * 0.75) break;
        holder.reset();
      }
    }
    this.#countAt = Math.max(this.#limits.tight, this.#bytes + Math.min(SLACK, this.#limits.tight));
  }
}
