import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, describe } from '@jest/globals';
import pino from 'pino';
import { applyMigrations, type Dialect, readMigrations } from '../../src/store/migrations.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { databaseFileName, sqliteMigrations } from '../../src/store/sqlite.ts';
import { openStore } from '../../src/store/store.ts';
import { emptyStore, whenEmptied } from './empty-store.ts';
import { endurance } from './endurance.ts';
import type { FirstNode } from './first-node.ts';
import { ownEngines } from './own-engines.ts';
import { type PostgresqlServer, startPostgresql } from './postgresql.ts';
import { describeWith } from './programs.ts';
import { type TestStore, writable } from './test-store.ts';

/** The suites run on PostgreSQL only, on the second of two nodes: `ADIT_TEST_ON=second-of-two npm test -- test/schema/ test/legacy/`. */
const onSecondNode = process.env['ADIT_TEST_ON'] === 'second-of-two';
/** The suites of {@link eitherDialect} run on PostgreSQL: `npm run test:postgresql`. */
const onPostgresql = process.env['ADIT_TEST_ON'] === 'postgresql';

/** Whether a suite is about one server, or about SQLite, so that it never runs on the second of two nodes. */
interface OneServer {
  readonly alone?: boolean;
}

/** A database of a test's own, and how to open it. */
export interface TestDatabase {
  readonly dialect: Dialect;
  /** What `openStore` and the server's settings want: '' for SQLite. */
  readonly url: string;
  readonly dataDir: string;
  /** Opens the store. On PostgreSQL no second one can be open at the same time. */
  open(): Promise<TestStore>;
}

/** Makes databases of one dialect while a suite runs. */
export interface TestDatabases {
  readonly dialect: Dialect;
  /** An empty one. */
  create(): Promise<TestDatabase>;
  /** An open store without records. Nobody else has it until the test ends, or the suite when it is opened before the tests. */
  openEmpty(): Promise<TestStore>;
}

/**
 * Runs a suite over both databases. PostgreSQL is a server of the suite's own; where it is not installed, that half is
 * skipped by name. Stores opened through the databases are closed, and everything is removed, when the suite ends.
 *
 *     eachDialect('totals', (databases) => {
 *       test('...', async () => { const store = await databases.openEmpty(); ... });
 *     });
 */
export function eachDialect(name: string, suite: (databases: TestDatabases) => void, one: OneServer = {}): void {
  if (!onSecondNode || one.alone) describe(`${name} on SQLite`, () => suite(testDatabases('sqlite', one)));
  describeWith('initdb', `${name} on PostgreSQL`, () => suite(testDatabases('postgresql', one)));
}

/**
 * Runs a suite over SQLite in `npm test`, over PostgreSQL in `npm run test:postgresql`, and over both in `npm run endurance`: for rules above the database, and for what `test/store` shows on both
 * databases. {@link eachDialect} is for the suites of `test/store` that are about SQL of our own, transactions and migrations.
 */
export function eitherDialect(name: string, suite: (databases: TestDatabases) => void): void {
  if (endurance || onSecondNode) eachDialect(name, suite);
  else if (onPostgresql) describeWith('initdb', `${name} on PostgreSQL`, () => suite(testDatabases('postgresql')));
  else describe(`${name} on SQLite`, () => suite(testDatabases('sqlite')));
}

/** Makes the databases of the `describe` that it is called in. @param usual the dialect, unless the suites run on the second of two nodes */
export function testDatabases(usual: Dialect, { alone = !onSecondNode }: OneServer = {}): TestDatabases {
  const dialect = alone ? usual : 'postgresql';
  /** The other nodes on the databases of stores, if there are any. */
  const firstNodes = new Map<TestStore, FirstNode>();
  const directories: string[] = [];
  const stores: TestStore[] = [];
  let server: PostgresqlServer | undefined;
  if (dialect === 'postgresql') {
    beforeAll(async () => {
      server = await startPostgresql();
    });
  }
  afterAll(async () => {
    await Promise.all([...stores, ...firstNodes.values()].map((one) => one.close()));
    await server?.stop();
    await Promise.all(directories.map((directory) => rm(directory, { recursive: true })));
  });
  const open = async ({ url, dataDir }: Pick<TestDatabase, 'url' | 'dataDir'>) => writable(await openStore({ url, dataDir, log: pino({ level: 'silent' }) }));
  const databaseAt = async (url: string): Promise<TestDatabase> => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'adit-store-'));
    directories.push(dataDir);
    return {
      dialect,
      url,
      dataDir,
      async open() {
        const store = await open({ url, dataDir });
        stores.push(store);
        return store;
      },
    };
  };
  const create = async () => databaseAt(await server?.createDatabase() ?? '');
  // To empty a store takes a tenth of what a new one does.
  const idle: TestStore[] = [];
  let ofThisTest: TestStore[] | undefined;
  beforeEach(() => {
    ofThisTest = [];
  });
  afterEach(async () => {
    const used = ofThisTest ?? [];
    idle.push(...used);
    ofThisTest = undefined;
    for (const store of used) await firstNodes.get(store)?.agrees(ownEngines.get(store));
  });
  const migrated = async (): Promise<TestStore> => {
    const database = await databaseAt(await server?.createMigrated() ?? '');
    if (dialect === 'sqlite') await copyFile(await migratedFile(), path.join(database.dataDir, databaseFileName));
    const first = alone ? undefined : await (await import('./first-node.ts')).FirstNode.open(database.url, database.dataDir);
    const store = await database.open();
    if (first) {
      firstNodes.set(store, first);
      store.follower.onOwnCommit = () => first.committed();
      whenEmptied(store, () => first.emptied());
    }
    // Nothing is left of it after the suite: SQLite needn't wait for the disk.
    if (dialect === 'sqlite') await store.db.$executeRaw`PRAGMA synchronous = OFF`;
    return store;
  };
  return {
    dialect,
    create,
    async openEmpty() {
      const used = idle.pop();
      if (used) await emptyStore(used);
      const store = used ?? await migrated();
      ofThisTest?.push(store);
      return store;
    },
  };
}

/** A SQLite file with all migrations, which is kept as long as they are the same: a copy takes a tenth of what they do. */
export async function migratedFile(): Promise<string> {
  const migrations = await readMigrations('sqlite');
  const directory = path.join(import.meta.dirname, '../../.cache/tests');
  const file = path.join(directory, `migrations-${createHash('sha256').update(JSON.stringify(migrations)).digest('hex')}.db`);
  if (existsSync(file)) return file;
  await mkdir(directory, { recursive: true });
  // Another worker may be making the same.
  const unfinished = `${file}.${randomUUID()}`;
  const database = openDatabase(unfinished);
  try {
    await applyMigrations(sqliteMigrations(database), migrations);
    // Otherwise all of it stays in the file -wal, since the driver lets go of a closed database only when its statements are collected as garbage.
    database.exec('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
  await rename(unfinished, file);
  return file;
}
