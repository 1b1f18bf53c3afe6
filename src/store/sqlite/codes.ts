/** The kinds of errors that the store handles specially (https://sqlite.org/rescode.html). */
export const sqliteCodes = {
  error: 1,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
  constraintForeignKey: 787,
  constraintNotNull: 1299,
  constraintPrimaryKey: 1555,
  constraintTrigger: 1811,
  constraintUnique: 2067,
} as const;

/** The messages of errors that this package's `all` and `iterate` throw without a code; Node's own module sets one. */
const codesOfMessages: readonly (readonly [text: string, code: number])[] = [
  ['UNIQUE constraint failed', sqliteCodes.constraintUnique],
  ['NOT NULL constraint failed', sqliteCodes.constraintNotNull],
  ['FOREIGN KEY constraint failed', sqliteCodes.constraintForeignKey],
  ['database is locked', sqliteCodes.busy],
  ['database table is locked', sqliteCodes.locked],
  ['attempt to write a readonly database', sqliteCodes.readOnly],
  ['disk I/O error', sqliteCodes.ioError],
  ['database disk image is malformed', sqliteCodes.corrupt],
  ['database or disk is full', sqliteCodes.full],
  ['unable to open database file', sqliteCodes.cantOpen],
  ['file is not a database', sqliteCodes.notADatabase],
];

/** SQLite's extended error code; the lower eight bits are the primary code. undefined = not an error of SQLite */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR')) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  return codesOfMessages.find(([text]) => error.message.startsWith(text))?.[1] ?? sqliteCodes.error;
}

/** The primary code of an extended error code. */
export function primaryCode(errcode: number): number {
  return errcode & 0xff;
}

/** Whether an error means that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (primaryCode(code) === sqliteCodes.busy || primaryCode(code) === sqliteCodes.locked);
}
