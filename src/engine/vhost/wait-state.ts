/** What a connection waits for, which selects its timeout. */
export type Waiting = 'first' | 'head' | 'idle' | 'body' | 'response' | 'nothing';

/** What a visitor's connection waits for, and since when. Times are those of the monotonic clock. */
export class WaitState {
  waiting: Waiting = 'first';
  since = performance.now();
  /** When the visitor last took everything that was written. */
  drainedAt = this.since;
  /** The visitor isn't read: the target takes no more. */
  held = false;
  /** Bytes of the body that arrived since `since`. */
  #received = 0;

  /** Starts another wait. */
  begin(waiting: Waiting): void {
    this.waiting = waiting;
    this.since = performance.now();
    this.#received = 0;
    this.drainedAt = this.since;
  }

  /** A piece of the body arrived. */
  received(bytes: number): void {
    this.#received += bytes;
  }

  /** The visitor took everything. */
  drained(): void {
    this.drainedAt = performance.now();
  }

  /** Whether less than `bytes` of the body arrived since `since`; restarts the count. A visitor that has to wait isn't slow. */
  tooSlow(bytes: number): boolean {
    const slow = !this.held && this.#received < bytes;
    this.#received = 0;
    this.since = performance.now();
    return slow;
  }
}
