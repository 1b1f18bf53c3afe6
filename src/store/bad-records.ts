import type { Logger } from 'pino';
import { namesOf, only } from './counter-batch.ts';
import type { CounterBatch } from './hot/counters.ts';

/** Maximum number of bad records remembered; further ones are searched for again each time. */
const MOST = 1000;
/** Names in one line of the log. */
const MOST_NAMED = 20;

/** Records whose counters could not be stored, and blocked others: each is tried separately from then on, and logged once. */
export class BadRecords {
  readonly #names = new Set<string>();
  /** Since the last `tell`. */
  #news: string[] = [];
  #error: unknown;

  /** The known bad records of a batch, each separately, and the others. */
  apart(batch: CounterBatch): { readonly others: CounterBatch; readonly bad: readonly CounterBatch[] } {
    if (this.#names.size === 0) return { others: batch, bad: [] };
    const bad = namesOf(batch).filter((name) => this.#names.has(name));
    return { others: only(batch, (name) => !this.#names.has(name)), bad: bad.map((one) => only(batch, (name) => name === one)) };
  }

  /** Adds records that can't be stored although the database works. */
  add(names: readonly string[], error: unknown): void {
    for (const name of names) {
      if (this.#names.has(name) || this.#names.size >= MOST) continue;
      this.#names.add(name);
      this.#news.push(name);
      this.#error = error;
    }
  }

  /** The records were stored, so they are no longer bad. */
  stored(batch: CounterBatch): void {
    if (this.#names.size > 0) { for (const name of namesOf(batch)) this.#names.delete(name); }
  }

  /** Logs new bad records in one line. */
  tell(log: Logger): void {
    if (this.#news.length === 0) return;
    log.error(
      { err: this.#error, count: this.#news.length, records: this.#news.slice(0, MOST_NAMED) },
      'the counters of some records cannot be stored; those of all others are stored',
    );
    this.#news = [];
  }
}
