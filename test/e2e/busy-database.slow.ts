import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { askHealth, LoopHold, watchedLoop } from '../support/loop-hold.ts';
import { type PostgresqlServer, startPostgresql } from '../support/postgresql.ts';
import { type ServerProcess, signedNow, startServer } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { spawnScript } from '../support/script.ts';

// Short form: test/store/busy-database.test.ts

afterEach(() => endChildren());

/** Calls of a server: a new client, and whether it is ready. */
function callsOf(server: ServerProcess) {
  const url = `http://127.0.0.1:${server.httpPort}`;
  return {
    async add(remark: string) {
      const { auth_key: key, timestamp } = signedNow();
      const response = await fetch(`${url}/client/add/`, {
        method: 'POST',
        body: new URLSearchParams({ auth_key: key, timestamp: String(timestamp), remark }),
      });
      return [response.status, await response.json()];
    },
    async ready() {
      const response = await fetch(`${url}/readyz`);
      return [response.status, await response.json()];
    },
  };
}

/** What the log has said since the start, without the times. */
const logOf = ({ child }: ServerProcess) =>
  child.output.split('\n').filter((line) => / (WARN|ERROR) |^ +at |Invalid/.test(line)).map((line) => line.replace(/^\S+ /, ''));
/** The refused write and each question whether the server is ready have a line of their own. */
const busyLog = expect.arrayContaining([
  expect.stringMatching(/^WARN {2}legacy: a legacy call failed .*code=DATABASE_BUSY reason="[^"]+"$/),
  'WARN  http: not ready code=DATABASE_BUSY check=database',
]);

const notReady = [503, { status: 'not ready', failed: ['database'], codes: { database: 'DATABASE_BUSY' } }];

test('while another process holds the lock of the database the server serves on, and refuses writes with 503 after 5 s', async () => {
  const server = await startServer({ environment: { ...watchedLoop, ADIT_LOG_LEVEL: 'warn' } });
  const hold = new LoopHold(server);
  const { add, ready } = callsOf(server);
  expect(await add('before')).toEqual([200, { status: 1, msg: 'add success', id: 1 }]);

  const holder = spawnScript(new URL('../store/processes/hold-lock.ts', import.meta.url), [path.join(server.dataDir, databaseFileName)]);
  await once(createInterface({ input: holder.stdout }), 'line');
  await hold.most();
  const stop = await askHealth(server);
  expect(await add('meanwhile')).toEqual([503, { status: 0, msg: 'the database is busy' }]);
  expect(await hold.most()).toBeLessThan(50);
  expect(await stop()).toBeLessThan(2500); // other suites use the processors, too: a lock that held the thread would take 5 s
  expect(await ready()).toEqual(notReady);
  expect(logOf(server)).toEqual(busyLog);
  expect(logOf(server).filter((line) => !line.includes('code=DATABASE_BUSY'))).toEqual([]);

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await eventuallyAsync(ready, ([status]) => status === 200);
  expect(await add('after')).toEqual([200, { status: 1, msg: 'add success', id: 2 }]);
});

describeWith('initdb', 'PostgreSQL', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(() => postgresql.stop());

  test('while another program locks one table, writes to it are refused with 503 and the server is not ready, even if other tables are writable', async () => {
    const databaseUrl = await postgresql.createDatabase();
    const server = await startServer({ environment: { ADIT_DATABASE_URL: databaseUrl, ADIT_LOG_LEVEL: 'warn' } });
    const { add, ready } = callsOf(server);
    expect(await add('before')).toEqual([200, { status: 1, msg: 'add success', id: 1 }]);
    const holder = new pg.Client({ connectionString: databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE "Client" IN SHARE ROW EXCLUSIVE MODE');
    expect(await add('meanwhile')).toEqual([503, { status: 0, msg: 'the database is busy' }]);
    expect(await ready()).toEqual(notReady);
    const { auth_key: key, timestamp } = signedNow();
    const body = new URLSearchParams({ auth_key: key, timestamp: String(timestamp), globalBlackIpList: '192.0.2.1' });
    expect((await fetch(`http://127.0.0.1:${server.httpPort}/global/save/`, { method: 'POST', body })).status).toBe(200); // another table
    expect(await ready()).toEqual(notReady);
    expect(logOf(server)).toEqual(busyLog);
    expect(logOf(server).filter((line) => !line.includes('code=DATABASE_BUSY'))).toEqual([]);
    await holder.query('COMMIT');
    await holder.end();
    await eventuallyAsync(ready, ([status]) => status === 200);
    expect(await add('after')).toMatchObject([200, { status: 1 }]);
  });
});
