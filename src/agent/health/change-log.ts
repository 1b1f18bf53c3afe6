import type { Logger } from 'pino';

/** Lines that are written one by one within `WINDOW_MS`; what comes beyond is told in one. */
const LINES = 20;
const WINDOW_MS = 60_000;

/** Writes a line for each change of health, as long as there are few: a hundred targets that flap must not fill a disk by morning. */
export class ChangeLog {
  readonly #log: Logger;
  readonly #summary: () => string;
  #lines = 0;
  #more = 0;
  #window: NodeJS.Timeout | undefined;

  /** @param summary how things stand, for the line that stands for many: "3 of 40 targets are out of turn" */
  constructor(log: Logger, summary: () => string) {
    this.#log = log;
    this.#summary = summary;
  }

  write(level: 'info' | 'warn', line: string): void {
    this.#window ??= setTimeout(() => this.#close(), WINDOW_MS).unref();
    if (this.#lines < LINES) this.#log[level](line);
    else this.#more++;
    this.#lines++;
  }

  /** The window is over, or everything is. */
  #close(): void {
    this.stop();
    if (this.#more > 0) this.#log.warn(`health of targets: ${this.#more} more changes in the last ${WINDOW_MS / 1000} s; ${this.#summary()}`);
    this.#lines = 0;
    this.#more = 0;
  }

  stop(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
  }
}
