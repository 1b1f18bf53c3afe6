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
  for (const length of [5000, 5000, 20, 20, 2 * 1024 * 1024, 2 * 1024 * 1024]) {
    put(length);
    expect(read()?.rows).toEqual([['x'.repeat(length)]]);
  }
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
