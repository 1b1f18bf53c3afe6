/** A stream, or something else that holds bytes for somebody who does not take them, as a budget sees it. */
export interface UnreadHolder {
  /** Whose it is: that of a budget which holds most is the first to lose something. */
  readonly peer: string;
  /** Bytes that it holds now. It tells all its budgets of what has changed since it last did. */
  recount(): number;
  /** Ends it. */
  reset(): void;
}

/** Counts what is held for somebody. */
export interface UnreadLedger {
  /** So much is held that no stream should get more credit than it needs to go on. */
  readonly tight: boolean;
  /** From now on the holder counts, with what it adds. */
  open(holder: UnreadHolder): void;
  /** A holder has so many bytes more, or less. */
  add(bytes: number): void;
  /** The holder is over, and has added what makes it hold nothing. */
  close(holder: UnreadHolder): void;
}

/** What may be held, in bytes. */
export interface UnreadLimits {
  /** Beyond it each stream gets less credit. */
  readonly tight: number;
  /** Beyond it those end that hold most: first of the peer that holds most. */
  readonly most: number;
}

/** What the streams of one session may hold for local sockets which don't take it. */
export const UNREAD: UnreadLimits = { tight: 16 * 1024 * 1024, most: 128 * 1024 * 1024 };
/** What is known may be too much by so many bytes before all holders are looked at again: sockets that take bytes say so only when they were full. */
const SLACK = 4 * 1024 * 1024;

/** Holds streams together to what they may hold. Each of them alone may hold a whole window, which is too much for thousands. */
export class UnreadBudget {
  readonly #holders: () => Iterable<UnreadHolder>;
  readonly #limits: UnreadLimits;
  #bytes = 0;
  #countAt: number;
  #counting = false;

  /** @param holders all of them */
  constructor(holders: () => Iterable<UnreadHolder>, limits: UnreadLimits = UNREAD) {
    this.#holders = holders;
    this.#limits = limits;
    this.#countAt = limits.tight;
  }

  /** What is held, as far as it is known: rather too much. */
  get bytes(): number {
    return this.#bytes;
  }

  /** So much waits that no stream should get more credit than it needs to go on. */
  get tight(): boolean {
    return this.#bytes > this.#limits.tight;
  }

  /** A holder has so many bytes more, or less. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes > 0 && this.#bytes > this.#countAt && !this.#counting) this.count();
  }

  /** Finds out what is held really, and ends what is too much. */
  count(): void {
    this.#counting = true;
    const held = [...this.#holders()].map((holder) => ({ holder, unread: holder.recount() }));
    this.#bytes = held.reduce((sum, { unread }) => sum + unread, 0);
    if (this.#bytes > this.#limits.most) this.#end(held);
    this.#countAt = Math.max(this.#limits.tight, this.#bytes + Math.min(SLACK, this.#limits.tight));
    this.#counting = false;
  }

  /** Down to three quarters, lest all of this is done again for the next few bytes. */
  #end(held: Array<{ readonly holder: UnreadHolder; readonly unread: number }>): void {
    const ofPeer = new Map<string, number>();
    for (const { holder: { peer }, unread } of held) ofPeer.set(peer, (ofPeer.get(peer) ?? 0) + unread);
    held.sort((one, other) => (ofPeer.get(other.holder.peer) ?? 0) - (ofPeer.get(one.holder.peer) ?? 0) || other.unread - one.unread);
    for (const { holder } of held) {
      if (this.#bytes <= this.#limits.most * 0.75) break;
      holder.reset();
    }
  }
}
