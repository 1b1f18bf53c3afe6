/**
 * The database can't be used: it can't be opened or reached, or its migrations don't fit the program. The message is one
 * line for the operator and never holds a password.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** A search worked for as long as one may: its text, or the list that it is about, has to be narrower. */
export class SearchTooBroadError extends Error {
  override readonly name = 'SearchTooBroadError';

  constructor() {
    super('the search took too long');
  }
}

/** What an unknown error says. Several failed attempts (a host with several addresses) come as one error without a text of its own. */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  return 'errors' in error && Array.isArray(error.errors) ? error.errors.map(messageOf).join('; ') : String(error.message);
}
