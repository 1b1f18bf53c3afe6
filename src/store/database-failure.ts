import { messageOf } from './errors.ts';
import { primaryCode, sqliteCode, sqliteCodes } from './sqlite/codes.ts';
import { StatementError, WorkerLostError } from './sqlite/worker-link.ts';

/** Why a database can't be used: another program holds its lock, its disk is full, it accepts no changes, or it does not answer. */
export type DatabaseFailure = 'DATABASE_BUSY' | 'DATABASE_FULL' | 'DATABASE_READ_ONLY' | 'DATABASE_UNAVAILABLE';

/** Why an error means that the database is currently unusable; undefined = it doesn't mean that. */
export function databaseFailure(error: unknown): DatabaseFailure | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if (error instanceof WorkerLostError) return 'DATABASE_UNAVAILABLE';
  const sqlite = error instanceof StatementError ? error.failure.errcode : sqliteCode(error);
  if (sqlite !== undefined) return ofSqlite(sqlite);
  return ofAdapter(error) ?? ofCode(textOf(error, 'code')) ?? ofMessage(textOf(error, 'message'));
}

/**
 * The log fields of an error: for an unusable database its code and the database's message in one line; for other errors the error
 * with its stack.
 */
export function failureNote(error: unknown): { readonly code: DatabaseFailure; readonly reason: string } | { readonly err: unknown } {
  const code = databaseFailure(error);
  if (code === undefined || typeof error !== 'object' || error === null) return { err: error };
  const cause = causeOf(error);
  // Prisma's message begins with a line break, names the call, and quotes the original error.
  const said = (cause && (textOf(cause, 'originalMessage') ?? textOf(cause, 'kind'))) ?? messageOf(error);
  return { code, reason: said.trim().split('\n').at(-1) ?? '' };
}

/** Prisma's wrapper for adapter errors, in its own errors and in those of a commit. */
function ofAdapter(error: object): DatabaseFailure | undefined {
  const cause = causeOf(error);
  if (cause === undefined) return undefined;
  const original = textOf(cause, 'originalCode');
  const byCode = original !== undefined && /^\d{1,4}$/.test(original) ? ofSqlite(Number(original)) : ofCode(original);
  return byCode ?? kinds.get(textOf(cause, 'kind') ?? '') ?? ofCode(textOf(cause, 'code'));
}

function causeOf(error: object): object | undefined {
  const meta = partOf(error, 'meta');
  return partOf((meta && partOf(meta, 'driverAdapterError')) ?? error, 'cause');
}

function ofSqlite(errcode: number): DatabaseFailure | undefined {
  switch (primaryCode(errcode)) {
    case sqliteCodes.busy:
    case sqliteCodes.locked:
      return 'DATABASE_BUSY';
    case sqliteCodes.full:
      return 'DATABASE_FULL';
    case sqliteCodes.readOnly:
      return 'DATABASE_READ_ONLY';
    case sqliteCodes.ioError:
    case sqliteCodes.corrupt:
    case sqliteCodes.cantOpen:
    case sqliteCodes.notADatabase:
      return 'DATABASE_UNAVAILABLE';
    default:
      return undefined;
  }
}

/** Prisma's kinds of adapter errors, and its codes (https://www.prisma.io/docs/orm/reference/error-reference). */
const kinds = new Map<string, DatabaseFailure>([
  ['SocketTimeout', 'DATABASE_BUSY'],
  ['TooManyConnections', 'DATABASE_BUSY'],
  ...['DatabaseNotReachable', 'ConnectionClosed', 'TlsConnectionError', 'DatabaseDoesNotExist', 'DatabaseAccessDenied', 'AuthenticationFailed']
    .map((kind): [string, DatabaseFailure] => [kind, 'DATABASE_UNAVAILABLE']),
]);
const prismaCodes = new Map<string, DatabaseFailure>([
  ['P2024', 'DATABASE_BUSY'],
  ['P2028', 'DATABASE_BUSY'],
  ['P1008', 'DATABASE_BUSY'],
  ['P2037', 'DATABASE_BUSY'],
  ...['P1000', 'P1001', 'P1002', 'P1003', 'P1010', 'P1011', 'P1017'].map((code): [string, DatabaseFailure] => [code, 'DATABASE_UNAVAILABLE']),
]);

/** A code of Prisma, of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html), or of the system. */
function ofCode(code: string | undefined): DatabaseFailure | undefined {
  if (code === undefined) return undefined;
  if (code === '53100') return 'DATABASE_FULL';
  if (code === '55P03' || code === '53300') return 'DATABASE_BUSY';
  if (code === '25006') return 'DATABASE_READ_ONLY';
  if (/^(08...|57P0[1-5]|3D000|28...|58030)$/.test(code) || unreachable.has(code)) return 'DATABASE_UNAVAILABLE';
  return prismaCodes.get(code);
}

const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** pg has no codes for what happens to its connections. */
function ofMessage(message: string | undefined): DatabaseFailure | undefined {
  if (message === undefined) return undefined;
  if (/timeout exceeded when trying to connect/.test(message)) return 'DATABASE_BUSY';
  return /^Connection terminated|^Client has encountered a connection error/.test(message) ? 'DATABASE_UNAVAILABLE' : undefined;
}

function partOf(value: object, name: 'meta' | 'driverAdapterError' | 'cause'): object | undefined {
  const part: unknown = Reflect.get(value, name);
  return typeof part === 'object' && part !== null ? part : undefined;
}

function textOf(value: object, name: 'code' | 'message' | 'kind' | 'originalCode' | 'originalMessage'): string | undefined {
  const text: unknown = Reflect.get(value, name);
  return typeof text === 'string' ? text : undefined;
}
