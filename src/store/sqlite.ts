import path from 'node:path';
import Database from 'better-sqlite3';
import { messageOf, StoreError } from './errors.ts';
import { PrismaClient } from './generated/sqlite/client.ts';
import { applyMigrations, readMigrations } from './migrations.ts';
import type { MigrationDatabase } from './migrations.ts';
import { clientOptions } from './prisma-options.ts';
import { makePrivate } from './private-file.ts';
import { SqliteAdapterFactory } from './sqlite-adapter.ts';
import { SqliteReader } from './hot/sqlite-reader.ts';

/** The file's name inside the data directory. */
export const databaseFileName = 'adit.db';

/** Opens, and if need be makes and migrates, the SQLite file of a data directory. @throws {StoreError} */
export async function openSqlite(dataDir: string) {
  const file = path.join(dataDir, databaseFileName);
  try {
    // It holds secrets. SQLite gives its -wal and -shm files the same mode.
    makePrivate(file);
    const applied = await migrateSqlite(file);
    const db = new PrismaClient({ ...clientOptions, adapter: new SqliteAdapterFactory(file) });
    await db.$connect();
    return { db, reader: new SqliteReader(file), applied, where: file };
  } catch (error) {
    if (error instanceof StoreError) throw new StoreError(`${file}: ${error.message}`, { cause: error });
    throw new StoreError(`can't open the database ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Applies the program's migrations to a file. @returns their names */
async function migrateSqlite(file: string): Promise<readonly string[]> {
  const database = new Database(file);
  try {
    return await applyMigrations(sqliteMigrations(database), await readMigrations('sqlite'));
  } finally {
    database.close();
  }
}

/** A SQLite database as the migration runner sees it. */
export function sqliteMigrations(database: Database.Database): MigrationDatabase {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('busy_timeout = 5000');
  // Prisma's migrations replace whole tables; what they refer to is checked at the end.
  database.pragma('foreign_keys = OFF');
  return {
    dialect: 'sqlite',
    async begin() {
      database.exec('BEGIN IMMEDIATE');
    },
    async run(sql) {
      database.exec(sql);
    },
    async rows(sql) {
      return database.prepare<[], Record<string, unknown>>(sql).all();
    },
    async insert(sql, values) {
      database.prepare(sql).run(...values);
    },
    async commit() {
      const broken = database.prepare('PRAGMA foreign_key_check').all();
      if (broken.length > 0) throw new StoreError(`after the migrations ${broken.length} rows refer to rows that don't exist; the database is as before`);
      database.exec('COMMIT');
    },
    async rollback() {
      if (database.inTransaction) database.exec('ROLLBACK');
    },
  };
}
