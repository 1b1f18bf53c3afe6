import { setImmediate } from 'node:timers/promises';
import type { AuditEntry } from '../../store/generated/sqlite/client.ts';
import type { Store } from '../../store/store.ts';
import type { Transaction, WriteOptions } from '../../store/transaction.ts';
import { auditEntry } from '../audit/rules.ts';
import type { Author, Change, ImportedRows, MadeChange } from './changes.ts';
import { type Changes, followedOf } from './followed-changes.ts';
import { loadLogged, loggedOf, loggedOfImport } from './logged-changes.ts';
import type { UnappliedChanges } from './unapplied-changes.ts';

/**
 * The work of a write: it reads the rows that its checks need in `tx`, writes rows there, and calls `changed` for each change.
 * It must not write in any other way or wait for the network, since no other write can run meanwhile.
 */
export type Work<T> = (tx: Transaction, changed: (change: MadeChange) => void) => Promise<T>;

/** How a write is run. */
interface RunOptions<T> extends Pick<WriteOptions<T>, 'alone' | 'long' | 'background' | 'ended'> {
  /** Only runs the checks: the transaction is rolled back, nobody learns of its changes, and the audit log gets no entry. */
  readonly dryRun?: boolean;
}

/** Ends the transaction of a dry run, whose checks have passed. */
class DryRunPassed extends Error {}

/** Records of an import that are published before other work gets its turn. */
const slice = 50;

/** The dependencies of the path of writes. */
export interface WriteParts {
  readonly store: Store;
  readonly changes: Changes;
  readonly unapplied: UnappliedChanges;
  /** Called for each committed entry of the audit log. */
  readonly audited: (entry: AuditEntry) => void;
  /** ms since the epoch */
  readonly now: () => number;
}

/**
 * The path of every change. One write runs at a time, from reading rows until the engine has applied the changes.
 * Thus, no check uses a row that another write replaces, and the engine sees changes in commit order.
 */
export class Writes {
  readonly #parts: WriteParts;

  constructor(parts: WriteParts) {
    this.#parts = parts;
  }

  /**
   * Runs a write. Its rows, the audit entries and the stored totals are one transaction. After the commit, the changes
   * are published in order. Resolves when the engine has applied them.
   * @throws the error of `work`, with nothing stored; or the error of a listener, with everything stored: then the change is applied again later
   */
  async run<T>(author: Author, work: Work<T>, { dryRun = false, ...options }: RunOptions<T> = {}): Promise<T> {
    const { store, now } = this.#parts;
    let checked: { readonly result: T } | undefined;
    try {
      const { result } = await store.transaction(async (tx) => {
        const made: Change[] = [];
        const at = new Date(now());
        const result = await work(tx, (change) => made.push({ ...change, caller: author, at }));
        if (dryRun) {
          checked = { result };
          throw new DryRunPassed();
        }
        return { result, made, entries: made.map(auditEntry) };
      }, {
        ...options,
        entries: ({ entries }) => entries,
        changes: ({ made }) => made.map(loggedOf),
        committed: ({ made }, entries) => this.#publish(made, entries),
      });
      return result;
    } catch (error) {
      if (error instanceof DryRunPassed && checked !== undefined) return checked.result;
      throw error;
    }
  }

  /** A listener that fails doesn't affect other listeners or later changes. */
  async #publish(made: readonly Change[], entries: readonly AuditEntry[]): Promise<void> {
    for (const entry of entries) this.#parts.audited(entry);
    const failures: unknown[] = [];
    for (const change of made) {
      if (change.resource === 'import') {
        await this.#publishImport(change.rows);
        continue;
      }
      const followed = followedOf(change);
      if (followed === undefined) continue;
      try {
        await this.#parts.changes.publish(followed);
      } catch (error) {
        failures.push(error);
        this.#parts.unapplied.add(loggedOf(change), error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Publishes the records of an import with their current rows. A record that fails is applied again later; it does not fail the import, which is stored. */
  async #publishImport(rows: ImportedRows): Promise<void> {
    const { store, changes, unapplied } = this.#parts;
    // The command imports without an engine.
    if (!changes.hasListeners) return;
    const logged = [...loggedOfImport(rows)];
    for (let start = 0; start < logged.length; start += slice) {
      const part = logged.slice(start, start + slice);
      for (const [index, change] of (await loadLogged(store, part)).entries()) {
        try {
          await changes.publish(change);
        } catch (error) {
          unapplied.add(part[index] ?? { resource: 'access' }, error);
        }
      }
      await setImmediate();
    }
  }
}
