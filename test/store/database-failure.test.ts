import path from 'node:path';
import { expect, test } from '@jest/globals';
import { databaseFailure, failureNote } from '../../src/store/database-failure.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { adapterError, failureOf } from '../../src/store/sqlite/failure.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
let databases = 0;

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function database(name: string, prepare = 'CREATE TABLE t (x TEXT)') {
  const file = path.join(directory, name);
  const opened = openDatabase(file);
  opened.exec(prepare);
  return { opened, file };
}

test('errors of SQLite say why it is not usable; others mean that the statement is wrong', () => {
  const { opened, file } = database('a.db', 'CREATE TABLE t (x TEXT UNIQUE); INSERT INTO t VALUES (1)');
  const other = openDatabase(file);
  opened.exec('BEGIN IMMEDIATE');
  expect(databaseFailure(thrownBy(() => other.exec('BEGIN IMMEDIATE')))).toBe('DATABASE_BUSY');
  opened.exec('ROLLBACK');
  expect(databaseFailure(thrownBy(() => opened.exec('INSERT INTO t VALUES (1)')))).toBeUndefined();
  expect(databaseFailure(thrownBy(() => opened.exec('SELECT nothing FROM t')))).toBeUndefined();
  other.close();
  opened.close();
});

test('a full disk and a file that cannot be opened are told apart', () => {
  const { opened } = database('small.db');
  opened.exec('PRAGMA max_page_count = 3');
  const full = thrownBy(() => opened.exec('INSERT INTO t VALUES (hex(zeroblob(100000)))'));
  expect(databaseFailure(full)).toBe('DATABASE_FULL');
  expect(failureNote(full)).toEqual({ code: 'DATABASE_FULL', reason: 'database or disk is full' });
  opened.close();
  expect(databaseFailure(thrownBy(() => openDatabase(path.join(directory, 'none', 'b.db'))))).toBe('DATABASE_UNAVAILABLE');
});

const adapter = (cause: object) => Object.assign(new Error('prisma'), { meta: { driverAdapterError: { cause } } });
const coded = (code: string) => Object.assign(new Error('refused'), { code });

test.each(
  [
    ['a full disk of PostgreSQL', coded('53100'), 'DATABASE_FULL'],
    ['a lock of PostgreSQL', coded('55P03'), 'DATABASE_BUSY'],
    ['too many connections', coded('53300'), 'DATABASE_BUSY'],
    ['a server that shuts down', coded('57P01'), 'DATABASE_UNAVAILABLE'],
    ['a database that was deleted', coded('57P04'), 'DATABASE_UNAVAILABLE'],
    ['a connection that was closed because nothing used it', coded('57P05'), 'DATABASE_UNAVAILABLE'],
    ['a standby, which is read-only', coded('25006'), 'DATABASE_READ_ONLY'],
    ['a disk that cannot be read', coded('58030'), 'DATABASE_UNAVAILABLE'],
    ['a wrong password', coded('28P01'), 'DATABASE_UNAVAILABLE'],
    ['a statement that is wrong', coded('42601'), undefined],
    ['a refused connection', coded('ECONNREFUSED'), 'DATABASE_UNAVAILABLE'],
    ["a timeout of Prisma's", coded('P2024'), 'DATABASE_BUSY'],
    ["another error of Prisma's", coded('P2002'), undefined],
    ["SQLite's lock, through the adapter", adapter({ originalCode: '5' }), 'DATABASE_BUSY'],
    ["SQLite's extended code, through the adapter", adapter({ originalCode: `${5 + 256}` }), 'DATABASE_BUSY'],
    ["PostgreSQL's code, through the adapter", adapter({ originalCode: '53100' }), 'DATABASE_FULL'],
    ["the adapter's own error, at the end of a transaction", Object.assign(new Error('commit'), { cause: { originalCode: '53100' } }), 'DATABASE_FULL'],
    ...([[5, 'BUSY'], [6, 'BUSY'], [8, 'READ_ONLY'], [10, 'UNAVAILABLE'], [11, 'UNAVAILABLE'], [13, 'FULL'], [14, 'UNAVAILABLE'], [26, 'UNAVAILABLE']] as const)
      .map(([code, failure]) => [`SQLite's code ${code}`, adapter({ originalCode: String(code + 512) }), `DATABASE_${failure}`] as const),
    ...([1, 2067, 1299] as const).map((code) => [`SQLite's code ${code}`, adapter({ originalCode: String(code) }), undefined] as const),
    ...(['SocketTimeout', 'TooManyConnections'] as const).map((kind) => [kind, adapter({ kind }), 'DATABASE_BUSY'] as const),
    ...(['DatabaseNotReachable', 'ConnectionClosed', 'TlsConnectionError', 'DatabaseDoesNotExist', 'DatabaseAccessDenied', 'AuthenticationFailed'] as const)
      .map((kind) => [kind, adapter({ kind }), 'DATABASE_UNAVAILABLE'] as const),
    ...(['P2024', 'P2028', 'P1008', 'P2037'] as const).map((code) => [code, coded(code), 'DATABASE_BUSY'] as const),
    ...[
      ...['P1000', 'P1001', 'P1002', 'P1003', 'P1010', 'P1011', 'P1017', '08006', '57P02', '57P03', '3D000'],
      ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
    ].map((code) => [code, coded(code), 'DATABASE_UNAVAILABLE'] as const),
    ...(['57P00', '57P06', '23505', '40001'] as const).map((code) => [code, coded(code), undefined] as const),
    ['a connection that pg has lost', new Error('Connection terminated unexpectedly'), 'DATABASE_UNAVAILABLE'],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect'), 'DATABASE_BUSY'],
    ['any other error', new Error('oops'), undefined],
    ['no error', undefined, undefined],
  ] as const,
)('%s', (_, error, code) => {
  expect(databaseFailure(error)).toBe(code);
});

test.each([
  ['SELECT absent FROM t', { kind: 'ColumnNotFound', column: 'absent' }],
  ['INSERT INTO t (absent) VALUES (1)', { kind: 'ColumnNotFound', column: 'absent' }],
  ['SELECT 1 FROM absent', { kind: 'TableDoesNotExist', table: 'absent' }],
  ['INSERT INTO t VALUES (1, 1)', { kind: 'UniqueConstraintViolation', table: 't', constraint: { fields: ['x'] } }],
  ['INSERT INTO t VALUES (NULL, 1)', { kind: 'NullConstraintViolation', constraint: { fields: ['x'] } }],
  ['INSERT INTO t VALUES (2, 9)', { kind: 'ForeignKeyConstraintViolation' }],
])('Prisma learns what is wrong with %s', (statement, error) => {
  const { opened } = database(`adapter-${++databases}.db`, 'CREATE TABLE t (x INT NOT NULL UNIQUE, y INT REFERENCES t (x)); INSERT INTO t VALUES (1, 1)');
  opened.exec('PRAGMA foreign_keys = ON');
  expect(adapterError(failureOf(thrownBy(() => opened.prepare(statement).run())))).toMatchObject(error);
  opened.close();
});
