import path from 'node:path';
import { expect, test } from '@jest/globals';
import { openDatabase } from '../../../src/store/sqlite/binding.ts';
import { HotConnection } from '../../../src/store/sqlite/hot-connection.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const file = path.join(temporaryDirectory(), 'hot.db');

test('pages with long texts are read here again and again, as long as they have no more than 2 MB', () => {
  const database = openDatabase(file);
  database.exec('CREATE TABLE t (x TEXT)');
  const put = (length: number): void => database.exec(`DELETE FROM t; INSERT INTO t VALUES ('${'x'.repeat(length)}')`);
  put(10);
  const hot = new HotConnection(file);
  const read = () => hot.page('SELECT x FROM t', []);
  expect(read()).toMatchObject({ rows: [['x'.repeat(10)]], short: true });
  // After a long page, the next one is thought to be long, too. Pages that are not known to be short are kept by nobody.
  const shorts = [5000, 5000, 20, 20, 2 * 1024 * 1024, 2 * 1024 * 1024].map((length) => {
    put(length);
    const page = read();
    expect(page?.rows).toEqual([['x'.repeat(length)]]);
    return page?.short;
  });
  expect(shorts).toEqual([false, false, false, true, false, false]);
  put(2 * 1024 * 1024 + 1);
  expect([read(), read()]).toEqual([undefined, undefined]);
  hot.close();
  // Bytes count, not characters.
  database.exec(`DELETE FROM t; INSERT INTO t VALUES ('${'ä'.repeat(1024 * 1024 + 1)}')`);
  const other = new HotConnection(file);
  expect(other.page('SELECT x FROM t', [])).toBeUndefined();
  other.close();
  database.close();
});

test('rows with NULL, numbers beyond doubles and BLOBs are read by any way, their bytes counted; other errors are errors', () => {
  const database = openDatabase(file);
  const long = 'y'.repeat(5000);
  database.exec(`CREATE TABLE u (id INTEGER, x TEXT, y TEXT, n BIGINT); INSERT INTO u VALUES (1, NULL, '${long}', 9007199254740993), (2, 'ä', NULL, -1)`);
  const hot = new HotConnection(file);
  const all = 'SELECT * FROM u ORDER BY id';
  const rows = [[1, null, long, '9007199254740993'], [2, 'ä', null, -1]];
  // The first time, texts are thought to be short.
  for (let turn = 0; turn < 2; turn++) expect(hot.page(all, [])?.rows).toEqual(rows);
  expect([hot.bytes(all, []), hot.bytes('SELECT id, n FROM u', []), hot.rows(all, []).rows.map((row): unknown => JSON.parse(row))]).toEqual([5002, 0, rows]);
  database.exec("INSERT INTO u VALUES (3, x'6162', 'z', 0)");
  expect(hot.rows(all, []).rows).toHaveLength(3);
  const wrong = 'SELECT x FROM u WHERE abs(n - 9223372036854775807) > id';
  for (const read of [() => hot.bytes(wrong, []), () => hot.rows(wrong, []), () => hot.page(wrong, [])]) expect(read).toThrow('integer overflow');
  hot.close();
  database.close();
});
