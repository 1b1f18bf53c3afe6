import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import pg from 'pg';
import { messageOf, ServerRunningError } from './errors.ts';

/** The advisory lock that all servers on a database share. Servers of version 0.1, of which a database may have one only, and commands that need it for themselves hold it alone. */
const serversLock = 72707371;
/** The advisory lock of the server that does what only one may do. */
const leaderLock = 72707374;
/** How long to wait for a lock, in ms: that of a killed server is released when its connection ends. */
const WAIT_MS = 2000;
const RETRY_MS = 100;
/** How often a server says that it is alive, tries to lead, and tries to connect again, in ms. */
const BEAT_MS = 1000;
/** How long the database may take to accept a lost connection again, in ms: when it is back, the last attempt may just have begun. */
const AGAIN_MS = 2000;
/** Without a statement for this long, in ms, the database ends the connection: a frozen server does not lead for longer. */
const SILENT_MS = 3000;

/** The messages of pg after `query_timeout` and `connectionTimeoutMillis`. */
const silences: ReadonlySet<string> = new Set(['Query read timeout', 'timeout expired']);

/** How to open a presence. */
export interface PresenceOptions {
  /** `postgresql://...` */
  readonly url: string;
  readonly log: Logger;
  /** No other server or command may use the database meanwhile. */
  readonly alone: boolean;
  /** The database does not answer, or it does again. */
  readonly onSilent: (silent: boolean) => void;
  /** The connection was lost, and a server that tolerates no other one has taken the database: this process must end. */
  readonly onLost: (error: ServerRunningError) => void;
}

/**
 * The connection by which the database knows that a server is running on it. It holds a lock that all servers share, and, on one of them, the lock of the leader. Both are
 * released when the process ends, for any reason, or is frozen.
 */
export class DatabasePresence {
  readonly #options: PresenceOptions;
  #connection: pg.Client | undefined;
  #leads = false;
  #closed = false;
  /** It was connected: from then on, a lost connection is restored. */
  #opened = false;
  readonly #beats: NodeJS.Timeout;
  #beating: Promise<void> | undefined;
  /** Why the lost connection can't be restored. Each reason is logged once. */
  readonly #problems = new Set<string>();

  private constructor(options: PresenceOptions) {
    this.#options = options;
    this.#beats = setInterval(() => {
      this.#beating ??= this.#beat().finally(() => {
        this.#beating = undefined;
      });
    }, BEAT_MS);
  }

  /** @throws {ServerRunningError} if a server is running that tolerates no other one, or if the database is not free for a command */
  static async open(options: PresenceOptions): Promise<DatabasePresence> {
    const presence = new DatabasePresence(options);
    try {
      await presence.#connect();
    } catch (error) {
      await presence.close();
      throw error;
    }
    return presence;
  }

  /** Whether this server does what only one may do. It may be wrong for a moment, so that such work must be harmless when it is done twice. */
  get leads(): boolean {
    return this.#leads;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#leads = false;
    clearInterval(this.#beats);
    await this.#beating;
    await this.#connection?.end();
  }

  async #connect(again = false): Promise<void> {
    const { url, alone } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: 'adit presence',
      connectionTimeoutMillis: again ? AGAIN_MS : 5000,
      keepAlive: true,
      query_timeout: SILENT_MS,
    });
    client.on('error', (error) => this.#lost(client, error.message));
    client.on('end', () => this.#lost(client, 'the database has closed it'));
    try {
      await client.connect();
      await take(client, `pg_try_advisory_lock${alone ? '' : '_shared'}(${serversLock})`);
      // Absent before version 14 of PostgreSQL: there, the lock of a frozen leader is released when it ends.
      await client.query(`SELECT set_config(name, '${SILENT_MS}', false) FROM pg_settings WHERE name = 'idle_session_timeout'`);
    } catch (error) {
      client.end(() => {}); // what is left of it
      throw error;
    }
    this.#connection = client;
    this.#opened = true;
    await this.#beat();
  }

  async #beat(): Promise<void> {
    if (this.#closed || !this.#opened) return;
    const client = this.#connection;
    try {
      if (client === undefined) {
        await this.#connect(true);
        this.#problems.clear();
        this.#options.onSilent(false);
        this.#options.log.info('the connection that tells the database of this server was restored');
        return;
      }
      const { rows } = await client.query<{ readonly leads: boolean }>(
        this.#leads ? 'SELECT true AS leads' : `SELECT pg_try_advisory_lock(${leaderLock}) AS leads`,
      );
      if (client === this.#connection) this.#leads = rows[0]?.leads === true;
    } catch (error) {
      if (client !== undefined) {
        this.#lost(client, messageOf(error));
        this.#options.onSilent(silences.has(messageOf(error)));
      } else if (this.#closed) return;
      else if (error instanceof ServerRunningError) this.#options.onLost(error);
      else this.#notRestored(messageOf(error));
    }
  }

  #notRestored(reason: string): void {
    this.#options.onSilent(silences.has(reason));
    if (this.#problems.has(reason)) return;
    this.#problems.add(reason);
    this.#options.log.warn({ reason }, 'the connection that tells the database of this server cannot be restored; tried again each second');
  }

  #lost(client: pg.Client, reason: string): void {
    if (client !== this.#connection) return;
    this.#connection = undefined;
    this.#leads = false;
    client.end(() => {}); // what is left of it
    if (!this.#closed) this.#options.log.warn({ reason }, 'the connection that tells the database of this server was lost; tried again each second');
  }
}

/** @throws {ServerRunningError} if others hold the lock */
async function take(client: pg.Client, lock: string): Promise<void> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const { rows } = await client.query<{ readonly taken: boolean }>(`SELECT ${lock} AS taken`);
    if (rows[0]?.taken === true) return;
    if (performance.now() >= until) throw new ServerRunningError('another server is running on this database');
    await setTimeout(RETRY_MS);
  }
}
