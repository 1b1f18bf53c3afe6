import type { AditError } from './errors.ts';

/**
 * Runs a write and answers with `error` when it breaks a unique index. The check before a write can't see what another
 * process is just writing; the index does.
 */
export async function uniqueOr<T>(error: AditError, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw cause instanceof Error && 'code' in cause && cause.code === 'P2002' ? error : cause;
  }
}
