import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import pg from 'pg';
import { messageOf, StoreError } from './errors.ts';

/** What servers on one database agree on. */
const serverLock = 72707371;
/** How long a lock may take to come free, in ms: that of a server that was killed goes when its connection's end arrives. */
const WAIT_MS = 2000;
const RETRY_MS = 100;
/** How often an unreachable database is tried again, in ms. */
const RECONNECT_MS = 1000;

/** This process's claim to a PostgreSQL database. */
export interface DatabaseLock {
  /** Resolves at once while the claim holds; waits for an attempt to get it back. @throws why that failed */
  held(): Promise<void>;
  /** Gives it back. */
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

/**
 * Claims a PostgreSQL database for this process: two servers on one database would each believe in what the other has changed. The lock
 * belongs to a connection of its own, so it goes with the process, however that ends. When the connection is lost, the lock is got back on
 * another one, as soon as the database can be reached.
 * @throws {StoreError} when another server has it
 */
export async function lockDatabase({ url, log, onLost }: DatabaseLockOptions): Promise<DatabaseLock> {
  // By its name a connection of ours is known that the database has not yet noticed to be gone.
  const name = `adit lock ${randomUUID()}`;
  let connection: pg.Client | undefined;
  let released = false;
  let holding: Promise<void>;

  const claim = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: url, application_name: name, connectionTimeoutMillis: 5000, keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
    // The database says that it ends a connection before it gives its locks to others.
    client.on('error', () => lost(client));
    client.on('end', () => lost(client));
    try {
      await client.connect();
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()', [name]);
      await takeLock(client);
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
    holding = claim().then(() => log.info('the database lock is held again'));
    holding.catch(async (error: unknown) => {
      if (released) return;
      if (error instanceof StoreError) {
        onLost(error);
        return;
      }
      log.warn({ reason: messageOf(error) }, 'the database lock could not be got back; tried again in a second');
      await setTimeout(RECONNECT_MS);
      if (!released) attempt();
    });
  };

  holding = claim();
  await holding;
  return {
    held: () => holding,
    async release() {
      released = true;
      await holding.catch(() => undefined); // every write has failed with it already
      await connection?.end();
    },
  };
}

async function takeLock(client: pg.Client): Promise<void> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const { rows } = await client.query<{ readonly taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [serverLock]);
    if (rows[0]?.taken === true) return;
    if (performance.now() >= until) throw new StoreError('another server is running on this database');
    await setTimeout(RETRY_MS);
  }
}
