import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../package-file.ts';
import { messageOf, StoreError } from './errors.ts';

/** The databases that a store runs on. */
export type Dialect = 'sqlite' | 'postgresql';

/** The advisory lock for migrations in a PostgreSQL database; Prisma's own tools use the same. */
export const MIGRATION_LOCK = 72707369;

/** One migration of the program: a directory under prisma/migrations/DIALECT/. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/**
 * Whether a migration only adds tables, columns that may be left out, and indexes: its name says so. Servers of the version before run on while it is applied, and start
 * on a database that has it.
 */
export function onlyAdds(migration: string): boolean {
  return /^\d{4}_add_/.test(migration);
}

/** The database operations that migrations use. Everything between `begin` and `commit` is one exclusive transaction. */
export interface MigrationDatabase {
  readonly dialect: Dialect;
  /** Opens the transaction and waits until no other process migrates. */
  begin(): Promise<void>;
  /** Runs SQL of one or several statements. */
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<readonly Record<string, unknown>[]>;
  insert(sql: string, values: readonly string[]): Promise<void>;
  /** Called before a migration that does not only add. @throws {StoreError} if a server is running that does not know it */
  refuseWhileServersRun(migration: string): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** The program's migrations for a database, in the order of their names. */
export async function readMigrations(dialect: Dialect): Promise<readonly Migration[]> {
  const directory = fileURLToPath(packageFile(`prisma/migrations/${dialect}`));
  const names = (await readdir(directory)).toSorted();
  return Promise.all(names.map(async (name) => ({ name, sql: await readFile(path.join(directory, name, 'migration.sql'), 'utf8') })));
}

/**
 * Migrates a database to the program's version: applies all missing migrations, or none if one fails or the process dies. They are
 * recorded as `prisma migrate deploy` records them, so that Prisma's own tools find a clean history.
 * @param keep called before a database that an earlier version has written is changed, with the name of its last migration
 * @returns the names of the migrations that were applied now
 * @throws {StoreError} when the database is newer than the program and the newer migrations do not only add, when a migration was edited after it was applied,
 *   when one is recorded as failed, or when one does not only add and other servers are running; the database stays as it was
 */
export async function applyMigrations(
  database: MigrationDatabase,
  migrations: readonly Migration[],
  keep: (last: string) => void = () => undefined,
): Promise<readonly string[]> {
  await database.begin();
  try {
    await database.run(historyTable[database.dialect]);
    const applied = checkHistory(
      await database.rows(
        'SELECT migration_name AS name, checksum, finished_at AS finished, rolled_back_at AS back FROM _prisma_migrations ORDER BY migration_name',
      ),
      migrations,
    );
    const missing = migrations.filter((migration) => !applied.has(migration.name));
    const last = [...applied].at(-1);
    if (last !== undefined && missing.length > 0) keep(last);
    // No server that is running knows a migration that is missing.
    const changing = missing.find(({ name }) => !onlyAdds(name));
    if (last !== undefined && changing) await database.refuseWhileServersRun(changing.name);
    for (const migration of missing) await applyOne(database, migration);
    await database.commit();
    return missing.map((migration) => migration.name);
  } catch (error) {
    await database.rollback();
    throw error;
  }
}

async function applyOne(database: MigrationDatabase, migration: Migration): Promise<void> {
  try {
    await database.run(migration.sql);
  } catch (error) {
    throw new StoreError(`migration ${migration.name} failed, the database is as before: ${messageOf(error)}`, { cause: error });
  }
  await database.insert(insertHistory[database.dialect], [randomUUID(), checksum(migration), migration.name]);
}

/** The names of the applied migrations that are known, after checking that they are unchanged, and that the others only add. */
function checkHistory(rows: readonly Record<string, unknown>[], migrations: readonly Migration[]): ReadonlySet<string> {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const applied = new Set<string>();
  for (const row of rows) {
    if (row['back'] !== null) continue; // Prisma's mark for a rolled-back migration
    const name = String(row['name']);
    if (row['finished'] === null) {
      throw new StoreError(
        `the database records migration ${name} as failed: restore a backup, or repair the database and delete the migration's row in _prisma_migrations`,
      );
    }
    const migration = known.get(name);
    if (migration === undefined && onlyAdds(name)) continue;
    if (migration === undefined) {
      throw new StoreError(
        `the database is newer than this program: it has migration ${name}, which this version doesn't know; start the newer version or restore a backup`,
      );
    }
    if (row['checksum'] !== checksum(migration)) {
      throw new StoreError(`migration ${name} was edited after it was applied: restore its file and put the change into a new migration`);
    }
    applied.add(name);
  }
  return applied;
}

function checksum(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

/** Prisma's own definition of its table. */
const historyTable: Record<Dialect, string> = {
  sqlite: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id" TEXT PRIMARY KEY NOT NULL,
    "checksum" TEXT NOT NULL,
    "finished_at" DATETIME,
    "migration_name" TEXT NOT NULL,
    "logs" TEXT,
    "rolled_back_at" DATETIME,
    "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
  )`,
  postgresql: `CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`,
};

/** Times in the form that Prisma writes: milliseconds on SQLite. */
const insertHistory: Record<Dialect, string> = {
  sqlite: `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
    VALUES (?, ?, ?, unixepoch() * 1000, unixepoch() * 1000, 1)`,
  postgresql: `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
    VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
};
