import type { Logger } from 'pino';
import { type StateChange, tell } from '../state-change.ts';

/** Lines that are written one by one within `WINDOW_MS`; what comes beyond is told in one. */
const LINES = 20;
const WINDOW_MS = 60_000;

/** How many targets there are, and how many of them are out of turn. */
export interface HealthCounts {
  readonly out: number;
  readonly all: number;
}

/** Writes a line for each change of health, as long as there are few: a hundred targets that flap must not fill a disk by morning. */
export class ChangeLog {
  readonly #log: Logger;
  readonly #counts: () => HealthCounts;
  #lines = 0;
  #more = 0;
  #faultAt = -Infinity;
  #window: NodeJS.Timeout | undefined;

  /** @param counts how things stand, for the line that stands for many */
  constructor(log: Logger, counts: () => HealthCounts) {
    this.#log = log;
    this.#counts = counts;
  }

  write(level: 'info' | 'warn', state: StateChange, text: string): void {
    this.#window ??= setTimeout(() => this.#close(), WINDOW_MS).unref();
    if (this.#lines < LINES) tell(this.#log, level, state, text);
    else this.#more++;
    this.#lines++;
  }

  /** A check could not be made: one line within `WINDOW_MS`, for what one check lacks the others lack too. */
  fault(text: string): void {
    const now = performance.now();
    if (now - this.#faultAt < WINDOW_MS) return;
    this.#faultAt = now;
    this.#log.error(text);
  }

  /** The window is over, or everything is. */
  #close(): void {
    this.stop();
    if (this.#more > 0) {
      const { out, all } = this.#counts();
      tell(this.#log, 'warn', { event: 'more health', changes: this.#more, out, targets: all },
        `health of targets: ${this.#more} more changes in the last ${WINDOW_MS / 1000} s; ${out} of ${all} targets are out of turn now`);
    }
    this.#lines = 0;
    this.#more = 0;
  }

  stop(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
  }
}
