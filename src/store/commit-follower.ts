import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChangeLog, LoggedCommit, LogPosition } from './change-log.ts';
import { failureNote } from './database-failure.ts';
import { commitsAfter } from './hot/logged-commits.ts';
import type { HotReader } from './hot/reader.ts';

/** How often the log is read, in ms. */
const LOOK_MS = 1000;
/** How long a write waits to learn whether it was committed, when COMMIT got no response, and how often it tries, in ms. */
const UNKNOWN_MS = 5000;
const AGAIN_MS = 250;

/** Applies commits that this process did not publish itself. A method that rejects is called again. */
export interface CommitListener {
  /** Applies commits in their order. */
  apply(commits: readonly LoggedCommit[]): Promise<void>;
  /** Loads everything that is stored, because the log does not say what has changed. */
  reload(): Promise<void>;
}

/** The log that is followed. */
export interface FollowedLog {
  readonly changeLog: ChangeLog;
  /** Reads the commits. */
  readonly reader: Pick<HotReader, 'rows'>;
  /** The last commit. */
  readonly last: LogPosition;
}

/**
 * Publishes committed changes one after another. On SQLite, these are the changes of this process only, and publishing them needs no statement. On
 * PostgreSQL, the log decides on the order, and has the commits whose response was lost, or which other servers made.
 */
export class CommitFollower {
  readonly #followed: FollowedLog | undefined;
  readonly #log: Logger;
  /** Everything up to here was published; undefined = everything must be loaded. */
  #cursor: LogPosition | undefined;
  /** The token of this process's transaction, until it is published. One runs at a time. */
  #own: string | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #listener: CommitListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When everything in the log was published, by the monotonic clock. */
  #currentAt = performance.now();
  #failing = false;
  /** A look is queued. */
  #soon = false;
  /** The last transaction that looked. */
  #lookedIn: object | undefined;
  #looked: Promise<void> = Promise.resolve();
  /** Called when this server has added to the log. */
  onOwnCommit: () => void = () => undefined;

  /** @param followed absent on SQLite */
  constructor(log: Logger, followed?: FollowedLog) {
    this.#log = log;
    this.#followed = followed;
    this.#cursor = followed?.last;
  }

  /** Begins to follow the log. Everything that was stored before must have been loaded after the store was opened. */
  start(listener: CommitListener): void {
    if (this.#followed === undefined) return;
    this.#listener = listener;
    let looking = false;
    this.#timer = setInterval(() => {
      // While the database does not respond, a look takes longer than the interval.
      if (looking) return;
      looking = true;
      void this.look().finally(() => {
        looking = false;
      });
    }, LOOK_MS);
  }

  /** Stops following; resolves when the last commit is published. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#listener = undefined;
    await this.#queue;
  }

  /** The number of the last published commit, and the time since when there may be later ones, in ms: 0 = the log was read to its end just now. Both are 0 on SQLite. */
  get figures(): { readonly seq: number; readonly lagMs: number } {
    const since = performance.now() - this.#currentAt;
    return { seq: this.#cursor?.seq ?? 0, lagMs: this.#followed === undefined || since < 2 * LOOK_MS ? 0 : Math.round(since) };
  }

  /** Runs work while nothing is published: rows that it reads and publishes are never older than what is published already. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** This process's transaction is about to be committed at a position. */
  committing({ token }: LogPosition): void {
    this.#own = token;
  }

  /** The transaction was not committed, or nobody knows. Then its changes are published if they appear in the log. */
  givenUp(): void {
    this.#own = undefined;
  }

  /**
   * Whether a transaction was committed although its COMMIT failed or got no response.
   * @throws the database's error if it does not say so in time
   */
  async isCommitted(position: LogPosition): Promise<boolean> {
    const until = performance.now() + UNKNOWN_MS;
    for (;;) {
      try {
        return await this.#followed?.changeLog.isCommitted(position) === true;
      } catch (error) {
        if (performance.now() >= until) throw error;
        await setTimeout(AGAIN_MS);
      }
    }
  }

  /** Publishes the changes of this process's committed transaction, after those of all earlier commits. @param position absent on SQLite */
  published(position: LogPosition | undefined, publish: () => Promise<void>): Promise<void> {
    return this.inOrder(async () => {
      if (position === undefined) return publish();
      this.onOwnCommit();
      // If earlier commits can't be read, they are applied later, with the rows as they are then.
      if (this.#cursor === undefined || this.#cursor.seq < position.seq - 1) await this.#lookNow();
      await publish();
      if (this.#cursor?.seq === position.seq - 1) this.#cursor = position;
      this.#own = undefined;
    });
  }

  /** Publishes what the log has beyond the last published commit. */
  look(): Promise<void> {
    return this.inOrder(() => this.#lookNow());
  }

  /** Looks once for each transaction of changes: while one holds the lock of all writers, nobody else commits. @param transaction the client inside it */
  lookIn(transaction: object): Promise<void> {
    if (this.#lookedIn !== transaction) {
      this.#lookedIn = transaction;
      this.#looked = this.look();
    }
    return this.#looked;
  }

  /** Looks soon: another server has added to the log. Any number of calls until then cause one look. */
  lookSoon(): void {
    if (this.#soon) return;
    this.#soon = true;
    void this.inOrder(() => {
      this.#soon = false;
      return this.#lookNow();
    });
  }

  async #lookNow(): Promise<void> {
    try {
      await this.#catchUp();
      if (this.#failing) this.#log.info('the log of changes is followed again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#log.error(failureNote(error), 'the log of changes could not be followed; tried again each second');
      this.#failing = true;
    }
  }

  async #catchUp(): Promise<void> {
    const [followed, listener] = [this.#followed, this.#listener];
    if (followed === undefined || listener === undefined) return;
    for (;;) {
      const found = this.#cursor && await commitsAfter(followed.reader, this.#cursor);
      if (found === undefined) {
        await this.#reload(followed.changeLog, listener);
        continue;
      }
      const own = found.commits.findIndex(({ token }) => token === this.#own);
      const due = own === -1 ? found.commits : found.commits.slice(0, own);
      if (due.length > 0) await listener.apply(due);
      this.#cursor = due.at(-1) ?? this.#cursor;
      if (own === -1 && !found.last) continue;
      this.#currentAt = performance.now();
      return;
    }
  }

  async #reload(changeLog: ChangeLog, listener: CommitListener): Promise<void> {
    if (this.#cursor) this.#log.warn({ seq: this.#cursor.seq }, 'the log of changes lacks the last change that was applied: the whole stored state is loaded');
    this.#cursor = undefined;
    const last = await changeLog.last();
    await listener.reload();
    this.#cursor = last;
  }
}
