import { Socket } from 'node:net';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Logger } from 'pino';
import pg from 'pg';
import { DatabasePresence } from './database-presence.ts';
import { DatabaseSilentError, messageOf, ServerRunningError, StoreError } from './errors.ts';
import { PrismaClient } from './generated/postgresql/client.ts';
import { PostgresqlReader } from './hot/postgresql-reader.ts';
import { searchMs } from './hot/reader.ts';
import { applyMigrations, readMigrations } from './migrations.ts';
import type { MigrationDatabase } from './migrations.ts';
import { clientOptions, LOCK_WAIT_MS, SHORT_LOCK_WAIT_MS } from './prisma-options.ts';
import type { Savepoints } from './transaction.ts';

/** The lock for migrations; Prisma's own tools use the same. */
const migrationLock = 72707369;
/** How long the database may be silent while a query waits, in ms: longer than it waits for a lock. */
const SILENCE_MS = 10_000;
/** How long an unused connection is kept, in ms: less than the above, since nothing is sent on it. */
const IDLE_MS = 8000;

/**
 * Connects to a PostgreSQL database and migrates it.
 * @param url `postgresql://...`
 * @param alone no other server or command may use it meanwhile
 * @param onLost called when a server that tolerates no other one has taken the database while the connection was lost
 * @throws {StoreError}
 */
export async function openPostgresql(url: string, log: Logger, alone: boolean, onLost: (error: Error) => void) {
  const where = describe(url);
  let presence: DatabasePresence | undefined;
  const shared = { connectionString: url, application_name: 'adit', connectionTimeoutMillis: 5000, keepAlive: true };
  const pooled = { ...shared, idleTimeoutMillis: IDLE_MS, stream: watchedSocket };
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
    presence = await DatabasePresence.open({ url, log, alone, onLost: (error) => onLost(new StoreError(`${where}: ${error.message}`)) });
    const applied = await migrate(new pg.Client(shared));
    const db = new PrismaClient({ ...clientOptions, adapter });
    await db.$connect();
    return { db, reader: new PostgresqlReader(pool, searchPool), applied, where, presence, savepoints };
  } catch (error) {
    await Promise.all([pool.end(), searchPool.end()]);
    await presence?.close();
    if (error instanceof ServerRunningError) throw new ServerRunningError(`${where}: ${error.message}`, { cause: error });
    if (error instanceof StoreError) throw new StoreError(`${where}: ${error.message}`, { cause: error });
    throw new StoreError(`can't reach the database at ${where}: ${messageOf(error)}`, { cause: error });
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

/** A socket whose connection ends when a query gets no response, whatever the reason: a frozen database does not close it. */
function watchedSocket(): Socket {
  const socket = new Socket();
  return socket.setTimeout(SILENCE_MS, () => socket.destroy(new DatabaseSilentError()));
}

/** Migrates on a connection of its own, on which a statement may take any time. */
async function migrate(connection: pg.Client): Promise<readonly string[]> {
  try {
    await connection.connect();
    return await applyMigrations(postgresqlMigrations(connection), await readMigrations('postgresql'));
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
