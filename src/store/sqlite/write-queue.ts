import { LOCK_WAIT_MS } from '../prisma-options.ts';

/** Something that needs the writing connection for itself. */
export interface Write {
  /** Begins the write; {@link WriteQueue.done} must be called at its end. @throws an error for `refuse`, unless the file is locked */
  start(): void;
  /** It did not begin. */
  refuse(error: unknown): void;
}

/** What the queue has to know of its surroundings. */
export interface WriteQueueOptions {
  /** Whether an error says that another process has the lock. */
  readonly isBusy: (error: unknown) => boolean;
  /** Runs what a timer begins. */
  readonly guarded: (work: () => void) => void;
}

/** How often it tries again meanwhile, in ms. */
const RETRY_MS = 15;
/** How long a write waits that comes when others have waited in vain: a queue of them must not wait one after the other. */
const SHORT_WAIT_MS = 50;
/** A lock that was not met for so long counts as another one. */
const FORGET_MS = 1000;

interface Waiting {
  readonly write: Write;
  /** When it came, by the monotonic clock. */
  readonly since: number;
}

/**
 * Gives the connection to one write at a time, in order of arrival. While another process holds the file's lock, it retries with a
 * timer: SQLite's own waiting would block the thread, and with it all reads.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #waiting: Waiting[] = [];
  /** A write has the connection, or the lock is waited for. */
  #taken = false;
  /** It is being seen to who is next. */
  #choosing = false;
  /** Since when, and when last, the lock was found taken, without a write in between. */
  #locked: { readonly since: number; last: number } | undefined;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  add(write: Write): void {
    this.#waiting.push({ write, since: performance.now() });
    this.#next();
  }

  /** The write that has the connection needs it no longer. */
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
    if (this.#locked === undefined || now - this.#locked.last > FORGET_MS) this.#locked = { since: now, last: now };
    this.#locked.last = now;
    return now < Math.max(this.#locked.since + LOCK_WAIT_MS, since + SHORT_WAIT_MS);
  }
}
