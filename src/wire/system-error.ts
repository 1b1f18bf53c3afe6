/** The errno name ("ECONNREFUSED") of a system error; "" for anything else. */
export function errnoOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The port that a system error is about; undefined = it names none. */
export function portOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'port' in error && typeof error.port === 'number' ? error.port : undefined;
}

/** The message of an error; if Node combined several (one for each address of a name), all messages. */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) return error.errors.map(messageOf).join(', ');
  return 'message' in error && typeof error.message === 'string' ? error.message : 'unknown error';
}
