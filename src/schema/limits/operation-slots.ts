import { AditError } from '../errors.ts';

/** Limits of one caller. */
export const slotLimits = {
  /** Operations in progress, until their response has been sent. */
  running: 8,
  /** Operations in the queue. */
  waiting: 48,
} as const;

/** The limits of searches, each of which reads a whole list. */
export const searchLimits = { running: 1, waiting: 48 } as const;

interface Share {
  running: number;
  readonly waiting: Array<() => void>;
}

/** Limits the number of operations of each caller, so that no caller fills the memory with results. */
export class OperationSlots {
  readonly #limits: typeof slotLimits | typeof searchLimits;
  readonly #shares = new Map<string, Share>();

  constructor(limits: typeof slotLimits | typeof searchLimits = slotLimits) {
    this.#limits = limits;
  }

  /**
   * Waits until the caller may begin another operation.
   * @returns a function that ends it; further calls have no effect
   * @throws {AditError} TOO_MANY_OPERATIONS
   */
  async take(caller: string): Promise<() => void> {
    const share = this.#shares.get(caller) ?? { running: 0, waiting: [] };
    this.#shares.set(caller, share);
    if (share.running < this.#limits.running) share.running++;
    else if (share.waiting.length >= this.#limits.waiting) throw new AditError('TOO_MANY_OPERATIONS');
    else await new Promise<void>((resolve) => share.waiting.push(resolve));
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const next = share.waiting.shift();
      // The next operation in the queue takes over the slot.
      if (next) next();
      else if (--share.running === 0) this.#shares.delete(caller);
    };
  }
}
