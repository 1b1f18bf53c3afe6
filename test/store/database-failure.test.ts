import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { databaseFailure, failureNote } from '../../src/store/database-failure.ts';
import { DatabaseHealth } from '../../src/store/database-health.ts';
import { DatabaseSockets } from '../../src/store/database-sockets.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { isBusy, sqliteCode } from '../../src/store/sqlite/codes.ts';
import { adapterError, failureOf, NulError, TooLongError } from '../../src/store/sqlite/failure.ts';
import { StatementError, WorkerLostError } from '../../src/store/sqlite/worker-link.ts';
import type { Transaction } from '../../src/store/transaction.ts';
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
    ...([[5, 'DATABASE_BUSY'], [522, 'DATABASE_UNAVAILABLE'], [1, undefined], [undefined, undefined]] as const)
      .map(([errcode, failure]) => [`what a worker says of SQLite's code ${errcode}`, new StatementError({ message: 'x', errcode }), failure] as const),
    ['a worker that is gone', new WorkerLostError('x', { cause: coded('53100') }), 'DATABASE_UNAVAILABLE'],
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

test('the log has why the database is not usable in one line, and other errors as they are', () => {
  const note = (cause: object) => failureNote(adapter(cause));
  expect(note({ originalCode: '53100', originalMessage: 'no space\nleft' })).toEqual({ code: 'DATABASE_FULL', reason: 'left' });
  expect(note({ kind: 'ConnectionClosed' })).toEqual({ code: 'DATABASE_UNAVAILABLE', reason: 'ConnectionClosed' });
  const prisma = Object.assign(new Error('\nInvalid call\n\nCannot reach it'), { code: 'P1001' });
  expect(failureNote(prisma)).toEqual({ code: 'DATABASE_UNAVAILABLE', reason: 'Cannot reach it' });
  const several = Object.assign(new AggregateError([new Error('one'), new Error('two')]), { code: 'ECONNREFUSED' });
  expect(failureNote(several)).toEqual({ code: 'DATABASE_UNAVAILABLE', reason: 'one; two' });
  for (const other of [new Error('oops'), 'text', null]) expect(failureNote(other)).toEqual({ err: other });
});

test('errors are sent between threads with what matters of them, and Prisma gets them in its form', () => {
  expect(failureOf(new NulError())).toEqual({ message: 'a text for the database holds a NUL character', nul: true });
  expect(failureOf(new TooLongError('x'))).toEqual({ message: 'x', tooLong: true });
  expect(failureOf(new Error('x'))).toEqual({ message: 'x', errcode: undefined });
  expect(failureOf(Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode: 517 }))).toEqual({ message: 'x', errcode: 517 });
  const unique = 'UNIQUE constraint failed: main.t.a, main.t.b';
  const violation = { kind: 'UniqueConstraintViolation', table: 'main.t', constraint: { fields: ['a', 'b'] } };
  expect(adapterError({ message: unique, errcode: 2067 })).toEqual({ originalCode: '2067', originalMessage: unique, ...violation });
  expect(adapterError({ message: unique, errcode: 1555 })).toMatchObject(violation);
  expect(adapterError({ message: 'x', errcode: 1811 })).toMatchObject({ kind: 'ForeignKeyConstraintViolation' });
  for (const errcode of [5, 517]) expect(adapterError({ message: 'x', errcode })).toMatchObject({ kind: 'SocketTimeout', originalCode: String(errcode) });
  expect(adapterError({ message: 'x', errcode: 11 })).toEqual({ originalCode: '11', originalMessage: 'x', kind: 'sqlite', extendedCode: 11, message: 'x' });
  expect(adapterError({ message: 'x', nul: true })).toEqual({ kind: 'InvalidInputValue', message: 'x' });
  for (const other of [{ message: 'x' }, { message: 'x', tooLong: true } as const]) expect(adapterError(other)).toBeUndefined();
});

test.each([
  ['UNIQUE constraint failed: t.x', 2067],
  ['NOT NULL constraint failed: t.x', 1299],
  ['FOREIGN KEY constraint failed', 787],
  ['database is locked', 5],
  ['database table is locked', 6],
  ['attempt to write a readonly database', 8],
  ['disk I/O error', 10],
  ['database disk image is malformed', 11],
  ['database or disk is full', 13],
  ['unable to open database file', 14],
  ['file is not a database', 26],
  ['no such table: t', 1],
])('an error of SQLite without a code has it by its message: %s', (message, code) => {
  const error = Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR' });
  expect([sqliteCode(error), isBusy(error)]).toEqual([code, code === 5 || code === 6]);
  expect([sqliteCode(new Error(message)), isBusy(new Error(message)), sqliteCode(message)]).toEqual([undefined, false, undefined]);
});

describe('the sockets of a silent database', () => {
  const silent = { name: 'DatabaseSilentError', code: 'ETIMEDOUT' };

  test('end as soon as it is known to be silent, new ones at once, until it answers again; one without a response ends after ten seconds', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const sockets = new DatabaseSockets();
    const nextIteration = () =>
      new Promise((resolve) => {
        setImmediate(resolve);
      });
    const opened = async () => {
      const socket = sockets.create();
      await once(socket.connect(port, '127.0.0.1'), 'connect');
      return socket;
    };
    const both = await Promise.all([opened(), opened()]);
    const ended = Promise.all(both.map((socket) => once(socket, 'error')));
    sockets.silent(true);
    expect(await ended).toMatchObject([[silent], [silent]]);
    const refused = sockets.create();
    const refusal = once(refused, 'error');
    await nextIteration();
    expect(refused.destroyed).toBe(true);
    expect(await refusal).toMatchObject([silent]);
    sockets.silent(false);
    const last = await opened();
    await nextIteration();
    expect(last.destroyed).toBe(false);
    expect(last.timeout).toBe(10_000);
    const end = once(last, 'error');
    last.emit('timeout');
    expect(await end).toMatchObject([silent]);
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
});

test('a database is healthy if it can be read; after a write that it has refused, a write to every table has to succeed first, for which it has a second', async () => {
  const trial = { read: async (): Promise<void> => {}, write: async (): Promise<void> => {} };
  const tried: string[] = [];
  const health = new DatabaseHealth((run) => run({} as Transaction), {
    read: () => trial.read(),
    write(transaction) {
      tried.push(transaction === health.transaction ? 'write' : 'a write that nobody watches');
      return trial.write();
    },
  });
  trial.read = () => Promise.reject(coded('57P01'));
  await expect(health.check()).rejects.toMatchObject({ code: '57P01' });
  trial.read = async () => {};
  const refused = (code: string) => health.transaction(() => Promise.reject(coded(code))).catch(() => {});
  await refused('42601');
  await health.check();
  expect(tried).toEqual([]);
  await refused('53100');
  trial.write = () => new Promise(() => {});
  await expect(health.check()).rejects.toMatchObject({ code: '53100' });
  trial.write = () => Promise.reject(coded('55P03'));
  await expect(health.check()).rejects.toMatchObject({ code: '55P03' });
  trial.write = async () => {};
  for (let check = 0; check < 2; check++) await health.check();
  expect(tried).toEqual(['write', 'write', 'write']);
});
