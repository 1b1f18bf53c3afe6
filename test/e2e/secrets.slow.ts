import process from 'node:process';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { Child, endChildren } from '../support/child.ts';
import {
  callAll,
  callBadly,
  callersOf,
  createToken,
  expectHashed,
  expectTight,
  finish,
  listen,
  plant,
  provokeFaults,
  refuseInSqlite,
  startAgents,
} from '../support/planted-drive.ts';
import { PlantedRun, type Sent } from '../support/planted-run.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { programOf, quickStart } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

// Short form: test/e2e/secrets.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

test(
  'no secret is in an answer, an event, the audit log, the metrics, an error or the log, whatever is called; those that need not be read again are not in the database either',
  async () => {
    const run = new PlantedRun();
    await run.start();
    await plant(run);
    const agents = await startAgents(run);
    const endListening = await listen(run);
    const tokens = [run.token('user', await run.call(run.admin, '/user/regenerateapikey/', { id: '1' })), run.token('administrator', await createToken(run))];
    for (const token of tokens) expect(await run.call(token, '/client/list/')).toMatch(/"total":2/);
    const callers = await callersOf(run);
    for (const caller of callers) await callAll(run, caller);
    await callBadly(run);
    for (const page of ['/', '/login/index', '/healthz', '/readyz', '/metrics', '/openapi.json', '/api', '/nowhere']) {
      for (const caller of callers) await run.get(caller, page, { accept: 'text/html' });
    }
    await provokeFaults(run, () => refuseInSqlite(run));
    await finish(run, endListening);
    expectTight(run, [run.server.child, ...agents]);
    expectHashed(run);
  },
);

test('a database that cannot be reached, a bad setting and the printed settings show no secret', async () => {
  const run = new PlantedRun();
  const url = `postgresql://adit:${run.secret('databasePassword')}@127.0.0.1:1/adit`;
  const secrets = {
    ADIT_DATABASE_URL: url,
    ADIT_AUTH_KEY: run.secret('authKey'),
    ADIT_AUTH_CRYPT_KEY: run.cryptKey,
    ADIT_ADMIN_PASSWORD: run.secret('adminPassword'),
  };
  const start = async (args: readonly string[], environment: Sent) => {
    const child = new Child(process.execPath, [...quickStart, programOf(), 'server', ...args], {
      ADIT_DATA_DIR: run.files,
      ADIT_HTTP_PORT: '0',
      ADIT_LOG_LEVEL: 'trace',
      ...secrets,
      ...environment,
    });
    const { code } = await child.exited;
    return { child, code };
  };
  const ended = [
    await start([], {}),
    await start(['--print-config'], {}),
    await start(['--admin-password', run.secret('wrongPassword'), '--nonsense'], { ADIT_DATABASE_URL: run.secret('databasePassword') }),
    await start([], { ADIT_ADMIN_PASSWORD_FILE: '/nowhere' }),
  ];
  expect(ended.map(({ code }) => code)).toEqual([1, 0, 2, 2]);
  expect(ended[0]?.child.output).toMatch(/database/);
  expect(run.leaks(ended.map(({ child }) => child))).toEqual([]);
});

describeWith('initdb', 'on PostgreSQL', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(async () => {
    await endChildren();
    await postgresql.stop();
  });

  test('no secret leaks either, though its errors quote the rows they are about', async () => {
    const run = new PlantedRun();
    const url = (await postgresql.createDatabase()).replace('postgres@', `postgres:${run.secret('databasePassword')}@`);
    await run.start({ ADIT_DATABASE_URL: url });
    await plant(run);
    run.token('administrator', await createToken(run));
    const endListening = await listen(run);
    await callAll(run, run.admin);
    await provokeFaults(run, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      for (const table of ['User', 'Client', 'Tunnel', 'Host']) {
        await client.query(`ALTER TABLE "${table}" ADD CONSTRAINT "fault${table}" CHECK (remark <> 'fault')`);
      }
      await client.end();
    });
    await finish(run, endListening);
    expectTight(run, [run.server.child]);
  });
});
