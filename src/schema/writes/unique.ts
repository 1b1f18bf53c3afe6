import type { AditError } from '../errors.ts';

/**
 * Runs a write, and throws `error` if it violates a unique index. A check before the write would miss concurrent writes of
 * another process; the index catches them.
 */
export async function uniqueOr<T>(error: AditError, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw cause instanceof Error && 'code' in cause && cause.code === 'P2002' ? error : cause;
  }
}
