import { LOCK_FORGOTTEN_MS, LOCK_WAIT_MS, SHORT_LOCK_WAIT_MS } from '../prisma-options.ts';

/** Something that needs exclusive use of the writing connection. */
export interface Write {
  /** Begins the write; {@link WriteQueue.done} must be called at its end. @throws an error for `refuse`, unless the file is locked */
  start(): void;
  /** The write could not begin. */
  refuse(error: unknown): void;
}

/** The callbacks that the queue needs. */
export interface WriteQueueOptions {
  /** Whether an error says that another process has the lock. */
  readonly isBusy: (error: unknown) => boolean;
  /** Runs the work of a timer. */
  readonly guarded: (work: () => void) => void;
}

/** Retry interval while the file is locked, in ms. */
const RETRY_MS = 15;

interface Waiting {
  readonly write: Write;
  /** When the write arrived, by the monotonic clock. */
  readonly since: number;
}

/**
 * Gives the connection to one write at a time, in order of arrival. While another process holds the file's lock, it retries with a
 * timer: SQLite's own waiting would block the thread, and with it all reads.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #waiting: Waiting[] = [];
  /** A write has the connection, or waits for the lock. */
  #taken = false;
  /** The next write is being chosen. */
  #choosing = false;
  /** When the lock was first and last found taken, without a successful write in between. */
  #locked: { readonly since: number; last: number } | undefined;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  add(write: Write): void {
    this.#waiting.push({ write, since: performance.now() });
    this.#next();
  }

  /** The current write no longer needs the connection. */
  done(): void {
    this.#taken = false;
    this.#next();
  }

  #next(): void {
    if (this.#choosing) return;
    this.#choosing = true;
    while (!this.#taken) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#start(next);
    }
    this.#choosing = false;
  }

  #start(next: Waiting): void {
    this.#taken = true;
    try {
      next.write.start();
      this.#locked = undefined;
    } catch (error) {
      if (this.#options.isBusy(error) && this.#mayWait(next)) {
        this.#waiting.unshift(next);
        setTimeout(() => this.#options.guarded(() => this.done()), RETRY_MS);
        return;
      }
      this.#taken = false;
      next.write.refuse(error);
    }
  }

  #mayWait({ since }: Waiting): boolean {
    const now = performance.now();
    if (this.#locked === undefined || now - this.#locked.last > LOCK_FORGOTTEN_MS) this.#locked = { since: now, last: now };
    this.#locked.last = now;
    return now < Math.max(this.#locked.since + LOCK_WAIT_MS, since + SHORT_LOCK_WAIT_MS);
  }
}
