import { setTimeout } from 'node:timers/promises';
import { databaseFailure } from './database-failure.ts';
import { DatabaseSilentError } from './errors.ts';
import type { RunTransaction } from './transaction.ts';

/** How long {@link DatabaseHealth.check} waits for a read, in ms: a busy database is not an unusable one. */
const READ_MS = 5000;
/** The same for a write, after one has failed. */
const WRITE_MS = 1000;

/** How {@link DatabaseHealth} tries the database. */
export interface DatabaseTrial {
  readonly read: () => Promise<unknown>;
  /** A write without effect that fails if any table can't be written; other successful writes don't prove that. */
  readonly write: (transaction: RunTransaction) => Promise<void>;
}

/** Knows whether a write has failed since the database last accepted a write to every table. While one has failed, each check tries such a write. */
export class DatabaseHealth {
  readonly #trial: DatabaseTrial;
  #error: unknown;
  /** Runs transactions, and records failures of the database. */
  readonly transaction: RunTransaction;

  constructor(transaction: RunTransaction, trial: DatabaseTrial) {
    this.#trial = trial;
    this.transaction = async (run, options) => {
      try {
        return await transaction(run, options);
      } catch (error) {
        if (databaseFailure(error) !== undefined) this.#error = error;
        throw error;
      }
    };
  }

  /** @throws the error that keeps the database from reading or writing */
  async check(): Promise<void> {
    await within(READ_MS, this.#trial.read(), new DatabaseSilentError());
    if (this.#error !== undefined) await within(WRITE_MS, this.#tryWrite(), this.#error);
  }

  async #tryWrite(): Promise<void> {
    await this.#trial.write(this.transaction);
    this.#error = undefined;
  }
}

/** Waits for a trial. @throws `late` if it takes too long */
async function within(ms: number, trial: Promise<unknown>, late: unknown): Promise<void> {
  const ended = new AbortController();
  try {
    // oxlint-disable-next-line typescript/only-throw-error -- the very error that a write ended with
    await Promise.race([
      trial,
      setTimeout(ms, undefined, { signal: ended.signal }).then(() => {
        throw late;
      }),
    ]);
  } finally {
    ended.abort();
  }
}
