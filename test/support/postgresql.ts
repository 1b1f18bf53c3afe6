import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import pg from 'pg';
import { applyMigrations, readMigrations } from '../../src/store/migrations.ts';
import { programPath } from './find-program.ts';

/** A PostgreSQL server in a temporary directory, reached by a Unix socket. */
export interface PostgresqlServer {
  /** Makes an empty database. @returns its address */
  createDatabase(): Promise<string>;
  /** Makes a database without records, in which all migrations are applied: a copy, for a quarter of what they take. @returns its address */
  createMigrated(): Promise<string>;
  /** Ends every connection to a database, as a restarted server does. */
  cutConnections(url: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The server that all suites of a whole run share (shared-postgresql.ts), otherwise one of the caller's own. Needs Debian's `postgresql`:
 * wrap what uses it in `describeWith('initdb', ...)`.
 */
export async function startPostgresql(): Promise<PostgresqlServer> {
  const shared = process.env['TEST_POSTGRESQL'];
  return shared === undefined ? startOwnPostgresql() : reach(shared, () => Promise.resolve());
}

/** A server of the caller's own, which can also be away for a while. */
export interface OwnPostgresqlServer extends PostgresqlServer {
  readonly directory: string;
  /** Ends the server, its databases stay. @returns starts it again */
  interrupt(): Promise<() => Promise<void>>;
}

/** Starts one in about a second. */
export async function startOwnPostgresql(): Promise<OwnPostgresqlServer> {
  const initdb = programPath('initdb');
  const directory = await mkdtemp(path.join(tmpdir(), 'adit-postgresql-'));
  const account = await serverAccount();
  if (account.uid !== undefined && account.gid !== undefined) await chown(directory, account.uid, account.gid);
  const data = path.join(directory, 'data');
  await promisify(execFile)(initdb, ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8'], {
    ...account,
    cwd: directory,
  });
  /** @returns ends it */
  const run = async (): Promise<() => Promise<void>> => {
    const server = spawn(path.join(path.dirname(initdb), 'postgres'), [
      '-D',
      data,
      '-k',
      directory,
      '-c',
      'listen_addresses=',
      '-c',
      'fsync=off',
      '-c',
      'max_connections=400',
    ], { ...account, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
    const exited = once(server, 'exit');
    await untilReady(server.stderr);
    return async () => {
      server.kill('SIGINT'); // "fast" shutdown: ends the connections
      await exited;
    };
  };
  let end = await run();
  const reached = await reach(directory, async () => {
    await end();
    await rm(directory, { recursive: true, force: true });
  });
  return {
    ...reached,
    directory,
    async interrupt() {
      await end();
      return async () => {
        end = await run();
      };
    },
  };
}

async function reach(directory: string, stop: () => Promise<void>): Promise<PostgresqlServer> {
  const url = (database: string) => `postgresql://postgres@localhost/${database}?host=${directory}`;
  const nameOf = (address: string) => new URL(address).pathname.slice(1);
  const administrator = new pg.Client({ connectionString: url('postgres') });
  administrator.on('error', () => {}); // a server that is interrupted ends it
  await administrator.connect();
  const create = async (options: string): Promise<string> => {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await administrator.query(`CREATE DATABASE ${name} ${options}`);
    return url(name);
  };
  /** Makes the database that others are copies of, unless a suite of another worker has. */
  const migrate = async (): Promise<void> => {
    await administrator.query('SELECT pg_advisory_lock(1)');
    try {
      const { rowCount } = await administrator.query(`SELECT FROM pg_database WHERE datname = 'migrated'`);
      if (rowCount === 0) await administrator.query(`ALTER DATABASE ${nameOf(await withMigrations(await create('')))} RENAME TO migrated`);
    } finally {
      await administrator.query('SELECT pg_advisory_unlock(1)');
    }
  };
  let migrated: Promise<void> | undefined;
  return {
    createDatabase: () => create(''),
    async createMigrated() {
      await (migrated ??= migrate());
      return create('TEMPLATE migrated');
    },
    async cutConnections(address) {
      await administrator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [nameOf(address)]);
    },
    async stop() {
      await administrator.end();
      await stop();
    },
  };
}

/** Applies all migrations to a database. @returns its address */
async function withMigrations(address: string): Promise<string> {
  // Imported here, since a run's server is started without the program.
  const { postgresqlMigrations } = await import('../../src/store/postgresql.ts');
  const connection = new pg.Client({ connectionString: address });
  await connection.connect();
  try {
    await applyMigrations(postgresqlMigrations(connection), await readMigrations('postgresql'));
  } finally {
    await connection.end();
  }
  return address;
}

/** initdb and postgres refuse to run as root: there they run as the account that the Debian package makes. */
async function serverAccount(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const id = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/**
 * Resolves when the server's log says that it accepts connections, rejects with the log when it ends before. The log is read to its end: a server
 * whose log fills the pipe stops at its next error.
 */
function untilReady(log: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    let text: string | undefined = '';
    log.on('data', (chunk) => {
      if (text === undefined) return;
      text += String(chunk);
      if (!text.includes('ready to accept connections')) return;
      text = undefined;
      resolve();
    });
    log.on('end', () => reject(new Error(`PostgreSQL didn't start:\n${text ?? ''}`)));
  });
}
