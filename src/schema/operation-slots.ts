import { AditError } from './errors.ts';

/** What one caller may have at a time. */
export const slotLimits = {
  /** Operations under way, until their response was sent. */
  running: 8,
  /** Operations that wait for one of these to end. */
  waiting: 48,
} as const;

/** Of these, searches: each reads a whole list. */
export const searchLimits = { running: 1, waiting: 48 } as const;

interface Share {
  running: number;
  readonly waiting: Array<() => void>;
}

/** Holds callers to a number of operations at a time, so that none of them fills the memory with results. */
export class OperationSlots {
  readonly #limits: typeof slotLimits | typeof searchLimits;
  readonly #shares = new Map<string, Share>();

  constructor(limits: typeof slotLimits | typeof searchLimits = slotLimits) {
    this.#limits = limits;
  }

  /**
   * Waits until the caller may begin another operation.
   * @returns ends it, however often it is called
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
      // Whoever waits takes the place over.
      if (next) next();
      else if (--share.running === 0) this.#shares.delete(caller);
    };
  }
}
