import { AsyncLocalStorage } from 'node:async_hooks';
import { messageOf } from './errors.ts';
import type { Prisma, PrismaClient } from './generated/sqlite/client.ts';
import type { Dialect } from './migrations.ts';

/** The client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

/** Runs a function in a transaction. */
export type RunTransaction = <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;

/** Under this lock the processes that share a PostgreSQL database write, one at a time. */
const writerLock = 72707370;

/** A deadlock with a write outside these transactions is resolved by starting again. */
const attempts = 3;

/**
 * Makes the store's one way to write several rows. Transactions run one after the other, on SQLite because it has one
 * writer, on PostgreSQL by a lock that all processes share: what a transaction has checked holds when it commits, at
 * PostgreSQL's default isolation (read committed: each statement sees what those before it committed) and without the
 * retries that Serializable would ask for. Waiting here, not in the pool, leaves the connections to readers.
 *
 * Inside, use `tx` only: `db` waits for the transaction to end. The function may run again, so it must do nothing outside
 * the database; what it throws rolls everything back.
 */
export function transactions(db: PrismaClient, dialect: Dialect): RunTransaction {
  const inside = new AsyncLocalStorage<true>();
  let last: Promise<unknown> = Promise.resolve();

  const attempt = async <T>(run: (tx: Transaction) => Promise<T>): Promise<T> => {
    for (let left = attempts - 1; ; left--) {
      try {
        return await db.$transaction(async (tx) => {
          if (dialect === 'postgresql') await tx.$executeRaw`SELECT pg_advisory_xact_lock(${writerLock})`;
          return inside.run(true, () => run(tx));
        });
      } catch (error) {
        if (left === 0 || !isConflict(error)) throw error;
      } finally {
        // As long as it is on, Node tracks every promise of the program: a tenth of what a list costs.
        inside.disable();
      }
    }
  };

  return (run) => {
    if (inside.getStore() === true) throw new Error('a transaction inside a transaction would wait for itself: pass tx on instead');
    const turn = last.then(() => attempt(run));
    last = turn.catch(() => undefined); // the caller has the error; the next one's turn comes all the same
    return turn;
  };
}

/** PostgreSQL gave the transaction up in favour of another: as Prisma's code, or from the adapter without one. */
function isConflict(error: unknown): boolean {
  return (typeof error === 'object' && error !== null && 'code' in error && error.code === 'P2034') || messageOf(error).includes('TransactionWriteConflict');
}
