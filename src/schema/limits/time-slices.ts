import process from 'node:process';

/** Time in ms for all API operations together in one iteration of the event loop. Traffic is forwarded between two iterations. */
const SLICE_MS = 10;

/**
 * Divides the event loop between API operations and everything else. Promises that are already fulfilled don't yield to the event loop, so
 * long-running work waits here before each part. When the operations have used up the time of an iteration, they
 * wait for a later one: callers in round-robin order, the operations of one caller in FIFO order.
 */
export class TimeSlices {
  /** When work began in this iteration; undefined = none yet. */
  #since: number | undefined;
  /** By caller. */
  readonly #waiting = new Map<string, Array<() => void>>();
  #scheduled = false;

  /** Requests the next time slice. @returns undefined = continue immediately */
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

  /** Runs once per iteration: resets the time, and resumes waiting operations. */
  #iterate(): void {
    this.#scheduled = false;
    this.#since = undefined;
    this.#resume();
  }

  /** Resumes the operation of the next caller, and then further ones until the time of this iteration is used up. */
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
    // A tick requested in a microtask runs after all microtasks, and so after the work of the operation.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (this.#since === since && performance.now() - since < SLICE_MS) this.#resume();
      })
    );
  }
}
