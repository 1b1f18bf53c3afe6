import path from 'node:path';
import { messageOf, ServerRunningError, StoreError } from './errors.ts';
import { makePrivate } from './private-file.ts';
import { openDatabase, type SqliteDatabase } from './sqlite/binding.ts';
import { isBusy } from './sqlite/codes.ts';

/** The file's name inside the data directory. */
const lockFileName = 'adit.lock';

/**
 * Claims a data directory for this process, since two servers on one SQLite file would not see each other's changes. The lock
 * is SQLite's own, on an empty database next to the file. The system releases it when the process ends, for any reason.
 * @returns a function that releases it
 * @throws {StoreError} if another process holds it
 */
export function lockDataDir(dataDir: string): () => Promise<void> {
  const file = path.join(dataDir, lockFileName);
  let lock: SqliteDatabase | undefined;
  try {
    makePrivate(file);
    lock = openDatabase(file);
    lock.exec('PRAGMA journal_mode = MEMORY'); // nothing is written, so no journal file is needed
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if (isBusy(error)) throw new ServerRunningError(`another server is running on the data directory ${path.resolve(dataDir)}`, { cause: error });
    throw new StoreError(`can't lock the data directory ${path.resolve(dataDir)}: ${messageOf(error)}`, { cause: error });
  }
  const held = lock;
  return async () => {
    held.close();
  };
}
