/**
 * The database can't be used: it can't be opened or reached, or its migrations don't fit the program. The message is one
 * line for the operator and never holds a password.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** A server is running on the database. */
export class ServerRunningError extends StoreError {}

/** The database has not responded for too long. */
export class DatabaseSilentError extends Error {
  override readonly name = 'DatabaseSilentError';
  /** The system's code for a peer that does not respond. */
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the database does not respond');
  }
}

/** A search reached its time limit: its text or its list has to be narrower. */
export class SearchTooBroadError extends Error {
  override readonly name = 'SearchTooBroadError';

  constructor() {
    super('the search took too long');
  }
}

/** The rows have more text than may be read at once (`HotQuery.most`). */
export class RowsTooLongError extends Error {
  override readonly name = 'RowsTooLongError';

  constructor() {
    super('the rows hold too much text to be read at once');
  }
}

/** The message of an unknown error. Several failed attempts (a host with several addresses) are combined in one error without a message of its own. */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  return 'errors' in error && Array.isArray(error.errors) ? error.errors.map(messageOf).join('; ') : String(error.message);
}
