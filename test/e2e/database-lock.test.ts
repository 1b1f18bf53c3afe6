import { once } from 'node:events';
import net from 'node:net';
import process from 'node:process';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { Child, endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { type PostgresqlServer, startPostgresql } from '../support/postgresql.ts';
import { call, newDataDir, quickStart, startServer } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';

const program = path.resolve(import.meta.dirname, '../../dist/main.js');

/** What a server says that is started on a database, and how it ends. */
async function startSecond(url: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const second = new Child(process.execPath, [...quickStart, program, 'server'], {
    ADIT_DATABASE_URL: url,
    ADIT_DATA_DIR: newDataDir(),
    ADIT_HTTP_PORT: '0',
    ADIT_BRIDGE_PORT: '0',
    ADIT_BRIDGE_TLS_PORT: '0',
    ADIT_LOG_LEVEL: 'error',
  });
  const { code } = await second.exited;
  return { code, output: second.output };
}

/** A way to a database by which a server never hears that the connection with its lock has ended. @returns its URL, and what ends it */
async function withoutEndOfLock(url: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const { pathname, searchParams } = new URL(url);
  const sockets: net.Socket[] = [];
  const relay = net.createServer((near) => {
    const far = net.connect(`${searchParams.get('host')}/.s.PGSQL.5432`);
    sockets.push(near, far);
    let hasLock = false;
    near.once('data', (startup) => {
      hasLock = startup.includes('adit lock');
    });
    near.on('error', () => far.destroy()).pipe(far);
    far.on('data', (bytes) => {
      if (!(hasLock && bytes.includes('57P01'))) near.write(bytes); // 57P01: "terminating connection"
    });
    far.on('error', () => undefined).on('close', () => {
      if (!hasLock) near.destroy();
    });
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  const address = relay.address();
  if (address === null || typeof address === 'string') throw new Error('the relay does not listen');
  return {
    url: `postgresql://postgres@127.0.0.1:${address.port}${pathname}`,
    close() {
      relay.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

describeWith('initdb', 'a PostgreSQL database', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  }, 30_000);
  afterEach(endChildren);
  afterAll(() => postgresql.stop());

  const refusal = expect.stringMatching(/^adit: \S+:5432\/test_\w+: another server is running on this database\n$/);

  test('serves one server: a second one is refused in one line, the first goes on; killed, it is replaced at once', async () => {
    const url = await postgresql.createDatabase();
    const environment = { ADIT_DATABASE_URL: url };
    const first = await startServer({ environment });
    expect(await startSecond(url)).toEqual({ code: 1, output: refusal });
    expect(await call(first, '/client/add/', { remark: 'kept' })).toMatchObject({ status: 1 });
    first.child.kill('SIGKILL');
    await first.child.exited;
    const next = await startServer({ environment });
    expect(await call(next, '/client/list/')).toMatchObject({ total: 1 });
    expect((await startSecond(url)).code).toBe(1);
  }, 60_000);

  test('is claimed again by its server after all connections were cut', async () => {
    const url = await postgresql.createDatabase();
    const first = await startServer({ environment: { ADIT_DATABASE_URL: url, ADIT_LOG_LEVEL: 'info' } });
    const regained = first.child.says(/the database lock was reacquired/);
    await postgresql.cutConnections(url);
    await regained;
    expect(await startSecond(url)).toEqual({ code: 1, output: refusal });
    expect(await call(first, '/client/add/')).toMatchObject({ status: 1 });
  }, 60_000);

  test('that another one got meanwhile ends its server in one line; from the loss on it writes nothing', async () => {
    const url = await postgresql.createDatabase();
    const first = await startServer({ environment: { ADIT_DATABASE_URL: url, ADIT_LOG_LEVEL: 'info' } });
    const lost = first.child.says(/the connection that holds the database lock was lost/);
    // Waits for the lock as a server would that is started just then.
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    const pid = (await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    const locked = other.query('SELECT pg_advisory_lock(72707371)');
    const administrator = new pg.Client({ connectionString: url });
    await administrator.connect();
    const waits = async () =>
      (await administrator.query("SELECT 1 FROM pg_locks WHERE pid = $1 AND NOT granted AND locktype = 'advisory'", [pid])).rowCount === 1;
    await eventuallyAsync(waits, Boolean);
    await administrator.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'adit lock %'");
    await locked;
    await lost;
    const write = call(first, '/client/add/').catch(() => 'unanswered');
    const { code } = await first.child.exited;
    expect(code).toBe(1);
    expect(first.child.output).toMatch(/\nadit: \S+:5432\/test_\w+: another server is running on this database; this server ends\n$/);
    expect(await write).toBe('unanswered');
    expect((await other.query('SELECT count(*)::int AS clients FROM "Client"')).rows).toEqual([{ clients: 0 }]);
    await other.end();
    await administrator.end();
  }, 60_000);

  test('takes nothing from a server that has not noticed the loss of its lock, as soon as a second one is started', async () => {
    const url = await postgresql.createDatabase();
    const way = await withoutEndOfLock(url);
    const first = await startServer({ environment: { ADIT_DATABASE_URL: way.url } });
    expect(await call(first, '/client/add/', { remark: 'first' })).toMatchObject({ status: 1 });
    const administrator = new pg.Client({ connectionString: url });
    await administrator.connect();
    // Writes that the first server has under way when its lock is lost: they wait for a row of the administrator's.
    await administrator.query('BEGIN');
    await administrator.query(`UPDATE "Total" SET value = value WHERE name = 'clients'`);
    const underWay = call(first, '/client/add/', { remark: 'under way' }).catch(() => 'unanswered');
    const waits = async () =>
      (await administrator.query(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'adit' AND wait_event_type = 'Lock'`)).rowCount === 1;
    await eventuallyAsync(waits, Boolean);
    await administrator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'adit lock %'`);
    const second = await startServer({ environment: { ADIT_DATABASE_URL: url } });
    await administrator.query('COMMIT');
    expect(await call(second, '/client/add/', { remark: 'second' })).toMatchObject({ status: 1 });
    const late = await call(first, '/client/add/', { remark: 'late' }).catch(() => 'unanswered');
    expect([await underWay, late]).not.toContainEqual(expect.objectContaining({ status: 1 }));
    expect((await first.child.exited).code).toBe(1);
    expect(first.child.output).toMatch(/another server is running on this database; this server ends\n$/);
    const { rows } = await administrator.query('SELECT remark FROM "Client" ORDER BY id');
    expect(rows).toEqual([{ remark: 'first' }, { remark: 'second' }]);
    await administrator.end();
    way.close();
  }, 60_000);
});
