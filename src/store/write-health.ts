import { setTimeout } from 'node:timers/promises';
import { databaseFailure } from './database-failure.ts';
import type { RunTransaction } from './transaction.ts';

/** How long {@link WriteHealth.check} waits for a write, in ms. */
const CHECK_MS = 1000;

/** Knows whether a write has failed since the database last accepted a write to every table. While one has failed, each check tries such a write. */
export class WriteHealth {
  readonly #tryWrite: () => Promise<void>;
  #error: unknown;
  /** Runs transactions, and records failures of the database. */
  readonly transaction: RunTransaction;

  /** @param tryWrite a write without effect that fails if any table can't be written; other successful writes don't prove that */
  constructor(transaction: RunTransaction, tryWrite: (transaction: RunTransaction) => Promise<void>) {
    this.#tryWrite = async () => {
      await tryWrite(this.transaction);
      this.#error = undefined;
    };
    this.transaction = async (run, options) => {
      try {
        return await transaction(run, options);
      } catch (error) {
        if (databaseFailure(error) !== undefined) this.#error = error;
        throw error;
      }
    };
  }

  /** @throws the error that keeps the database from writing */
  async check(): Promise<void> {
    const error = this.#error;
    if (error === undefined) return;
    const late = new AbortController();
    try {
      // oxlint-disable-next-line typescript/only-throw-error -- the very error that a write ended with
      await Promise.race([this.#tryWrite(), setTimeout(CHECK_MS, undefined, { signal: late.signal }).then(() => { throw error; })]);
    } finally {
      late.abort();
    }
  }
}
