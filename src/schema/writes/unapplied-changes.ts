import type { Logger } from 'pino';
import { failureNote } from '../../store/database-failure.ts';
import type { Store } from '../../store/store.ts';
import type { Changes } from './followed-changes.ts';
import { type ChangedRows, loadLogged, type LoggedChange } from './logged-changes.ts';

/** The first and the longest interval between attempts, in ms. */
const AGAIN = { first: 1000, longest: 30_000 } as const;
/** Changes applied in one turn of the order of commits. */
const TOGETHER = 200;

/**
 * Committed changes that a listener failed to apply, such as the engine. They stop no other change, and are applied again with the current rows of their
 * records until that succeeds.
 */
export class UnappliedChanges {
  readonly #store: ChangedRows & Pick<Store, 'follower'>;
  readonly #changes: Changes;
  readonly #log: Logger;
  /** By record, so that there are never more than records. */
  readonly #waiting = new Map<string, LoggedChange>();
  #timer: NodeJS.Timeout | undefined;
  #wait: number = AGAIN.first;

  constructor({ store, changes, log }: { readonly store: ChangedRows & Pick<Store, 'follower'>; readonly changes: Changes; readonly log: Logger }) {
    this.#store = store;
    this.#changes = changes;
    this.#log = log;
  }

  /** Number of records whose changes are not applied. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Adds a change that could not be applied. */
  add(change: LoggedChange, error: unknown): void {
    const name = 'id' in change ? `${change.resource} ${change.id}` : 'name' in change ? `${change.resource} ${change.name}` : change.resource;
    if (!this.#waiting.has(name)) this.#log.error({ ...failureNote(error), record: name }, 'a stored change could not be applied; tried again until it can');
    // A reset is not repeated: it could subtract the bytes twice.
    this.#waiting.set(name, 'reset' in change ? { ...change, reset: undefined } : change);
    this.#timer ??= setTimeout(() => void this.#again(), this.#wait).unref();
  }

  /** Forgets everything: the whole stored state is about to be applied. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
    this.#wait = AGAIN.first;
  }

  async #again(): Promise<void> {
    this.#wait = Math.min(this.#wait * 2, AGAIN.longest);
    const due = [...this.#waiting];
    for (let start = 0; start < due.length; start += TOGETHER) {
      await this.#store.follower.inOrder(() => this.#apply(due.slice(start, start + TOGETHER))).catch((error: unknown) => {
        this.#log.warn(failureNote(error), 'the rows of stored changes could not be read');
      });
    }
    this.#timer = undefined;
    if (this.#waiting.size === 0) {
      this.#log.info('all stored changes are applied');
      this.#wait = AGAIN.first;
    } else {
      this.#timer = setTimeout(() => void this.#again(), this.#wait).unref();
    }
  }

  async #apply(due: ReadonlyArray<readonly [string, LoggedChange]>): Promise<void> {
    const current = due.filter(([name, change]) => this.#waiting.get(name) === change);
    const followed = await loadLogged(this.#store, current.map(([, change]) => change));
    for (const [index, change] of followed.entries()) {
      const name = current[index]?.[0];
      if (name === undefined) continue;
      try {
        await this.#changes.publish(change);
        this.#waiting.delete(name);
      } catch {
        // Logged when it was added; it stays.
      }
    }
  }
}
