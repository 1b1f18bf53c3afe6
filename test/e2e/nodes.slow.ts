import { readFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { Child, endChildren } from '../support/child.ts';
import { freePort } from '../support/free-port.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { metrics, programOf, quickStart, type ServerProcess, startServer } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { serve } from '../support/served.ts';
import { aditNodes, everywhere } from '../support/several-servers.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { version } from '../../src/version.ts';

// Short form: test/e2e/several-servers.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

const rows = async (server: ServerProcess) => (await aditNodes(server, ['--json'])).output.trim().split('\n').map((line): unknown => JSON.parse(line));

/** Runs a command of the program on a data directory. */
async function adit(dataDir: string, ...words: string[]) {
  const child = new Child(process.execPath, [...quickStart, programOf(), ...words], { ADIT_DATA_DIR: dataDir });
  const { code } = await child.exited;
  return { code, output: child.output };
}

const fileOf = (dataDir: string, name: string) => readFile(path.join(dataDir, name), 'utf8');

describeWith('initdb', 'nodes on PostgreSQL', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(() => postgresql.stop());

  test('have the same secrets and certificates: a server on an empty data directory takes the place of another one', async () => {
    const environment = { ADIT_DATABASE_URL: await postgresql.createDatabase() };
    const first = await startServer({ environment });
    expect(first.child.output).toContain('Generated at this first start');
    const invitation = await adit(first.dataDir, 'nodes', 'invite');
    expect(invitation).toEqual({ code: 0, output: expect.stringMatching(/^adit-invitation-[\w-]{43}\n$/) });
    const shared = ['secrets.json', 'bridge-tls.pem', 'tls-tickets.json'];
    const contents = async (dataDir: string) => Promise.all(shared.map((name) => fileOf(dataDir, name)));
    await first.child.end();

    const dataDir = scratchDirectory();
    const second = await startServer({ environment: { ...environment, ADIT_INVITATION: invitation.output }, dataDir });
    expect(second.fingerprint).toBe(first.fingerprint);
    expect(second.child.output).not.toContain('Generated at this first start');
    await second.child.end();
    expect(await contents(dataDir)).toEqual(await contents(first.dataDir));

    await expect(startServer({ environment, dataDir: scratchDirectory() })).rejects.toThrow(/set ADIT_INVITATION to what/);
    const empty = scratchDirectory();
    expect(await adit(empty, 'nodes', 'invite')).toEqual({ code: 2, output: expect.stringMatching(/^adit: .*installation\.key: there is no such file/) });
  });

  test('are shown by adit nodes: each server that has used the database, with its agents and connections', async () => {
    const environment = { ADIT_DATABASE_URL: await postgresql.createDatabase(), ADIT_NODE: 'one', ADIT_NODE_ADDRESS: '192.0.2.1' };
    const { server, tunnel, agent } = await serve((await startEcho()).address, { environment });
    const visitor = await visit(tunnel.port);
    await roundTrip(visitor, 'hello');
    const one = {
      name: 'one',
      address: `192.0.2.1:${server.bridgePort}`,
      version,
      startedAt: expect.any(String),
      lastReportAt: expect.any(String),
      lagSeconds: expect.any(Number),
      differentSettings: [],
      unreachableFrom: [],
    };
    await everywhere([server], '{ nodes { agents connections } }', (data) => JSON.stringify(data).includes('"agents":1,"connections":1'));
    const [seen] = await rows(server);
    expect(seen).toEqual({ ...one, alive: true, stopped: false, draining: false, agents: 1, connections: 1, load: expect.any(Number) });
    expect(await metrics(server)).toMatch(/^adit_info\{version="[^"]+",node="one"\} 1$/m);
    visitor.destroy();
    await agent.end();
    server.child.kill('SIGTERM');
    await server.child.exited;

    const next = await startServer({ environment: { ...environment, ADIT_NODE: 'two', ADIT_NODE_ADDRESS: '' }, dataDir: server.dataDir });
    expect(await rows(next)).toEqual([
      expect.objectContaining({ ...one, alive: false, stopped: true }),
      {
        name: 'two',
        address: null,
        version,
        startedAt: expect.any(String),
        lastReportAt: expect.any(String),
        stopped: false,
        alive: true,
        draining: false,
        agents: 0,
        connections: 0,
        load: expect.any(Number),
        lagSeconds: expect.any(Number),
        differentSettings: [],
        unreachableFrom: [],
      },
    ]);
    expect((await aditNodes(next)).output).toMatch(
      /^NAME +ADDRESS +VERSION +STARTED +ALIVE +DRAINING +AGENTS +CONNECTIONS +LOAD +LAG\none +192\.0\.2\.1:.* no .*\ntwo +- .* yes +no +0 +0 +\d+ % +[\d.]+ s\n$/,
    );
    const database = new pg.Client({ connectionString: environment.ADIT_DATABASE_URL });
    await database.connect();
    const since = '2026-01-02T03:04:05.000Z';
    const unreached = [{ name: 'two', since: Date.parse(since), problem: 'connect ECONNREFUSED 192.0.2.2:8025' }];
    const running = "UPDATE \"Node\" SET stopped = $1, \"seenAt\" = timezone('UTC', clock_timestamp()) + interval '1 h', unreached = $2 WHERE name = 'one'";
    await database.query(running, [false, JSON.stringify(unreached)]);
    expect((await aditNodes(next)).output).toContain(`\ntwo cannot be reached from one since ${since}: connect ECONNREFUSED 192.0.2.2:8025\n`);
    await next.child.says(/other servers cannot reach this one: .* nodes=\["one"\] problem="connect ECONNREFUSED 192\.0\.2\.2:8025"/);
    await database.query(`UPDATE "Node" SET "seenAt" = '2026-01-02T03:04:05.000' WHERE name = 'one'`);
    expect((await aditNodes(next)).output).toMatch(
      /\none .* no +- +- +- +- +-\ntwo .*\none has not reported to the database since 2026-01-02T03:04:05\.000Z, and was not stopped\n$/,
    );
    await next.child.says(/all other servers can reach this one again/);
    await database.query(running, [true, '[]']);
    await database.end();
    expect(await aditNodes(next, ['drain', 'one'])).toEqual({
      code: 1,
      output: expect.stringContaining('the server one is not running, or cannot reach the database'),
    });
    expect(await aditNodes(next, ['drain', 'two'])).toEqual({ code: 1, output: expect.stringContaining('no other server could take over') });
  });
});

test('adit nodes on SQLite shows the server itself, and explains in one line why there is no list', async () => {
  const server = await startServer({ environment: { ADIT_NODE: 'alone' } });
  expect(await rows(server)).toMatchObject([{ name: 'alone', alive: true, lagSeconds: 0 }]);
  expect(await aditNodes(server, [], 'another key')).toEqual({ code: 1, output: expect.stringMatching(/^adit: the server at \S+ refused the request: .+\n$/) });
  expect(await aditNodes({ httpPort: await freePort() })).toEqual({
    code: 1,
    output: expect.stringMatching(/^adit: no response from the server at \S+: .*ECONNREFUSED.*\n$/),
  });
});
