/** Characters of records that the operations of one caller may hold together. Beyond that, only the oldest operation continues to read. */
const MOST_HELD = 8_000_000;
/** Pages that are read for one caller at a time, since the size of a page is unknown until it has been read. */
const MOST_READING = 1;

interface Share {
  characters: number;
  reading: number;
  /** Operations that have read or want to read, and have not ended, oldest first. */
  readonly operations: Set<HeldByOperation>;
  readonly waiting: Array<{ readonly operation: HeldByOperation; readonly go: () => void }>;
}

/** Records held by the operations of all callers, limited so that eight operations of a caller don't use eight times the maximum of one. */
export class HeldRecords {
  readonly #shares = new Map<string, Share>();

  /** @param caller the caller of the operation */
  of(caller: string): HeldByOperation {
    return new HeldByOperation(this.#shares, caller);
  }
}

/** Records held by one operation. The oldest operation of a caller never waits for others, so some operation always makes progress. */
export class HeldByOperation {
  readonly #shares: Map<string, Share>;
  readonly #caller: string;
  #share: Share | undefined;
  #characters = 0;
  #ended = false;

  /** @param shares of all callers */
  constructor(shares: Map<string, Share>, caller: string) {
    this.#shares = shares;
    this.#caller = caller;
  }

  /** Reads a page when its caller's operations hold few enough records. `page` reports the size with `add`. */
  async read<Page>(page: () => Promise<Page>): Promise<Page> {
    const share = this.#share ??= this.#joined();
    if (!mayRead(share, this)) {
      await new Promise<void>((go) => {
        share.waiting.push({ operation: this, go });
      });
    } else share.reading++;
    try {
      return await page();
    } finally {
      share.reading--;
      wake(share);
    }
  }

  #joined(): Share {
    const share = this.#shares.get(this.#caller) ?? { characters: 0, reading: 0, operations: new Set(), waiting: [] };
    this.#shares.set(this.#caller, share);
    if (!this.#ended) share.operations.add(this);
    return share;
  }

  /** Reports how many more characters were read. */
  add(characters: number): void {
    if (!this.#share || this.#ended) return;
    this.#characters += characters;
    this.#share.characters += characters;
  }

  /** Releases everything that the operation holds. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const share = this.#share;
    if (!share) return;
    share.characters -= this.#characters;
    share.operations.delete(this);
    if (share.operations.size === 0) this.#shares.delete(this.#caller);
    wake(share);
  }
}

function mayRead({ reading, characters, operations }: Share, operation: HeldByOperation): boolean {
  const [first] = operations;
  return reading < MOST_READING && (characters <= MOST_HELD || operation === first);
}

/** Resumes waiting operations in order, as the limits allow. Ended operations are resumed too, so that they notice. */
function wake(share: Share): void {
  for (;;) {
    const next = share.waiting.findIndex(({ operation }) => mayRead(share, operation));
    const [woken] = next < 0 ? [] : share.waiting.splice(next, 1);
    if (!woken) return;
    share.reading++;
    woken.go();
  }
}
