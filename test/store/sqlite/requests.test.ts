import path from 'node:path';
import process from 'node:process';
import { type ArgType, ColumnTypeEnum, type SqlQuery } from '@prisma/driver-adapter-utils';
import { expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { SqliteAdapterFactory, type WriterLink } from '../../../src/store/sqlite/adapter.ts';
import { argumentsOf } from '../../../src/store/sqlite/arguments.ts';
import { openDatabase } from '../../../src/store/sqlite/binding.ts';
import { Connection } from '../../../src/store/sqlite/connection.ts';
import { forgetHalt, guarded, guardMemory, halt, haltAtExit } from '../../../src/store/sqlite/exit-guard.ts';
import { NulError, TooLongError } from '../../../src/store/sqlite/failure.ts';
import type { ReaderRequest, WriterRequest } from '../../../src/store/sqlite/protocol.ts';
import { Reader } from '../../../src/store/sqlite/reader.ts';
import { StatementError } from '../../../src/store/sqlite/worker-link.ts';
import { Writer } from '../../../src/store/sqlite/writer.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/* What database workers do, in this thread. */

const directory = temporaryDirectory();
const work = (now: () => void): void => now();
const json = z.string().transform((text): unknown => JSON.parse(text));

test('the writer undoes what is behind a savepoint, reads beside a transaction what is committed, and closes when all others have written', async () => {
  const file = path.join(directory, 'writer.db');
  const writer = new Writer(file, work);
  const ask = (...request: WriterRequest) => new Promise<unknown>((resolve, reject) => writer.serve(request, { resolve, reject }));
  const rows = (answer: unknown) => z.tuple([z.tuple([z.literal('x')]), z.tuple([z.number()]), json]).parse(answer)[2];
  const stored = async () => rows(await ask('read', 'SELECT x FROM t ORDER BY x', []));
  await ask('script', 'CREATE TABLE t (x INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)');
  expect(await ask('execute', 'INSERT INTO t VALUES (?)', [2], 1)).toBe(1);
  await ask('execute', 'INSERT INTO t VALUES (3)', [], 1, true);
  expect(rows(await ask('query', 'INSERT INTO t VALUES (4) RETURNING x', [], 1))).toEqual([[4]]);
  expect(await stored()).toEqual([[1]]);
  await ask('undo', 1);
  await ask('execute', 'INSERT INTO t VALUES (5)', [], 1, true);
  const outside = ask('query', 'INSERT INTO t VALUES (6) RETURNING x', []);
  await ask('commit', 1);
  expect(rows(await outside)).toEqual([[6]]);
  expect(await stored()).toEqual([[1], [2], [5], [6]]);
  await ask('execute', 'INSERT INTO t VALUES (7)', [], 2);
  const [last, closed] = [ask('execute', 'INSERT INTO t VALUES (8)', []), ask('close')];
  await ask('rollback', 2);
  await Promise.all([last, closed]);
  await expect(stored()).rejects.toThrow(/open/);
  const database = openDatabase(file);
  expect(database.prepare('SELECT group_concat(x) AS x FROM t').all()).toEqual([{ x: '1,2,5,6,8' }]);
  expect(database.prepare('PRAGMA journal_mode').all()).toEqual([{ journal_mode: 'wal' }]);
  database.close();
});

test('the reader sends rows in parts of 500 rows or 256 KB, of several queries at a time, and none of rows with more text than wanted', async () => {
  const file = path.join(directory, 'reader.db');
  const database = openDatabase(file);
  database.exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1201)
    INSERT INTO t SELECT i, CASE WHEN i > 1198 THEN printf('%.*c', 200000, 'x') ELSE '' END FROM n`);
  database.close();
  const reader = new Reader(file, work);
  const ask = (...request: ReaderRequest) => new Promise<unknown>((resolve, reject) => reader.serve(request, { resolve, reject }));
  const part = (answer: unknown) => {
    const [columns, read, next] = z.tuple([z.array(z.object({ name: z.string(), type: z.string().nullable() })), json, z.number()]).parse(answer);
    const ids = z.array(z.tuple([z.number()]).rest(z.string())).parse(read).map(([id]) => id);
    return { columns: columns.map(({ name }) => name), ids: [ids[0], ids.at(-1), ids.length], next };
  };
  const [all, long] = ['SELECT id FROM t ORDER BY id', 'SELECT id, x FROM t WHERE id > ? ORDER BY id'];
  const one = part(await ask('rows', all, []));
  const two = part(await ask('rows', long, [1198], 600_000));
  expect([one, two]).toEqual([
    { columns: ['id'], ids: [1, 500, 500], next: expect.any(Number) },
    { columns: ['id', 'x'], ids: [1199, 1200, 2], next: expect.any(Number) },
  ]);
  expect(part(await ask('next', one.next))).toEqual({ columns: [], ids: [501, 1000, 500], next: one.next });
  expect(part(await ask('next', two.next))).toEqual({ columns: [], ids: [1201, 1201, 1], next: 0 });
  expect(part(await ask('next', one.next))).toEqual({ columns: [], ids: [1001, 1201, 201], next: 0 });
  await expect(ask('next', one.next)).rejects.toThrow(`no rows are left of ${one.next}`);
  await expect(ask('rows', long, [1198], 599_999)).rejects.toThrow(TooLongError);
  expect(part(await ask('rows', all, []))).toMatchObject({ ids: [1, 500, 500] });
  await ask('close');
});

test('values come to Prisma in the form and with the types that it expects', () => {
  const connection = new Connection(path.join(directory, 'values.db'));
  connection.execute('CREATE TABLE v (i INTEGER, b BIGINT, d DATETIME, t TEXT, f BOOLEAN, r REAL, z BLOB)', []);
  const insert = 'INSERT INTO v (i, b, d, t, f, r) VALUES (?, ?, ?, ?, ?, ?)';
  expect(connection.rows(insert, [1, 9007199254740993n, 1000, 'a', 1, 1])).toEqual([[], [], '[]']);
  expect(connection.execute(insert, [2.5, -9007199254740991n, '2030-01-01T00:00:00.000+00:00', null, 0, 1.5])).toBe(1);
  const { Int32, Int64, DateTime, Text, Boolean, Double, UnknownNumber } = ColumnTypeEnum;
  const read = (sql: string) => {
    const [names, types, rows] = connection.rows(sql, []);
    return { names: names.join(''), types, rows: json.parse(rows) };
  };
  expect(read('SELECT i, b, d, t, f, r FROM v ORDER BY i')).toEqual({
    names: 'ibdtfr',
    types: [Int32, Int64, DateTime, Text, Boolean, Double],
    rows: [
      [1, '9007199254740993', '1970-01-01T00:00:01.000Z', 'a', 1, 1],
      [2, -9007199254740991, '2030-01-01T00:00:00.000+00:00', null, 0, 1.5],
    ],
  });
  // No table declares these: the first value that is not NULL says what they are.
  expect(read(`SELECT NULL AS a, NULL AS b, 5 AS c, 1.5 AS d UNION ALL SELECT NULL, 'x', NULL, NULL`)).toEqual({
    names: 'abcd',
    types: [Int32, Text, Int64, UnknownNumber],
    rows: [[null, null, 5, 1.5], [null, 'x', null, null]],
  });
  expect(read('SELECT i FROM v WHERE false')).toEqual({ names: 'i', types: [Int32], rows: [] });
  for (const refused of [() => connection.rows('SELECT ?', ['a\0']), () => connection.execute('DELETE FROM v WHERE t = ?', ['\0'])]) {
    expect(refused).toThrow(NulError);
  }
  connection.execute("UPDATE v SET z = x'00'", []);
  expect(() => read('SELECT z FROM v')).toThrow(TypeError);
  connection.close();
});

const ofType = (scalarType: ArgType['scalarType']): ArgType => ({ scalarType, arity: 'scalar' });

test.each<readonly [unknown, ArgType['scalarType'], unknown]>([
  [true, 'boolean', 1],
  [false, 'boolean', 0],
  [new Date(5), 'datetime', '1970-01-01T00:00:00.005+00:00'],
  ['1970-01-01T00:00:00.005Z', 'datetime', '1970-01-01T00:00:00.005+00:00'],
  ['12', 'int', 12],
  ['1.5', 'float', 1.5],
  ['2.5', 'decimal', 2.5],
  ['9007199254740993', 'bigint', 9007199254740993n],
  ['AQI=', 'bytes', Buffer.from([1, 2])],
  ['12', 'string', '12'],
  ['{}', 'json', '{}'],
  [7, 'string', 7],
  [8n, 'bigint', 8n],
  [null, 'string', null],
])('the value %p of the type %s is stored as %p', (value, type, stored) => {
  expect(argumentsOf({ args: ['first', value], argTypes: [ofType('string'), ofType(type)] })).toEqual(['first', stored]);
});

test('what Prisma asks becomes requests to the writer: reads wait for no transaction, savepoints go with the next statement, nothing follows the end', async () => {
  const asked: unknown[] = [];
  let failure: Error | undefined;
  const link = {
    async ask(...request: WriterRequest) {
      asked.push(request);
      if (failure) throw failure;
      return request[0] === 'query' || request[0] === 'read' ? [['x'], [ColumnTypeEnum.Int32], '[[1]]'] : 3;
    },
    close: async () => void asked.push('close'),
  } as unknown as WriterLink;
  const factory = new SqliteAdapterFactory(link);
  const adapter = await factory.connect();
  const query = (sql: string): SqlQuery => ({ sql, args: [true], argTypes: [ofType('boolean')] });
  const requests = () => asked.splice(0);
  const result = { columnNames: ['x'], columnTypes: [ColumnTypeEnum.Int32], rows: [[1]] };
  expect(await adapter.queryRaw(query('\n select 1'))).toEqual(result);
  expect(await adapter.queryRaw(query('WITH a AS (SELECT 1) DELETE FROM b'))).toEqual(result);
  expect(await adapter.executeRaw(query('DELETE'))).toBe(3);
  await adapter.executeScript('a; b');
  expect(requests()).toEqual([
    ['read', '\n select 1', [1]],
    ['query', 'WITH a AS (SELECT 1) DELETE FROM b', [1]],
    ['execute', 'DELETE', [1]],
    ['script', 'a; b'],
  ]);
  const first = await adapter.startTransaction();
  const second = await adapter.startTransaction();
  expect(await first.queryRaw(query('SELECT 2'))).toEqual(result);
  await factory.set();
  expect(await second.executeRaw(query('a'))).toBe(3);
  await second.queryRaw(query('b'));
  await factory.undo();
  await factory.set();
  await factory.undo(); // nothing was sent behind it
  await second.executeRaw(query('c'));
  await second.commit();
  await second.rollback();
  await first.rollback();
  expect(requests()).toEqual([
    ['query', 'SELECT 2', [1], 1, undefined],
    ['execute', 'a', [1], 2, true],
    ['query', 'b', [1], 2, undefined],
    ['undo', 2],
    ['execute', 'c', [1], 2, undefined],
    ['commit', 2],
    ['rollback', 1],
  ]);
  const over = { name: 'DriverAdapterError', cause: { kind: 'TransactionAlreadyClosed' } };
  for (const late of [() => first.queryRaw(query('d')), () => second.executeRaw(query('d')), () => factory.undo()]) {
    await expect(late()).rejects.toMatchObject(over);
  }
  expect(requests()).toEqual([]);
  failure = new StatementError({ message: 'database is locked', errcode: 5 });
  await expect(adapter.executeRaw(query('e'))).rejects.toMatchObject({ name: 'DriverAdapterError', cause: { kind: 'SocketTimeout', originalCode: '5' } });
  failure = new StatementError({ message: 'out of memory' });
  await expect(adapter.executeRaw(query('e'))).rejects.toBe(failure);
  requests();
  await adapter.dispose();
  expect(requests()).toEqual(['close']);
});

test('when the process ends, work that is under way is done, and no other is begun; that listens as long as a worker runs', () => {
  const memory = guardMemory();
  const done: string[] = [];
  const notified = jest.spyOn(Atomics, 'notify'); // the main thread, which waits for ten seconds otherwise
  guarded(memory, () => done.push('first'));
  expect(notified.mock.calls).toEqual([[memory, 1]]);
  notified.mockRestore();
  expect(() =>
    guarded(memory, () => {
      throw new Error('broken');
    })
  ).toThrow('broken');
  // A store of another suite of this process may be open, and listens, too.
  const listeners = () => process.listeners('exit').filter(({ name }) => name === 'haltAll').length;
  const [before, other] = [listeners(), guardMemory()];
  haltAtExit(memory);
  haltAtExit(other);
  expect(listeners()).toBe(1);
  forgetHalt(memory);
  expect(listeners()).toBe(1);
  forgetHalt(other);
  expect(listeners()).toBe(before);
  halt(memory); // at once, since nothing is under way
  guarded(memory, () => done.push('never'));
  guarded(other, () => done.push('second'));
  expect(done).toEqual(['first', 'second']);
});
