import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { addAuditEntries, type NewAuditEntry } from './audit.ts';
import { databaseFailure } from './database-failure.ts';
import { LOCK_FORGOTTEN_MS } from './prisma-options.ts';
import type { AuditEntry, Prisma, PrismaClient } from './generated/sqlite/client.ts';

/** The client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

/** Further options of a write. */
export interface WriteOptions<T> {
  /** The audit entries of the write, stored in its transaction. */
  readonly entries?: (result: T) => readonly NewAuditEntry[];
  /** Called after the commit of rows and entries, before the next transaction begins. The write resolves when it is done, or fails with its error. */
  readonly committed?: (result: T, entries: readonly AuditEntry[]) => Promise<void>;
  /** Called last, whether the write succeeded or not, before the next transaction begins. */
  readonly ended?: () => Promise<void>;
  /** The write shares its transaction with no others, because it reads what `committed` of earlier writes changes. */
  readonly alone?: boolean;
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
  readonly run: (tx: Transaction) => Promise<void>;
  readonly entries: () => readonly NewAuditEntry[];
  /** After the commit. */
  readonly publish: (entries: readonly AuditEntry[]) => Promise<void>;
  /** After a rollback. */
  readonly fail: (error: unknown) => Promise<void>;
}

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
 * Inside, use `tx` only. If `run` throws, everything it wrote is rolled back.
 * @param claimed called before each commit: resolves while no other server has claimed the database; the writes fail with its error
 */
export function transactions(db: PrismaClient, claimed: () => Promise<void>, savepoints: Savepoints): RunTransaction {
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

  const together = async (first: Job): Promise<void> => {
    /** The writes of the transaction, without those that were rolled back alone. */
    const jobs = new Set([first]);
    let entries: AuditEntry[];
    try {
      entries = await db.$transaction(async (tx) => {
        await attempt(first, tx);
        for (let count = 1; count < mostTogether && !first.alone && waiting[0]?.alone === false; count++) {
          const job = waiting.shift();
          if (job !== undefined) await join(jobs, job, tx);
        }
        const entries = await addAuditEntries(tx, Array.from(jobs).flatMap((job) => job.entries()));
        await claimed();
        return entries;
      });
    } catch (error) {
      for (const job of jobs) await job.fail(error);
      return;
    } finally {
      // While it is enabled, Node tracks every promise of the program, which is a tenth of the cost of a list.
      inside.disable();
    }
    for (const job of jobs) {
      if (job !== first) await setImmediate(); // spreads the answers of many writes over several iterations
      await job.publish(entries.splice(0, job.entries().length));
    }
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
  { entries, committed, ended, alone = false }: WriteOptions<T>,
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
    alone,
    async run(tx) {
      done = { result: await run(tx) };
    },
    entries: () => done === undefined ? [] : entries?.(done.result) ?? [],
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
