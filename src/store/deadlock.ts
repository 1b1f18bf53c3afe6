/** Most attempts at a transaction. */
const ATTEMPTS = 5;

/**
 * Runs a transaction that locks rows in another order than transactions of running servers do, and again if PostgreSQL has ended it because each waited for the other.
 * @throws the error of the last attempt, and at once any other error
 */
export async function untilNoDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isDeadlock(error)) throw error;
    }
  }
}

/** Prisma's code for a transaction that the database has ended because of another one. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'P2034';
}
