import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { addAuditEntries, type NewAuditEntry } from './audit.ts';
import type { AuditEntry, Prisma, PrismaClient } from './generated/sqlite/client.ts';

/** The client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

/** What else a write wants. */
export interface WriteOptions<T> {
  /** What the audit log says of it, written in its transaction. */
  readonly entries?: (result: T) => readonly NewAuditEntry[];
  /** Called when rows and entries are committed, before the next transaction begins. The write ends when it is through, or fails with what it throws. */
  readonly committed?: (result: T, entries: readonly AuditEntry[]) => Promise<void>;
  /** Called last, whether the write succeeded or not, before the next transaction begins. */
  readonly ended?: () => Promise<void>;
  /** It shares its transaction with no other write: for one that reads what `committed` of those before it changes. */
  readonly alone?: boolean;
  /** Nobody waits for it: it may be asked for while another write runs, inside it too. */
  readonly background?: boolean;
}

/** Runs a function in a transaction. */
export type RunTransaction = <T>(run: (tx: Transaction) => Promise<T>, options?: WriteOptions<T>) => Promise<T>;

/** How a part of a transaction is made to be undone by itself. One savepoint at a time, of the transaction that runs. */
export interface Savepoints {
  set(tx: Transaction): Promise<void>;
  /** Undoes what came since. */
  undo(tx: Transaction): Promise<void>;
}

/** By statements of their own. */
export const plainSavepoints: Savepoints = {
  async set(tx) {
    await tx.$executeRaw`SAVEPOINT write`;
  },
  async undo(tx) {
    await tx.$executeRaw`ROLLBACK TO SAVEPOINT write`;
  },
};

/** A write that waits, or is under way. Neither `publish` nor `fail` throws. */
interface Job {
  readonly alone: boolean;
  readonly run: (tx: Transaction) => Promise<void>;
  readonly entries: () => readonly NewAuditEntry[];
  /** After the commit. */
  readonly publish: (entries: readonly AuditEntry[]) => Promise<void>;
  /** After a rollback. */
  readonly fail: (error: unknown) => Promise<void>;
}

/** The most writes that share a transaction: those behind them wait for the whole. */
const mostTogether = 16;

/**
 * Makes the store's one way to write. Writes run one after the other, in the order they came: what a write has read and checked
 * in `tx` holds when it commits, at PostgreSQL's default isolation (read committed) and without the retries that Serializable
 * needs. Waiting here, not in the pool, leaves the connections to readers.
 *
 * Writes that wait while one runs join its transaction, each behind a savepoint: a commit waits for the disk, and one such wait
 * does for all of them, as one statement does for all their entries in the audit log. None ever waits for another to come. One that fails is
 * rolled back by itself; when the entries or the commit fail, all fail.
 *
 * Inside, use `tx` only. What `run` throws rolls back all it wrote.
 * @param claimed asked before each commit: resolves while no other server has the database; what it throws, the writes fail with
 */
export function transactions(db: PrismaClient, claimed: () => Promise<void>, savepoints: Savepoints): RunTransaction {
  const inside = new AsyncLocalStorage<true>();
  const waiting: Job[] = [];
  let running = false;

  const together = async (first: Job): Promise<void> => {
    /** Those that the transaction is for; one that failed by itself is none of them any more. */
    const jobs = new Set([first]);
    let entries: AuditEntry[];
    try {
      entries = await db.$transaction(async (tx) => {
        await inside.run(true, () => first.run(tx));
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
      // As long as it is on, Node tracks every promise of the program: a tenth of what a list costs.
      inside.disable();
    }
    for (const job of jobs) {
      if (job !== first) await setImmediate(); // the answers of many writes are not made in one go
      await job.publish(entries.splice(0, job.entries().length));
    }
  };

  /** Makes a write part of a transaction, unless it fails by itself. */
  const join = async (jobs: Set<Job>, job: Job, tx: Transaction): Promise<void> => {
    jobs.add(job);
    await savepoints.set(tx);
    try {
      await inside.run(true, () => job.run(tx));
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
    if (inside.getStore() === true && options.background !== true) throw new Error('a transaction inside a transaction would wait for itself: pass tx on instead');
    return new Promise<T>((resolve, reject) => {
      waiting.push(jobOf(run, options, resolve, reject));
      if (!running) void work();
    });
  };
}

function jobOf<T>(run: (tx: Transaction) => Promise<T>, { entries, committed, ended, alone = false }: WriteOptions<T>, resolve: (result: T) => void, reject: (error: unknown) => void): Job {
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
