import pino, { type Logger } from 'pino';

/** One line of the log. */
export interface Entry {
  readonly level: number;
  readonly msg: string;
  readonly [key: string]: unknown;
}

/** A log that tests can read and wait for. */
export class LogRecorder {
  readonly entries: Entry[] = [];
  readonly logger: Logger;
  readonly #waiting = new Set<(entry: Entry) => void>();

  constructor() {
    this.logger = pino({ level: 'trace' }, { write: (line: string) => this.#add(JSON.parse(line)) });
  }

  #add(entry: Entry): void {
    this.entries.push(entry);
    for (const wake of this.#waiting) wake(entry);
  }

  /** The first entry, from now on or earlier, that matches. */
  async line(pattern: RegExp, from = 0): Promise<Entry> {
    const found = this.entries.slice(from).find(({ msg }) => pattern.test(msg));
    if (found) return found;
    return new Promise((resolve) => {
      const wake = (entry: Entry): void => {
        if (!pattern.test(entry.msg)) return;
        this.#waiting.delete(wake);
        resolve(entry);
      };
      this.#waiting.add(wake);
    });
  }

  /** The next entry that matches, earlier ones left out. */
  next(pattern: RegExp): Promise<Entry> {
    return this.line(pattern, this.entries.length);
  }
}
