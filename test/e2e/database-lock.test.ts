import process from 'node:process';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { Child, endChildren } from '../support/child.ts';
import { type PostgresqlServer, startPostgresql } from '../support/postgresql.ts';
import { call, startServer } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { scratchDirectory } from '../support/scratch.ts';

const program = path.resolve(import.meta.dirname, '../../dist/main.js');

/** What a server says that is started on a database, and how it ends. */
async function startSecond(url: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const second = new Child(process.execPath, [program, 'server'], {
    ADIT_DATABASE_URL: url, ADIT_DATA_DIR: scratchDirectory(), ADIT_HTTP_PORT: '0', ADIT_BRIDGE_PORT: '0', ADIT_BRIDGE_TLS_PORT: '0', ADIT_LOG_LEVEL: 'error',
  });
  const { code } = await second.exited;
  return { code, output: second.output };
}

describeWith('initdb', 'a PostgreSQL database', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => { postgresql = await startPostgresql(); }, 30_000);
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
    const regained = first.child.says(/the database lock is held again/);
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
    const locked = other.query("SELECT pg_advisory_lock(objid::bigint) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())");
    const administrator = new pg.Client({ connectionString: url });
    await administrator.connect();
    const waits = async () => (await administrator.query("SELECT 1 FROM pg_locks WHERE pid = $1 AND NOT granted AND locktype = 'advisory'", [pid])).rowCount === 1;
    while (!await waits());
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
});
