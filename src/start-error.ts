import { failureNote } from './store/database-failure.ts';
import { databasePlace, unreachable } from './store/database-place.ts';
import { StoreError } from './store/errors.ts';

/**
 * The error with which a start ends. If the database has become unusable in the middle of it, it is one line for the operator, since the driver's error does
 * not name the database. Errors of the system stay as they are: they name their file or port.
 */
export function startError(error: unknown, databaseUrl: string): unknown {
  const note = failureNote(error);
  if (!('code' in note) || databaseUrl === '' || error instanceof StoreError || (error instanceof Error && 'syscall' in error)) return error;
  return new StoreError(unreachable(databasePlace(databaseUrl), note.reason), { cause: error });
}
