import { createHash } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { applyMigrations, onlyAdds, readMigrations, type Migration } from '../../src/store/migrations.ts';
import { postgresqlMigrations } from '../../src/store/postgresql.ts';
import { sqliteMigrations } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { eachDialect, testDatabases, type TestDatabase } from '../support/database.ts';
import { isShort } from '../support/endurance.ts';
import { describeWith } from '../support/programs.ts';
import { spawnScript } from '../support/script.ts';
import type { TestStore } from '../support/test-store.ts';

const one: Migration = { name: '0001_one', sql: 'CREATE TABLE one (id INTEGER); INSERT INTO one VALUES (1);' };
const two: Migration = { name: '0002_two', sql: 'CREATE TABLE two (id INTEGER);' };
const adding: Migration = { name: '0002_add_two', sql: 'CREATE TABLE two (id INTEGER);' };
const broken: Migration = { name: '0002_broken', sql: 'CREATE TABLE two (id INTEGER); CREATE TABLE nonsense oops;' };

eachDialect('migrations', (databases) => {
  test('are applied once and recorded as Prisma records them', async () => {
    const database = await databases.create();
    const first = await database.open();
    const migrations = await readMigrations(database.dialect);
    const history = ({ db }: TestStore) =>
      db.$queryRawUnsafe<object[]>(
        'SELECT migration_name, checksum, CAST(applied_steps_count AS CHAR) AS steps, finished_at, started_at, rolled_back_at, logs FROM _prisma_migrations ORDER BY migration_name',
      );
    expect(await history(first)).toEqual(migrations.map(({ name, sql }) => ({
      migration_name: name,
      checksum: createHash('sha256').update(sql).digest('hex'),
      steps: '1',
      finished_at: expect.any(Date),
      started_at: expect.any(Date),
      rolled_back_at: null,
      logs: null,
    })));
    await first.close();
    expect(await history(await database.open())).toHaveLength(migrations.length);
  });

  test('that are missing are added to those that are there, in the order of their names', async () => {
    const database = await databases.create();
    expect(await run(database, [one])).toEqual(['0001_one']);
    expect(await run(database, [one, two])).toEqual(['0002_two']);
    expect(await run(database, [one, two])).toEqual([]);
    expect(await tables(database)).toEqual(['_prisma_migrations', 'one', 'two']);
  });

  test('one of which fails leave the database as it was', async () => {
    const database = await databases.create();
    await expect(run(database, [one, broken])).rejects.toMatchObject({
      name: 'StoreError',
      message: expect.stringMatching(/^migration 0002_broken failed, the database is as before: .*syntax error.*$/),
    });
    expect(await tables(database)).toEqual([]);
    expect(await run(database, [one, two])).toEqual(['0001_one', '0002_two']);
  });

  test('cut short by a kill leave the database as it was', async () => {
    const database = await databases.create();
    const child = spawnScript(new URL('./processes/die-migrating.ts', import.meta.url), [database.url || file(database)]);
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    expect(await run(database, [one, two])).toEqual(['0001_one', '0002_two']);
  });

  test.each([
    [
      'from a newer program',
      [one, two],
      [one],
      "the database is newer than this program: it has migration 0002_two, which this version doesn't know; start the newer version or restore a backup",
    ],
    [
      'edited after it was applied',
      [one],
      [{ ...one, sql: `${one.sql} ` }],
      'migration 0001_one was edited after it was applied: restore its file and put the change into a new migration',
    ],
  ])('%s stop the start', async (_, before, now, message) => {
    const database = await databases.create();
    await run(database, before);
    await expect(run(database, [...now, { name: '0003_never', sql: 'CREATE TABLE never (id INTEGER)' }])).rejects.toMatchObject({
      name: 'StoreError',
      message,
    });
    expect(await tables(database)).not.toContain('never');
  });

  test('that Prisma has rolled back are applied by the next start', async () => {
    const database = await databases.create();
    const marking: Migration = {
      name: '0001_two_rolled_back',
      sql: "INSERT INTO _prisma_migrations (id, checksum, migration_name, rolled_back_at) VALUES ('a', 'b', '0002_two', CURRENT_TIMESTAMP);",
    };
    await run(database, [one, marking]);
    expect(await run(database, [one, marking, two])).toEqual(['0002_two']);
    expect(await tables(database)).toContain('two');
  });

  test('from a newer program that only add stop no start', async () => {
    const database = await databases.create();
    await run(database, [one, adding]);
    expect(await run(database, [one])).toEqual([]);
    expect(await tables(database)).toContain('two');
    expect(['0002_add_two', '0002_two_add_three', '0002_additions', 'add_two'].map(onlyAdds)).toEqual([true, false, false, false]);
  });

  test('of the program that claim to only add do so', async () => {
    const { dialect } = await databases.create();
    for (const { name, sql } of (await readMigrations(dialect)).filter((migration) => onlyAdds(migration.name))) {
      for (const statement of sql.replaceAll(/^--.*$/gm, '').split(';').map((text) => text.trim()).filter(Boolean)) {
        expect([name, statement]).toEqual([
          name,
          expect.stringMatching(/^(CREATE TABLE|CREATE INDEX) |^ALTER TABLE "\w+" ADD COLUMN "\w+" [\w ()]+( DEFAULT .+)?$/),
        ]);
        if (statement.startsWith('ALTER')) expect([name, statement]).toEqual([name, expect.not.stringMatching(/NOT NULL(?!.*DEFAULT)/)]);
      }
    }
  });

  test('hosts from before count as named by an administrator if their client belongs to no user', async () => {
    const database = await databases.create();
    const { db } = await database.open();
    const { id: userId } = await db.user.create({ data: { username: 'alice', passwordHash: '' } });
    for (const [vkey, owner] of [['hers', userId], ['free', null]] as const) {
      await db.client.create({ data: { vkey, userId: owner, hosts: { create: { host: `${vkey}.example` } } } });
    }
    const migration = (await readMigrations(database.dialect)).find(({ name }) => name.endsWith('_named_by_admin'));
    await db.$executeRawUnsafe(/^UPDATE [^;]*/m.exec(migration?.sql ?? '')?.[0] ?? '');
    expect(await db.host.findMany({ select: { host: true, namedByAdmin: true }, orderBy: { id: 'asc' } })).toEqual([{
      host: 'hers.example',
      namedByAdmin: false,
    }, { host: 'free.example', namedByAdmin: true }]);
  });

  test('recorded as failed stop the start, rolled back ones count as never tried', async () => {
    const database = await databases.create();
    const [first] = await readMigrations(database.dialect);
    const change = async (sql: string) => {
      const { db, close } = await database.open();
      await db.$executeRawUnsafe(sql);
      await close();
    };
    await change("INSERT INTO _prisma_migrations (id, checksum, migration_name, rolled_back_at) VALUES ('a', 'b', '0000_rolled_back', CURRENT_TIMESTAMP)");
    await change('UPDATE _prisma_migrations SET finished_at = NULL WHERE rolled_back_at IS NULL');
    await expect(database.open()).rejects.toMatchObject({
      name: 'StoreError',
      message: expect.stringMatching(`: the database records migration ${first?.name} as failed: restore a backup`),
    });
  });
});

describe('migrations on SQLite', () => {
  const databases = testDatabases('sqlite');

  test('that leave rows without what they refer to are taken back', async () => {
    const database = await databases.create();
    const orphan = {
      name: '0001_orphan',
      sql: 'CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER REFERENCES p (id)); INSERT INTO c VALUES (1);',
    };
    await expect(run(database, [orphan])).rejects.toMatchObject({
      name: 'StoreError',
      message: "after the migrations 1 rows refer to rows that don't exist; the database is as before",
    });
    expect(await tables(database)).toEqual([]);
  });
});

if (!isShort) {
  describeWith('initdb', 'migrations on PostgreSQL', () => {
    const databases = testDatabases('postgresql');

    test('are applied while servers of an earlier version are running only if they only add', async () => {
      const database = await databases.create();
      const known = await readMigrations('postgresql');
      await run(database, known);
      const connection = new pg.Client(database.url);
      await connection.connect();
      const now = "timezone('UTC', clock_timestamp())";
      await connection.query(
        `INSERT INTO "Node" (name, incarnation, address, version, "startedAt", "seenAt") VALUES ('older', 'i', '', '0.2.0', ${now}, ${now})`,
      );
      const [adds, changes] = [{ ...adding, name: '9998_add_two' }, { name: '9999_client_notes', sql: 'ALTER TABLE "Client" RENAME COLUMN remark TO note;' }];
      expect(await run(database, [...known, adds])).toEqual(['9998_add_two']);
      await expect(run(database, [...known, adds, changes])).rejects.toMatchObject({
        name: 'StoreError',
        message: expect.stringMatching(
          /^migration 9999_client_notes changes what the server older \(version 0\.2\.0\) uses, which is running on the database: stop all/,
        ),
      });
      expect((await connection.query('SELECT remark FROM "Client"')).rows).toEqual([]);
      // It is frozen, or has crashed. If it goes on, it sees that its row is gone.
      await connection.query('UPDATE "Node" SET "seenAt" = "seenAt" - interval \'11 s\'');
      expect(await run(database, [...known, adds, changes])).toEqual(['9999_client_notes']);
      expect((await connection.query('SELECT name FROM "Node"')).rows).toEqual([]);
      await connection.end();
    });

    test('are applied by one of those who do it at once', async () => {
      const database = await databases.create();
      const migrations = await readMigrations('postgresql');
      const applied = await Promise.all([1, 2, 3, 4].map(() => run(database, migrations)));
      expect(applied.map((names) => names.length).toSorted((a, b) => a - b)).toEqual([0, 0, 0, migrations.length]);
    });
  });
}

const file = (database: TestDatabase) => path.join(database.dataDir, 'test.db');

/** Applies migrations on a connection of its own, as a start of the program does. */
async function run(database: TestDatabase, migrations: readonly Migration[]): Promise<readonly string[]> {
  if (database.dialect === 'sqlite') {
    const connection = openDatabase(file(database));
    try {
      return await applyMigrations(sqliteMigrations(connection), migrations);
    } finally {
      connection.close();
    }
  }
  const connection = new pg.Client(database.url);
  await connection.connect();
  try {
    return await applyMigrations(postgresqlMigrations(connection), migrations);
  } finally {
    await connection.end();
  }
}

async function tables(database: TestDatabase): Promise<string[]> {
  if (database.dialect === 'sqlite') {
    const connection = openDatabase(file(database));
    const rows = z.array(z.object({ name: z.string() })).parse(connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all());
    connection.close();
    return rows.map(({ name }) => name);
  }
  const connection = new pg.Client(database.url);
  await connection.connect();
  const { rows } = await connection.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
  );
  await connection.end();
  return rows.map(({ name }) => name);
}
