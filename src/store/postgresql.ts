import { callbackify } from 'node:util';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Logger } from 'pino';
import pg from 'pg';
import { type DatabaseLock, lockDatabase } from './database-lock.ts';
import { messageOf, StoreError } from './errors.ts';
import { PrismaClient } from './generated/postgresql/client.ts';
import { PostgresqlReader } from './hot/postgresql-reader.ts';
import { searchMs } from './hot/reader.ts';
import { applyMigrations, readMigrations } from './migrations.ts';
import type { MigrationDatabase } from './migrations.ts';
import { clientOptions, LOCK_WAIT_MS } from './prisma-options.ts';

/** The lock for migrations; Prisma's own tools use the same. */
const migrationLock = 72707369;

/**
 * Connects to a PostgreSQL database, claims it for this process and migrates it.
 * @param url `postgresql://...`
 * @param onLost called when another server has claimed the database while the connection was lost
 * @throws {StoreError}
 */
export async function openPostgresql(url: string, log: Logger, onLost: (error: Error) => void) {
  const where = describe(url);
  let lock: DatabaseLock | undefined;
  const shared = { connectionString: url, application_name: 'adit', connectionTimeoutMillis: 5000, keepAlive: true };
  const pool = new pg.Pool({
    ...shared,
    max: 10,
    // A peer that disappeared inside a transaction must not block other writers.
    idle_in_transaction_session_timeout: 30_000,
    // Neither must a session that holds a lock.
    lock_timeout: LOCK_WAIT_MS,
    verify: callbackify(async (connection: pg.PoolClient) => {
      if (lock === undefined) throw new StoreError('the database is not claimed yet');
      await lock.admit(connection);
    }),
  });
  // Without a listener the loss of an idle connection would end the process; the pool replaces the connection.
  const lost = (error: Error) => log.warn({ reason: error.message }, 'a connection to the database was lost');
  const adapter = new PrismaPg(pool, { disposeExternalPool: true, onPoolError: lost, onConnectionError: lost });
  pool.on('error', lost);
  // Searches use none of the connections that other queries need.
  const searchPool = new pg.Pool({ ...shared, max: 2, statement_timeout: searchMs });
  searchPool.on('error', lost);
  try {
    lock = await lockDatabase({ url, log, onLost: (error) => onLost(new StoreError(`${where}: ${error.message}`)) });
    const connection = await pool.connect();
    let applied: readonly string[];
    try {
      applied = await applyMigrations(postgresqlMigrations(connection), await readMigrations('postgresql'));
    } finally {
      connection.release();
    }
    const db = new PrismaClient({ ...clientOptions, adapter });
    await db.$connect();
    return { db, reader: new PostgresqlReader(pool, searchPool), applied, where, lock };
  } catch (error) {
    await Promise.all([pool.end(), searchPool.end()]);
    await lock?.release();
    if (error instanceof StoreError) throw new StoreError(`${where}: ${error.message}`, { cause: error });
    throw new StoreError(`can't reach the database at ${where}: ${messageOf(error)}`, { cause: error });
  }
}

/** A connection as the migration runner sees it. */
export function postgresqlMigrations(connection: pg.ClientBase): MigrationDatabase {
  return {
    dialect: 'postgresql',
    async begin() {
      await connection.query('BEGIN');
      // Another start's migrations may take longer than any write.
      await connection.query('SET LOCAL lock_timeout = 0');
      await connection.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    },
    async run(sql) {
      await connection.query(sql);
    },
    async rows(sql) {
      return (await connection.query<Record<string, unknown>>(sql)).rows;
    },
    async insert(sql, values) {
      await connection.query(sql, [...values]);
    },
    async commit() {
      await connection.query('COMMIT');
    },
    async rollback() {
      await connection.query('ROLLBACK');
    },
  };
}

/** Host, port and database of a URL, without its password. @throws {StoreError} if the URL is invalid */
function describe(url: string): string {
  if (!URL.canParse(url)) throw new StoreError('the database address is not a valid postgresql:// URL');
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? (hostname || 'localhost')}:${port || 5432}${pathname}`;
}
