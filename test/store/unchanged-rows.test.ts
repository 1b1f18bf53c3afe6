import path from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { UnchangedRows } from '../../src/store/hot/unchanged-rows.ts';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { HotConnection } from '../../src/store/sqlite/hot-connection.ts';
import { type TestDatabase, testDatabases } from '../support/database.ts';
import { seedClients } from '../support/seed.ts';
import type { TestStore } from '../support/test-store.ts';

describe('pages that have not changed', () => {
  const databases = testDatabases('sqlite');
  let database: TestDatabase;
  let store: TestStore;

  beforeAll(async () => {
    database = await databases.create();
    store = await database.open();
    await seedClients(store, 30, (n) => ({ remark: `client ${n}` }));
  });

  /** The remarks of the first clients, and how many statements that took. */
  const read = async (limit = 3): Promise<{ remarks: string[]; total: number; statements: number }> => {
    const page = jest.spyOn(HotConnection.prototype, 'page');
    try {
      const { rows, total } = await store.clientPage({ offset: 0, limit });
      return { remarks: rows.map(({ remark }) => remark), total, statements: page.mock.calls.length };
    } finally {
      page.mockRestore();
    }
  };

  test('are read once, and again after each commit of this program or of another connection', async () => {
    await store.db.client.updateMany({ where: { remark: 'client 1' }, data: { remark: 'first' } });
    expect(await read()).toEqual({ remarks: ['first', 'client 2', 'client 3'], total: 30, statements: 2 });
    expect(await read()).toEqual({ remarks: ['first', 'client 2', 'client 3'], total: 30, statements: 0 });

    for (let n = 0; n < 50; n++) {
      await store.transaction((tx) => tx.client.updateMany({ where: { remark: n === 0 ? 'client 2' : `written ${n - 1}` }, data: { remark: `written ${n}` } }));
      expect((await read()).remarks).toEqual(['first', `written ${n}`, 'client 3']);
    }

    const other = openDatabase(path.join(database.dataDir, databaseFileName));
    try {
      other.exec(`BEGIN IMMEDIATE; UPDATE "Client" SET remark = 'by another' WHERE remark = 'client 3'`);
      expect(await read()).toMatchObject({ remarks: ['first', 'written 49', 'client 3'], statements: 0 });
      other.exec('COMMIT');
    } finally {
      other.close();
    }
    expect((await read()).remarks).toEqual(['first', 'written 49', 'by another']);
  });

  test('can be shared: rows are frozen, and changing a returned list does not affect others', async () => {
    const { rows } = await store.clientPage({ offset: 0, limit: 3 });
    expect(() => {
      Object.assign(rows[0] ?? {}, { remark: 'spoiled' });
    }).toThrow(TypeError);
    rows.pop();
    expect((await read()).remarks).toHaveLength(3);
  });

  test('are kept as they were last asked for, 64 at most, and none of more than 50 rows', () => {
    const unchanged = new UnchangedRows<{ n: number }>();
    expect(unchanged.at(1, '50 rows')).toBeUndefined();
    for (const length of [50, 51]) unchanged.keep(`${length} rows`, Array.from({ length }, (_, n) => ({ n })));
    expect([unchanged.at(1, '50 rows')?.length, unchanged.at(1, '51 rows')]).toEqual([50, undefined]);
    for (let n = 0; n < 70; n++) unchanged.keep(`query ${n}`, [{ n }]);
    expect(unchanged.at(1, '50 rows')).toBeUndefined();
    expect(Array.from({ length: 70 }, (_, n) => unchanged.at(1, `query ${n}`)).filter((rows) => rows !== undefined)).toHaveLength(64);
    expect(unchanged.at(1, 'query 69')).toEqual([{ n: 69 }]);
    // Nothing of the former state is left.
    for (const version of [2, 2, 1]) expect(unchanged.at(version, 'query 69')).toBeUndefined();
  });
});
