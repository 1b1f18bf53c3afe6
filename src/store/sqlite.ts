import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { messageOf, StoreError } from './errors.ts';
import { PrismaClient } from './generated/sqlite/client.ts';
import { SqliteReader } from './hot/sqlite-reader.ts';
import { applyMigrations, readMigrations } from './migrations.ts';
import type { MigrationDatabase } from './migrations.ts';
import { clientOptions } from './prisma-options.ts';
import { makePrivate } from './private-file.ts';
import { tierUpLater } from './query-compiler-tiering.ts';
import { SqliteAdapterFactory } from './sqlite/adapter.ts';
import { openDatabase, type SqliteDatabase } from './sqlite/binding.ts';
import type { WriterRequest } from './sqlite/protocol.ts';
import { WorkerLink } from './sqlite/worker-link.ts';

/** The file's name inside the data directory. */
export const databaseFileName = 'adit.db';

/** How long the start waits for another process's lock, in ms. */
const OPEN_MS = 5000;

/**
 * Opens the SQLite file of a data directory, and creates and migrates it if necessary.
 * @param onLost called when the worker that writes has died; its last request may or may not have been stored
 * @throws {StoreError}
 */
export async function openSqlite(dataDir: string, onLost: (error: Error) => void) {
  const file = path.join(dataDir, databaseFileName);
  try {
    // The file holds secrets. SQLite gives its -wal and -shm files the same mode.
    makePrivate(file);
    const applied = await migrateSqlite(file);
    const writer = new WorkerLink<WriterRequest>(file, 'writer', onLost);
    const reader = new SqliteReader(file, writer);
    await writer.started();
    const savepoints = new SqliteAdapterFactory(writer);
    tierUpLater();
    const db = new PrismaClient({ ...clientOptions, adapter: savepoints });
    await db.$connect();
    return { db, reader, applied, where: file, savepoints };
  } catch (error) {
    if (error instanceof StoreError) throw new StoreError(`${file}: ${error.message}`, { cause: error });
    throw new StoreError(`can't open the database ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Applies the program's migrations to a file, after copying it. @returns their names */
async function migrateSqlite(file: string): Promise<readonly string[]> {
  const database = openDatabase(file, { busyMs: OPEN_MS });
  try {
    return await applyMigrations(sqliteMigrations(database), await readMigrations('sqlite'), (last) => copyDatabase(file, copyName(file, last)));
  } finally {
    database.close();
  }
}

/** The copy of a database that was made before an upgrade. @param last the last migration that it has */
export function copyName(file: string, last: string): string {
  return `${file}.${last}`;
}

/**
 * Copies a database, which another connection may have locked but not changed, for going back to an earlier version.
 * @throws {StoreError} if there is no room for it, for example; nothing is left of it then
 */
function copyDatabase(file: string, copy: string): void {
  const unfinished = `${copy}.unfinished`;
  try {
    writeCopy(file, unfinished);
    renameSync(unfinished, copy);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new StoreError(`the copy that is made before the upgrade can't be written to ${copy}, the database is as before: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function writeCopy(file: string, unfinished: string): void {
  rmSync(unfinished, { force: true });
  makePrivate(unfinished);
  const database = openDatabase(file, { readOnly: true, busyMs: OPEN_MS });
  try {
    database.prepare('VACUUM INTO ?').run(unfinished);
  } finally {
    database.close();
  }
  const descriptor = openSync(unfinished, 'r+');
  fsyncSync(descriptor); // SQLite does not do it
  closeSync(descriptor);
}

const records = z.array(z.record(z.string(), z.unknown()));

/** A SQLite database as the migration runner sees it. */
export function sqliteMigrations(database: SqliteDatabase): MigrationDatabase {
  // Prisma's migrations replace whole tables; foreign keys are checked at the end.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;');
  return {
    dialect: 'sqlite',
    async begin() {
      database.exec('BEGIN IMMEDIATE');
    },
    async run(sql) {
      database.exec(sql);
    },
    async rows(sql) {
      return records.parse(database.prepare(sql).all());
    },
    async insert(sql, values) {
      database.prepare(sql).run(...values);
    },
    // A SQLite database has one server.
    async refuseWhileServersRun() {},
    async commit() {
      const broken = database.prepare('PRAGMA foreign_key_check').all();
      if (broken.length > 0) throw new StoreError(`after the migrations ${broken.length} rows refer to rows that don't exist; the database is as before`);
      database.exec('COMMIT');
    },
    async rollback() {
      if (database.isTransaction) database.exec('ROLLBACK');
    },
  };
}
