/** Characters of records that the operations of one caller may hold together; beyond it only the one that began first reads on. */
const MOST_HELD = 8_000_000;
/** Pages that are read for one caller at a time: what one holds is not known before. */
const MOST_READING = 1;

interface Share {
  characters: number;
  reading: number;
  /** Those that have read something, or want to, and have not ended. The first began first. */
  readonly operations: Set<HeldByOperation>;
  readonly waiting: Array<{ readonly operation: HeldByOperation; readonly go: () => void }>;
}

/** What the operations of all callers hold of the database, so that one caller's eight don't fill the memory with eight times the most that one may read. */
export class HeldRecords {
  readonly #shares = new Map<string, Share>();

  /** @param caller whose operation it is */
  of(caller: string): HeldByOperation {
    return new HeldByOperation(this.#shares, caller);
  }
}

/** What one operation holds. The one that began first never waits for the others, so some operation always goes on. */
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

  /** Reads a page when its caller's operations hold few enough. `page` says what it holds by `add`. */
  async read<Page>(page: () => Promise<Page>): Promise<Page> {
    const share = this.#share ??= this.#joined();
    if (!mayRead(share, this)) await new Promise<void>((go) => { share.waiting.push({ operation: this, go }); });
    else share.reading++;
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

  /** It has read so many characters more. */
  add(characters: number): void {
    if (!this.#share || this.#ended) return;
    this.#characters += characters;
    this.#share.characters += characters;
  }

  /** It holds nothing any more. */
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

/** Lets those go on that may by now, in their order. What has ended has nothing to read, and goes on to find that out. */
function wake(share: Share): void {
  for (;;) {
    const next = share.waiting.findIndex(({ operation }) => mayRead(share, operation));
    const [woken] = next < 0 ? [] : share.waiting.splice(next, 1);
    if (!woken) return;
    share.reading++;
    woken.go();
  }
}
