import type { Logger } from 'pino';
import { type StateChange, logState } from '../state-change.ts';

/** Lines that are written one by one within `WINDOW_MS`; further changes are summed up in one line. */
const LINES = 20;
const WINDOW_MS = 60_000;

/** How many targets there are, and how many of them are out of rotation. */
export interface HealthCounts {
  readonly out: number;
  readonly all: number;
}

/** Logs each health change while there are few: a hundred flapping targets must not fill a disk overnight. */
export class ChangeLog {
  readonly #log: Logger;
  readonly #counts: () => HealthCounts;
  #lines = 0;
  #more = 0;
  #faultAt = -Infinity;
  #window: NodeJS.Timeout | undefined;

  /** @param counts the current numbers, for the line that sums up many changes */
  constructor(log: Logger, counts: () => HealthCounts) {
    this.#log = log;
    this.#counts = counts;
  }

  write(level: 'info' | 'warn', state: StateChange, text: string): void {
    this.#window ??= setTimeout(() => this.#close(), WINDOW_MS).unref();
    if (this.#lines < LINES) logState(this.#log, level, state, text);
    else this.#more++;
    this.#lines++;
  }

  /** A check could not be made: one line within `WINDOW_MS`, since the same resource is missing for all checks. */
  fault(text: string): void {
    const now = performance.now();
    if (now - this.#faultAt < WINDOW_MS) return;
    this.#faultAt = now;
    this.#log.error(text);
  }

  /** The window is over. */
  #close(): void {
    this.stop();
    if (this.#more > 0) {
      const { out, all } = this.#counts();
      logState(
        this.#log,
        'warn',
        { event: 'more health', changes: this.#more, out, targets: all },
        `health of targets: ${this.#more} more changes in the last ${WINDOW_MS / 1000} s; ${out} of ${all} targets are out of rotation now`,
      );
    }
    this.#lines = 0;
    this.#more = 0;
  }

  stop(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
  }
}
