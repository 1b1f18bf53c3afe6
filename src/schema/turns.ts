import process from 'node:process';

/** How long API operations may work in one iteration of the event loop, all together, in ms. What moves bytes comes between two iterations. */
const SLICE_MS = 10;

/**
 * Divides the event loop between API operations and everything else. Promises that are fulfilled already don't let the event loop go on, so
 * whatever can work for long asks here before each part of its work. When the operations have used up their time of this iteration, they
 * wait for a later one: callers by turns, the operations of one caller in their order.
 */
export class Turns {
  /** When work began in this iteration; undefined = none was done. */
  #since: number | undefined;
  /** By caller. */
  readonly #waiting = new Map<string, Array<() => void>>();
  #scheduled = false;

  /** Asks for the next part. @returns undefined = go on at once */
  next(caller: string): Promise<void> | undefined {
    const now = performance.now();
    this.#since ??= now;
    this.#schedule();
    if (this.#waiting.size === 0 && now - this.#since < SLICE_MS) return undefined;
    return new Promise((resolve) => {
      const own = this.#waiting.get(caller);
      if (own === undefined) this.#waiting.set(caller, [resolve]);
      else own.push(resolve);
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#iterate());
  }

  /** Runs once in each iteration: the time begins anew, and those that wait go on. */
  #iterate(): void {
    this.#scheduled = false;
    this.#since = undefined;
    this.#resume();
  }

  /** Lets the next caller's operation go on, and when it has done its part, another one, until the time of this iteration is used up. */
  #resume(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [caller, own] = first;
    const resume = own.shift();
    this.#waiting.delete(caller);
    if (own.length > 0) this.#waiting.set(caller, own);
    const since = this.#since ??= performance.now();
    this.#schedule();
    resume?.();
    // A tick that a microtask asks for comes after all microtasks, so after the work of the operation.
    queueMicrotask(() => process.nextTick(() => {
      if (this.#since === since && performance.now() - since < SLICE_MS) this.#resume();
    }));
  }
}
