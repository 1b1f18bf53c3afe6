import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { postgresqlCatalogue, sqliteCatalogue } from '../../prisma/catalogue-adapters.mjs';
import { dataModel } from '../../prisma/data-model.mjs';
import { schemaDiff } from '../../prisma/schema-engine.mjs';
import { sqliteScript } from '../../prisma/sqlite-script.mjs';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { eachDialect, testDatabases, type TestDatabase } from '../support/database.ts';
import { isShort } from '../support/endurance.ts';

eachDialect('the migrations', (databases) => {
  let database: TestDatabase;
  let model: string;

  beforeAll(async () => {
    database = await databases.create();
    await (await database.open()).close();
    model = dataModel(databases.dialect);
  });

  const diff = (wanted: string) =>
    schemaDiff(
      databases.dialect === 'sqlite' ? sqliteCatalogue(path.join(database.dataDir, databaseFileName)) : postgresqlCatalogue(database.url),
      wanted,
    );

  test('make exactly the tables of schema.prisma', async () => {
    expect(await diff(model)).toBe('');
  });

  const changes: ReadonlyArray<readonly [what: string, from: string, to: string, sql: RegExp]> = [
    ['a column', 'username ', 'shoeSize Int @default(0)\n  username ', /"shoeSize" INTEGER NOT NULL DEFAULT 0/],
    ['a default', 'maxClients   Int       @default(0)', 'maxClients   Int       @default(7)', /DEFAULT 7/],
    ['an index', '@@index([mode, port, id])', '@@index([mode, port, id, remark])', /CREATE INDEX "Tunnel_mode_port_id_remark_idx"/],
    ['a relation', 'onDelete: Cascade', 'onDelete: Restrict', /ON DELETE RESTRICT/],
  ];

  test.each(isShort ? changes.slice(0, 1) : changes)('are found to lack %s that the schema has', async (_, from, to, sql) => {
    expect(model).toContain(from);
    expect(await diff(model.replace(from, to))).toMatch(sql);
  });
});

describe('a migration for SQLite', () => {
  const databases = testDatabases('sqlite');
  const model = dataModel('sqlite');

  /** The script for a changed model. */
  async function scriptFor(change: (text: string) => string): Promise<string> {
    const changed = change(model);
    expect(changed).not.toBe(model);
    const tried = await databases.create();
    await (await tried.open()).close();
    return sqliteScript(path.join(tried.dataDir, databaseFileName), changed);
  }

  /** Runs a script on a database with a user. @returns the triggers and indexes that are gone then, and the users */
  async function migrate(script: string) {
    const migrated = await databases.create();
    const store = await migrated.open();
    await store.transaction((tx) => tx.user.create({ data: { username: 'alice', passwordHash: '' } }));
    await store.close();
    const database = openDatabase(path.join(migrated.dataDir, databaseFileName));
    try {
      const list = () => database.prepare("SELECT type || ' ' || name AS name FROM sqlite_master WHERE type IN ('trigger', 'index')").all();
      const before = list();
      database.exec(script);
      const after = new Set(list().map((row) => JSON.stringify(row)));
      return { lost: before.filter((row) => !after.has(JSON.stringify(row))), users: database.prepare('SELECT * FROM "User"').all() };
    } finally {
      database.close();
    }
  }

  test('adds columns in place, with their indexes, and loses nothing', async () => {
    const script = await scriptFor((text) =>
      text
        .replace('username ', 'shoeSize Int @default(42)\n  shirt String @default("a, b") @unique\n  hat DateTime?\n  username ')
        .replace('stripPrefix ', 'columnOfTheTest String @default("")\n  stripPrefix ')
    );
    expect(script.split('\n').filter((line) => line !== '' && !line.startsWith('--')).toSorted()).toEqual([
      'ALTER TABLE "Tunnel" ADD COLUMN "columnOfTheTest" TEXT NOT NULL DEFAULT \'\';',
      'ALTER TABLE "User" ADD COLUMN "hat" DATETIME;',
      'ALTER TABLE "User" ADD COLUMN "shirt" TEXT NOT NULL DEFAULT \'a, b\';',
      'ALTER TABLE "User" ADD COLUMN "shoeSize" INTEGER NOT NULL DEFAULT 42;',
      'CREATE UNIQUE INDEX "User_shirt_key" ON "User"("shirt");',
    ]);
    const { lost, users } = await migrate(script);
    expect(lost).toEqual([]);
    expect(users).toMatchObject([{ username: 'alice', shoeSize: 42, shirt: 'a, b', hat: null }]);
  });

  test.each([
    ['the moment as its default', (text: string) => text.replace('username ', 'changedAt DateTime @default(now())\n  username ')],
    ['a column that goes', (text: string) => text.replace(/^ +remark .*\n/m, '  shoeSize Int @default(0)\n')],
    [
      'a default that changes',
      (text: string) => text.replace('maxClients   Int       @default(0)', 'shoeSize Int @default(0)\n  maxClients   Int       @default(7)'),
    ],
  ])('replaces the table for %s, which SQLite cannot do otherwise', async (_what, change) => {
    expect(await scriptFor(change)).toContain('-- RedefineTables');
  });
});
