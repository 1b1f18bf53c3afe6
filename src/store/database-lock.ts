import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import pg from 'pg';
import { messageOf, ServerRunningError, StoreError } from './errors.ts';

/** Advisory locks shared by servers on one database: the lock of the running server, and the lock that all its writing connections share. */
const serverLock = 72707371;
const writersLock = 72707372;
/** How long to wait for a lock, in ms: that of a killed server is released when its connection ends. */
const WAIT_MS = 2000;
const RETRY_MS = 100;
/** How long ended connections get to disappear, in ms, before the next check. */
const TERMINATE_MS = 20;
/** How often an unreachable database is tried again, in ms. */
const RECONNECT_MS = 1000;

/** This process's claim to a PostgreSQL database. */
export interface DatabaseLock {
  /** Resolves immediately while the claim holds, otherwise after an attempt to regain it. @throws why that failed */
  held(): Promise<void>;
  /**
   * Lets a new connection write until another server claims the database, which first ends it. Call it before any other query on it.
   * @throws why the connection may not write: the claim was lost
   */
  admit(connection: pg.ClientBase): Promise<void>;
  /** Releases the claim. */
  release(): Promise<void>;
}

/** How to claim a database. */
export interface DatabaseLockOptions {
  /** `postgresql://...` */
  readonly url: string;
  readonly log: Logger;
  /** The claim was lost and another server has it: this process must end. */
  readonly onLost: (error: StoreError) => void;
}

/** The claim was lost: another server holds it, or nobody does. */
class NotClaimedError extends Error {
  /** PostgreSQL's code for a database that accepts no connections at present. */
  readonly code = '57P03';

  constructor() {
    super('this server has lost its claim to the database');
  }
}

/**
 * Claims a PostgreSQL database for this process, since two servers on one database would not see each other's changes. The lock
 * belongs to a dedicated connection, so it is released when the process ends, for any reason. If the connection is lost, the server
 * acquires the lock again on a new connection, as soon as the database is reachable.
 *
 * A server may notice late, or never, that the connection with its lock is lost. So all writing connections share a second lock, and a connection is
 * only admitted while a third lock confirms the claim. A server that claims the database ends the writing connections of other servers before
 * it reads anything: the database itself rejects late writes of an earlier server, so writes need no check.
 * @throws {StoreError} if another server holds the lock
 */
export async function lockDatabase({ url, log, onLost }: DatabaseLockOptions): Promise<DatabaseLock> {
  // Identifies a connection of this server that the database still holds after it was lost.
  const name = `adit lock ${randomUUID()}`;
  /** Held as long as this server's claim, by the same connection. */
  const ownLock = randomBytes(8).readBigInt64BE().toString();
  let claimedBefore = false;
  let connection: pg.Client | undefined;
  let released = false;
  let holding: Promise<void>;

  const claim = async (): Promise<void> => {
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    // The database reports the end of a connection before it gives the connection's locks to others.
    client.on('error', () => lost(client));
    client.on('end', () => lost(client));
    try {
      await client.connect();
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()', [name]);
      await takeLock(client);
      await client.query('SELECT pg_advisory_lock($1)', [ownLock]);
      if (!claimedBefore) await endOtherWriters(client);
      claimedBefore = true;
    } catch (error) {
      client.end(() => {}); // what is left of it
      throw error;
    }
    connection = client;
  };

  const lost = (client: pg.Client): void => {
    if (connection !== client || released) return;
    connection = undefined;
    client.end(() => {}); // what is left of it
    log.warn('the connection that holds the database lock was lost');
    attempt();
  };

  const attempt = (): void => {
    holding = claim().then(() => log.info('the database lock was reacquired'));
    holding.catch(async (error: unknown) => {
      if (released) return;
      if (error instanceof StoreError) {
        onLost(error);
        return;
      }
      log.warn({ reason: messageOf(error) }, 'the database lock could not be reacquired; next attempt in a second');
      await setTimeout(RECONNECT_MS);
      if (!released) attempt();
    });
  };

  holding = claim();
  await holding;
  return {
    held: () => holding,
    async admit(writer) {
      await holding;
      await writer.query('SELECT pg_advisory_lock_shared($1)', [writersLock]);
      if (!await isFree(writer, ownLock)) return;
      if (connection !== undefined) lost(connection);
      await holding;
      if (await isFree(writer, ownLock)) throw new NotClaimedError();
    },
    async release() {
      released = true;
      await holding.catch(() => undefined); // every write has already failed with this error
      await connection?.end();
    },
  };
}

async function takeLock(client: pg.Client): Promise<void> {
  const until = performance.now() + WAIT_MS;
  while (!await take(client, serverLock)) {
    if (performance.now() >= until) throw new ServerRunningError('another server is running on this database');
    await setTimeout(RETRY_MS);
  }
}

/** Ends the connections by which a server without the claim could still write. Its new connections are not admitted. */
async function endOtherWriters(client: pg.Client): Promise<void> {
  const until = performance.now() + WAIT_MS;
  while (!await take(client, writersLock)) {
    if (performance.now() >= until) throw new StoreError('another server is still writing to this database');
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [writersLock],
    );
    await setTimeout(TERMINATE_MS);
  }
  await client.query('SELECT pg_advisory_unlock($1)', [writersLock]);
}

async function take(client: pg.Client, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ readonly taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [lock]);
  return rows[0]?.taken === true;
}

/** Whether nobody holds a lock. Acquires it for this statement only. */
async function isFree(client: pg.ClientBase, lock: string): Promise<boolean> {
  const { rows } = await client.query<{ readonly free: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS free', [lock]);
  return rows[0]?.free === true;
}
