import type { AuditEntry } from '../store/generated/sqlite/client.ts';
import type { Store } from '../store/store.ts';
import type { Transaction, WriteOptions } from '../store/transaction.ts';
import { auditEntry } from './audit/entry.ts';
import type { Author, Change, Changes, MadeChange } from './changes.ts';

/**
 * What a write does: it reads what it decides on in `tx`, writes rows there, and tells of each change that it has made with
 * `changed`. It must not write in another way, nor wait long for the network: nobody else can write meanwhile.
 */
export type Work<T> = (tx: Transaction, changed: (change: MadeChange) => void) => Promise<T>;

/** What the path of writes is made of. */
export interface WriteParts {
  readonly store: Store;
  readonly changes: Changes;
  /** Called for each entry of the audit log that was committed. */
  readonly audited: (entry: AuditEntry) => void;
  /** ms since the epoch */
  readonly now: () => number;
}

/**
 * The path of every change. One write runs at a time, from reading the rows that it decides on to the engine's having applied it,
 * so no rule decides on a row that another write replaces, and the engine sees changes in the order that they were committed in.
 */
export class Writes {
  readonly #parts: WriteParts;

  constructor(parts: WriteParts) {
    this.#parts = parts;
  }

  /**
   * Runs a write. Its rows, the entries of the audit log and the kept counts are one transaction. Once that is committed, the changes
   * are published in their order; the write ends when the engine has applied them.
   * @throws what `work` throws, with nothing stored; or what a listener throws, with everything stored
   */
  async run<T>(author: Author, work: Work<T>, options?: Pick<WriteOptions<T>, 'alone' | 'background' | 'ended'>): Promise<T> {
    const { store, now } = this.#parts;
    const { result } = await store.transaction(async (tx) => {
      const made: Change[] = [];
      const at = new Date(now());
      const result = await work(tx, (change) => made.push({ ...change, caller: author, at }));
      return { result, made, entries: made.map(auditEntry) };
    }, { ...options, entries: ({ entries }) => entries, committed: ({ made }, entries) => this.#publish(made, entries) });
    return result;
  }

  /** A listener that fails keeps neither the others nor the changes after it from being told. */
  async #publish(made: readonly Change[], entries: readonly AuditEntry[]): Promise<void> {
    for (const entry of entries) this.#parts.audited(entry);
    const failures: unknown[] = [];
    for (const change of made) await this.#parts.changes.publish(change).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}
