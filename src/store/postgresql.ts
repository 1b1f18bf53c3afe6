import { PrismaPg } from '@prisma/adapter-pg';
import type { Logger } from 'pino';
import pg from 'pg';
import { databasePlace, unreachable } from './database-place.ts';
import { DatabasePresence } from './database-presence.ts';
import { DatabaseSockets } from './database-sockets.ts';
import { messageOf, ServerRunningError, StoreError } from './errors.ts';
import { PrismaClient } from './generated/postgresql/client.ts';
import { PostgresqlReader } from './hot/postgresql-reader.ts';
import { searchMs } from './hot/reader.ts';
import { applyMigrations, MIGRATION_LOCK, readMigrations } from './migrations.ts';
import type { Migration, MigrationDatabase } from './migrations.ts';
import { NODE_DEAD_MS } from './nodes.ts';
import { clientOptions, LOCK_WAIT_MS, SHORT_LOCK_WAIT_MS } from './prisma-options.ts';
import { tierUpLater } from './query-compiler-tiering.ts';
import type { Savepoints } from './transaction.ts';

/** How long an unused connection is kept, in ms: less than the silence after which it would end (database-sockets.ts), since nothing is sent on it. */
const IDLE_MS = 8000;

/**
 * Connects to a PostgreSQL database and migrates it.
 * @param url `postgresql://...`
 * @param alone no other server or command may use it meanwhile
 * @param onLost called when a server that tolerates no other one has taken the database while the connection was lost
 * @throws {StoreError}
 */
export async function openPostgresql(url: string, log: Logger, alone: boolean, onLost: (error: Error) => void) {
  const where = databasePlace(url);
  let presence: DatabasePresence | undefined;
  const shared = { connectionString: url, application_name: 'adit', connectionTimeoutMillis: 5000, keepAlive: true };
  const sockets = new DatabaseSockets();
  const pooled = { ...shared, idleTimeoutMillis: IDLE_MS, stream: sockets.create };
  const pool = new pg.Pool({
    ...pooled,
    max: 10,
    // A peer that disappeared inside a transaction must not block other writers.
    idle_in_transaction_session_timeout: 30_000,
    // Neither must a session that holds a lock.
    lock_timeout: LOCK_WAIT_MS,
  });
  // Without a listener the loss of an idle connection would end the process; the pool replaces the connection.
  const lost = (error: Error) => log.warn({ reason: error.message }, 'a connection to the database was lost');
  const adapter = new PrismaPg(pool, { disposeExternalPool: true, onPoolError: lost, onConnectionError: lost });
  pool.on('error', lost);
  // Searches use none of the connections that other queries need.
  const searchPool = new pg.Pool({ ...pooled, max: 2, statement_timeout: searchMs });
  searchPool.on('error', lost);
  try {
    presence = await DatabasePresence.open({
      url,
      log,
      alone,
      onSilent: (silent) => sockets.silent(silent),
      onLost: (error) => onLost(new StoreError(`${where}: ${error.message}`)),
    });
    const migrations = await readMigrations('postgresql');
    const applied = await migrate(new pg.Client(shared), migrations);
    tierUpLater();
    const db = new PrismaClient({ ...clientOptions, adapter });
    await db.$connect();
    return { db, reader: new PostgresqlReader(pool, searchPool), applied, where, presence, savepoints, migrations: migrations.map(({ name }) => name) };
  } catch (error) {
    await Promise.all([pool.end(), searchPool.end()]);
    await presence?.close();
    if (error instanceof ServerRunningError) throw new ServerRunningError(`${where}: ${error.message}`, { cause: error });
    if (error instanceof StoreError) throw new StoreError(`${where}: ${error.message}`, { cause: error });
    throw new StoreError(unreachable(where, messageOf(error)), { cause: error });
  }
}

/** By separate statements. */
const savepoints: Savepoints = {
  async set(tx) {
    await tx.$executeRaw`SAVEPOINT write`;
  },
  async undo(tx) {
    await tx.$executeRaw`ROLLBACK TO SAVEPOINT write`;
  },
  async shortenWait(tx) {
    await tx.$executeRawUnsafe(`SET LOCAL lock_timeout = ${SHORT_LOCK_WAIT_MS}`);
  },
};

/** Migrates on a connection of its own, on which a statement may take any time. */
async function migrate(connection: pg.Client, migrations: readonly Migration[]): Promise<readonly string[]> {
  try {
    await connection.connect();
    return await applyMigrations(postgresqlMigrations(connection), migrations);
  } finally {
    await connection.end();
  }
}

/** A connection as the migration runner sees it. */
export function postgresqlMigrations(connection: pg.ClientBase): MigrationDatabase {
  return {
    dialect: 'postgresql',
    async begin() {
      await connection.query('BEGIN');
      await connection.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
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
    async refuseWhileServersRun(migration) {
      const { rows: [table] } = await connection.query<{ readonly exists: boolean }>(`SELECT to_regclass('"Node"') IS NOT NULL AS exists`);
      if (table?.exists !== true) return;
      const { rows: [older] } = await connection.query<{ readonly name: string; readonly version: string }>(
        `SELECT name, version FROM "Node" WHERE NOT stopped AND "seenAt" > timezone('UTC', clock_timestamp()) - $1 * interval '1 ms' ORDER BY name LIMIT 1`,
        [NODE_DEAD_MS],
      );
      if (older !== undefined) {
        throw new StoreError(
          `migration ${migration} changes what the server ${older.name} (version ${older.version}) uses, which is running on the database: stop all servers `
            + `of earlier versions first; one that has crashed counts as running for ${NODE_DEAD_MS / 1000} s`,
        );
      }
      // One that was frozen finds out that its row is gone, and ends (nodes.ts).
      await connection.query('DELETE FROM "Node"');
    },
    async commit() {
      await connection.query('COMMIT');
    },
    async rollback() {
      await connection.query('ROLLBACK');
    },
  };
}
