/** Something that holds bytes for a slow reader, such as a stream, as a budget sees it. */
export interface UnreadHolder {
  /** The stream's peer: the streams of the peer with the most held bytes are reset first. */
  readonly peer: string;
  /** Bytes that it holds now. Reports the change since the last call to all its budgets. */
  recount(): number;
  /** Ends it. */
  reset(): void;
}

/** Counts the bytes that are held for a reader. */
export interface UnreadLedger {
  /** So many bytes are held that streams should only get the credit that they need to make progress. */
  readonly tight: boolean;
  /** Starts counting a holder and the bytes that it reports. */
  open(holder: UnreadHolder): void;
  /** The bytes of a holder have changed by this number. */
  add(bytes: number): void;
  /** The holder has ended, after reporting that it holds nothing. */
  close(holder: UnreadHolder): void;
}

/** What may be held, in bytes. */
export interface UnreadLimits {
  /** Above this, each stream gets less credit. */
  readonly tight: number;
  /** Above this, the streams with the most held bytes are reset: first those of the peer with the most. */
  readonly most: number;
}

/** Limits of what the streams of one session may hold for local sockets that don't read. */
export const UNREAD: UnreadLimits = { tight: 16 * 1024 * 1024, most: 128 * 1024 * 1024 };
/** The tolerance of the known sum, in bytes, before all holders are counted again: a socket reports that it took bytes only after it was full. */
const SLACK = 4 * 1024 * 1024;

/** Limits what streams hold together. Each of them may hold a whole window, which is too much for thousands of streams. */
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

  /** The bytes held, as far as known; never less than the actual number. */
  get bytes(): number {
    return this.#bytes;
  }

  /** So many bytes are held that streams should only get the credit that they need to make progress. */
  get tight(): boolean {
    return this.#bytes > this.#limits.tight;
  }

  /** The bytes of a holder have changed by this number. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes > 0 && this.#bytes > this.#countAt && !this.#counting) this.count();
  }

  /** Determines what is actually held, and resets streams beyond the limit. */
  count(): void {
    this.#counting = true;
    const held = [...this.#holders()].map((holder) => ({ holder, unread: holder.recount() }));
    this.#bytes = held.reduce((sum, { unread }) => sum + unread, 0);
    if (this.#bytes > this.#limits.most) this.#end(held);
    this.#countAt = Math.max(this.#limits.tight, this.#bytes + Math.min(SLACK, this.#limits.tight));
    this.#counting = false;
  }

  /** Resets streams down to three quarters of the limit, so that a few bytes don't repeat this. */
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
