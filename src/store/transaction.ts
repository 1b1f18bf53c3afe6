import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { addAuditEntries, type NewAuditEntry } from './audit.ts';
import type { ChangeLog, Recorded } from './change-log.ts';
import type { CommitFollower } from './commit-follower.ts';
import { databaseFailure } from './database-failure.ts';
import { LOCK_FORGOTTEN_MS } from './prisma-options.ts';
import type { AuditEntry, Prisma, PrismaClient } from './generated/sqlite/client.ts';

/** The client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

/** Further options of a write. */
export interface WriteOptions<T> {
  /** The audit entries of the write, stored in its transaction. */
  readonly entries?: (result: T) => readonly NewAuditEntry[];
  /** The changes of the write for the log, as values of JSON; one or more if there are audit entries, none = nobody follows it. Absent = nobody follows this write, so it takes no lock. */
  readonly changes?: (result: T) => readonly unknown[];
  /** Called after the commit of rows and entries, before the next transaction begins. The write resolves when it is done, or fails with its error. */
  readonly committed?: (result: T, entries: readonly AuditEntry[]) => Promise<void>;
  /** Called last, whether the write succeeded or not, before the next transaction begins. */
  readonly ended?: () => Promise<void>;
  /** The write shares its transaction with no others, because it reads what `committed` of earlier writes changes. */
  readonly alone?: boolean;
  /** It may take minutes. It shares its transaction with no others. */
  readonly long?: boolean;
  /** Nobody waits for it, so it may be queued while another write runs, even from inside that write. */
  readonly background?: boolean;
}

/** Runs a function in a transaction. */
export type RunTransaction = <T>(run: (tx: Transaction) => Promise<T>, options?: WriteOptions<T>) => Promise<T>;

/** What the writes of a transaction need of the database. One savepoint at a time, in the running transaction. */
export interface Savepoints {
  set(tx: Transaction): Promise<void>;
  /** Rolls back to the savepoint. */
  undo(tx: Transaction): Promise<void>;
  /** From now on, the transaction waits for a lock for a short time only. Absent if the database's driver does that itself. */
  readonly shortenWait?: (tx: Transaction) => Promise<void>;
}

/** A write that is queued or running. Neither `publish` nor `fail` throws. */
interface Job {
  readonly alone: boolean;
  /** Its changes go into the log. */
  readonly followed: boolean;
  readonly long: boolean;
  readonly run: (tx: Transaction) => Promise<void>;
  readonly entries: () => readonly NewAuditEntry[];
  readonly changes: () => readonly unknown[];
  /** After the commit. */
  readonly publish: (entries: readonly AuditEntry[]) => Promise<void>;
  /** After a rollback. */
  readonly fail: (error: unknown) => Promise<void>;
}

/** What the queue of writes uses of a database. */
export interface WriteParts {
  readonly db: PrismaClient;
  readonly savepoints: Savepoints;
  /** Absent = other servers can't follow (SQLite). */
  readonly changeLog: ChangeLog | undefined;
  readonly follower: CommitFollower;
}

/** How long a long write may take, in ms. */
const LONG_MS = 600_000;

/** Maximum number of writes in a transaction: all of them wait for its commit. */
const mostTogether = 16;

/**
 * Creates the store's only way to write. Writes run one after another, in order of arrival: what a write has read and checked
 * in `tx` still holds when it commits, with PostgreSQL's default isolation (read committed) and without the retries that Serializable
 * needs. Writes wait here instead of in the pool, which leaves the connections to readers.
 *
 * Writes that are queued while another one runs join the next transaction, each behind a savepoint: they share one commit, which waits for the disk,
 * and one statement for their audit entries. No write waits for later ones to arrive. A write that fails is
 * rolled back alone; if the entries or the commit fail, all writes of the transaction fail.
 *
 * With a log of changes, a transaction of changes holds the lock of all writers from its first statement. Maintenance that nobody follows
 * takes no lock, and shares no transaction with changes. If the response to COMMIT is lost, the log says whether the transaction was committed.
 *
 * Inside, use `tx` only. If `run` throws, everything it wrote is rolled back.
 */
export function transactions({ db, savepoints, changeLog, follower }: WriteParts): RunTransaction {
  const inside = new AsyncLocalStorage<true>();
  const waiting: Job[] = [];
  let running = false;
  /** When a write last waited for another program's lock in vain, by the monotonic clock. */
  let lockSeen = -Infinity;

  const attempt = async (job: Job, tx: Transaction): Promise<void> => {
    if (performance.now() - lockSeen < LOCK_FORGOTTEN_MS) await savepoints.shortenWait?.(tx);
    try {
      await inside.run(true, () => job.run(tx));
    } catch (error) {
      if (databaseFailure(error) === 'DATABASE_BUSY') lockSeen = performance.now();
      throw error;
    }
  };

  const joins = (first: Job, job: Job | undefined): boolean =>
    job !== undefined && !first.alone && !job.alone && (changeLog === undefined || first.followed === job.followed);

  const together = async (first: Job): Promise<void> => {
    /** The writes of the transaction, without those that were rolled back alone. */
    const jobs = new Set([first]);
    /** Set when only the commit is left. */
    let recorded: Recorded | undefined;
    try {
      await db.$transaction(async (tx) => {
        if (first.followed) await changeLog?.lock(tx, first.long);
        await attempt(first, tx);
        for (let count = 1; count < mostTogether && joins(first, waiting[0]); count++) {
          const job = waiting.shift();
          if (job !== undefined) await join(jobs, job, tx);
        }
        recorded = await record(tx, Array.from(jobs));
      }, first.long ? { timeout: LONG_MS } : {});
    } catch (error) {
      if (!await wasCommitted(recorded)) {
        for (const job of jobs) await job.fail(error);
        return;
      }
    } finally {
      // While it is enabled, Node tracks every promise of the program, which is a tenth of the cost of a list.
      inside.disable();
    }
    const entries = recorded?.entries ?? [];
    await follower.published(recorded?.position, async () => {
      for (const job of jobs) {
        if (job !== first) await setImmediate(); // spreads the answers of many writes over several iterations
        await job.publish(entries.splice(0, job.entries().length));
      }
    });
  };

  /** Stores the entries of a transaction in the audit log, and its changes in the log of changes. */
  const record = async (tx: Transaction, jobs: readonly Job[]): Promise<Recorded> => {
    const entries = jobs.flatMap((job) => job.entries());
    const changes = changeLog === undefined ? [] : jobs.flatMap((job) => job.changes());
    if (changeLog === undefined || changes.length === 0) return { entries: await addAuditEntries(tx, entries) };
    const recorded = await changeLog.add(tx, entries, JSON.stringify(changes));
    if (recorded.position) follower.committing(recorded.position);
    return recorded;
  };

  /** Whether a transaction that failed was committed nevertheless: the response to its COMMIT was lost. */
  const wasCommitted = async (recorded: Recorded | undefined): Promise<boolean> => {
    let committed = false;
    try {
      committed = recorded?.position !== undefined && await follower.isCommitted(recorded.position);
    } catch {
      // Nobody knows: the writes fail with the error of the commit, and the log is followed when it can be read again.
    }
    if (!committed) follower.givenUp();
    return committed;
  };

  /** Adds a write to a transaction, or rolls it back alone if it fails. */
  const join = async (jobs: Set<Job>, job: Job, tx: Transaction): Promise<void> => {
    jobs.add(job);
    await savepoints.set(tx);
    try {
      await attempt(job, tx);
    } catch (error) {
      await savepoints.undo(tx);
      jobs.delete(job);
      await job.fail(error);
    }
  };

  const work = async (): Promise<void> => {
    running = true;
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await together(job);
    running = false;
  };

  return <T>(run: (tx: Transaction) => Promise<T>, options: WriteOptions<T> = {}) => {
    if (inside.getStore() === true && options.background !== true) {
      throw new Error('a transaction inside a transaction would wait for itself: pass tx on instead');
    }
    return new Promise<T>((resolve, reject) => {
      waiting.push(jobOf(run, options, resolve, reject));
      if (!running) void work();
    });
  };
}

function jobOf<T>(
  run: (tx: Transaction) => Promise<T>,
  { entries, changes, committed, ended, alone = false, long = false }: WriteOptions<T>,
  resolve: (result: T) => void,
  reject: (error: unknown) => void,
): Job {
  let done: { readonly result: T } | undefined;
  const end = async (answer: () => void): Promise<void> => {
    try {
      await ended?.();
      answer();
    } catch (error) {
      reject(error);
    }
  };
  return {
    alone: alone || long,
    long,
    followed: changes !== undefined,
    async run(tx) {
      done = { result: await run(tx) };
    },
    entries: () => done === undefined ? [] : entries?.(done.result) ?? [],
    changes: () => done === undefined ? [] : changes?.(done.result) ?? [],
    async publish(audited) {
      if (done === undefined) throw new Error('a write is published after it was stored');
      const { result } = done;
      try {
        await committed?.(result, audited);
      } catch (error) {
        return end(() => reject(error));
      }
      return end(() => resolve(result));
    },
    fail: (error) => end(() => reject(error)),
  };
}
