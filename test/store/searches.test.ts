import path from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { RowsTooLongError, SearchTooBroadError } from '../../src/store/errors.ts';
import { searchAudit } from '../../src/store/hot/audit.ts';
import type { HotQuery } from '../../src/store/hot/binder.ts';
import { clientConditions } from '../../src/store/hot/conditions.ts';
import { PostgresqlReader } from '../../src/store/hot/postgresql-reader.ts';
import type { HotReader } from '../../src/store/hot/reader.ts';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { HotConnection, MOST_PREPARED } from '../../src/store/sqlite/hot-connection.ts';
import { TooLongError } from '../../src/store/sqlite/failure.ts';
import type { ReaderRequest } from '../../src/store/sqlite/protocol.ts';
import { Searches } from '../../src/store/sqlite/search.ts';
import { WorkerLink } from '../../src/store/sqlite/worker-link.ts';
import { eitherDialect, testDatabases } from '../support/database.ts';
import { startPostgresql } from '../support/postgresql.ts';
import { describeWith } from '../support/programs.ts';
import { seedClients, seedTunnels } from '../support/seed.ts';
import { longestHold } from '../support/thread-time.ts';

eitherDialect('a search', (databases) => {
  test('finds in a table of any size what it holds, in every order and part by part, with the total', async () => {
    const store = await databases.openEmpty();
    const ids = await seedClients(store, 10_000, (n) => ({ remark: n % 3 === 0 ? `Äpfel & 100% ${n}` : `office_${9999 - n}` }));
    const remarks = ids.map((_, index) => (index + 1) % 3 === 0 ? `Äpfel & 100% ${index + 1}` : `office_${9998 - index}`);
    for (const search of ['OFFICE_', 'äPFEL', '0%', 'e_9', '\\', 'no hit']) {
      const wanted = remarks.filter((remark) => remark.toLowerCase().includes(search.toLowerCase())).length;
      expect([search, (await store.clientPage({ search, offset: 0, limit: 0 })).total]).toEqual([search, wanted]);
    }
    const byRemark = await store.clientPage({ search: 'office_', orderBy: 'REMARK', desc: true, offset: 5, limit: 3 });
    expect(byRemark.total).toBe(6667);
    const all = ids.map((id, index) => ({ id, remark: (index + 1) % 3 === 0 ? '' : `office_${9998 - index}` })).filter(({ remark }) => remark !== '');
    const sorted = all.toSorted((a, b) => a.remark < b.remark ? 1 : a.remark > b.remark ? -1 : b.id - a.id);
    expect(byRemark.rows.map(({ remark }) => remark)).toEqual(sorted.slice(5, 8).map(({ remark }) => remark));
    expect((await store.clientPage({ search: 'office_', desc: true, offset: 0, limit: 2 })).rows.map(({ id }) => id)).toEqual(
      all.slice(-2).map(({ id }) => id).toReversed(),
    );
    let walked = 0;
    for await (const { rows, total } of store.clientPages({ search: 'office_', offset: 10 })) {
      walked += rows.length;
      expect(total).toBe(6667);
    }
    expect(walked).toBe(6657);
  });

  test('for what nearly matches long texts does not hold up the event loop', async () => {
    const store = await databases.openEmpty();
    const [clientId = 0] = await seedClients(store, 1);
    await seedTunnels(store, clientId, 300, () => ({ target: `${'a'.repeat(16_000)}\n` }));
    const search = `${'a'.repeat(960)}b`;
    const none = { rows: [], total: 0 };
    // A busy machine may need more time for one than a search has.
    const page = () =>
      store.tunnelPage({ search, offset: 0, limit: 10 }).catch((error: unknown) => error instanceof SearchTooBroadError ? none : Promise.reject(error));
    const hold = await longestHold(async () => {
      const pages = await Promise.all(Array.from({ length: 29 }, page));
      expect(pages).toEqual(Array.from({ length: 29 }, () => none));
    });
    expect(hold).toBeLessThan(50);
  });
});

eitherDialect('filters', (databases) => {
  test('leave no prepared statement behind for each way to combine their conditions', async () => {
    const store = await databases.openEmpty();
    await seedClients(store, 3);
    const prepared = jest.spyOn(pg.Client.prototype, 'query');
    try {
      for (const connected of [undefined, true, false]) {
        for (const enabled of [true, false]) {
          for (const owned of [undefined, true, false]) {
            await store.clientPage({ conditions: clientConditions({ connected, enabled, owned }), offset: 0, limit: 1 });
          }
        }
      }
      const names = prepared.mock.calls.flatMap(([query]: unknown[]) =>
        typeof query === 'object' && query !== null && 'name' in query && typeof query.name === 'string' ? [query.name] : []
      );
      expect(new Set(names).size).toBeLessThanOrEqual(1); // of the rows themselves
    } finally {
      prepared.mockRestore();
    }
  });
});

describe('a connection for hot queries', () => {
  const databases = testDatabases('sqlite');

  test('keeps so many statements prepared and no more', async () => {
    const database = await databases.create();
    await (await database.open()).close();
    const connection = new HotConnection(path.join(database.dataDir, databaseFileName));
    for (let n = 0; n <= MOST_PREPARED; n++) expect(connection.rows(`SELECT ${n} AS n`, []).rows).toEqual([`[${n}]`]);
    expect(connection.prepared).toBeLessThanOrEqual(MOST_PREPARED);
    connection.close();
  });
});

describe('a search that works for too long', () => {
  const databases = testDatabases('sqlite');

  test('is ended between two parts on SQLite, and leaves the worker to others', async () => {
    const database = await databases.create();
    const store = await database.open();
    const [clientId = 0] = await seedClients(store, 1);
    await seedTunnels(store, clientId, 1000);
    const search = { table: 'Tunnel', text: 'tunnel', withoutSecrets: false, where: {} } as const;
    const link = new WorkerLink<ReaderRequest>(path.join(database.dataDir, databaseFileName), 'reader', () => {});
    const [broad, narrow] = await Promise.allSettled([link.ask('search', search, 0), link.ask('search', search, 2000)]);
    expect(broad).toMatchObject({ status: 'rejected', reason: { failure: { tooLong: true } } });
    expect(narrow).toMatchObject({ status: 'fulfilled', value: { total: 1000 } });
    await link.close();
  });
});

describeWith('initdb', 'a search that works for too long on PostgreSQL', () => {
  test('is ended by the database', async () => {
    const server = await startPostgresql();
    const url = await server.createDatabase();
    const [pool, searchPool] = [new pg.Pool({ connectionString: url }), new pg.Pool({ connectionString: url, statement_timeout: 50 })];
    const reader = new PostgresqlReader(pool, searchPool);
    // Reading the stamps takes 20 s.
    await pool.query(`CREATE VIEW "SearchSegment" AS SELECT 'Client' AS resource, 0 AS segment, length(pg_sleep(20)::text) AS stamp`);
    await expect(reader.search({ table: 'Client', text: 'x', withoutSecrets: false, where: {} })).rejects.toMatchObject({ name: 'SearchTooBroadError' });
    // Rows with too much text are not read to their end, and the pool goes on.
    const texts = (most: number) => reader.rows({ text: `SELECT repeat('x', 100) AS text FROM generate_series(1, 3)`, values: [], most });
    await expect(texts(299)).rejects.toBeInstanceOf(RowsTooLongError);
    expect(await texts(300)).toHaveLength(3);
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
    await reader.close();
    await pool.end();
    await server.stop();
  });
});

test('the parts of a search together may work for the given time', async () => {
  const read: unknown[] = [];
  const connection = {
    rows(_sql: string, values: readonly unknown[]) {
      if (read.push(values) > 1000) throw new Error('it never ends');
      return { columns: [], rows: [`[${String(values.at(-1))},1,"[]"]`] };
    },
  } as unknown as HotConnection;
  let time = 0;
  const now = jest.spyOn(performance, 'now').mockImplementation(() => (time += 3));
  try {
    const search = { table: 'Client', text: '', conditions: [{ sql: 'true' }], withoutSecrets: true, where: {} } as const;
    const ended = new Promise((resolve, reject) => new Searches(connection, (work) => work()).run(search, 200, { resolve, reject }));
    await expect(ended).rejects.toThrow(TooLongError);
    // Each statement takes 9 ms by this clock.
    expect(read.length).toBeGreaterThan(15);
    expect(read.length).toBeLessThan(30);
  } finally {
    now.mockRestore();
  }
});

test('a search looks at 100,000 entries at most, and says where it stopped; ids of a part come newest first', async () => {
  const asked: unknown[] = [];
  const reader = (parts: number): HotReader => ({
    dialect: 'sqlite',
    async rows<Row>({ values }: HotQuery) {
      asked.push(values);
      const last = 1_000_000 - 5000 * asked.length;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statement
      return [{ looked: asked.length < parts ? 5000n : 4999n, last, ids: `[${last},${last + 1}]` }] as Row[];
    },
    manyRows: () => Promise.reject(new Error('not used')),
    search: () => Promise.reject(new Error('not used')),
    close: () => Promise.resolve(),
  });
  const found = await searchAudit(reader(1000), { search: 'x' });
  expect([found.ids.length, found.ids.slice(0, 3), found.last, asked.length]).toEqual([40, [995_001, 995_000, 990_001], 900_000, 20]);
  asked.length = 0;
  expect(await searchAudit(reader(2), { search: 'x', beforeId: 77 })).toEqual({ ids: [995_001, 995_000, 990_001, 990_000] });
  expect(asked.map((values) => JSON.stringify(values))).toEqual([expect.stringContaining('77'), expect.stringContaining('995000')]);
});
