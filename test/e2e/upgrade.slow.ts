import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import pg from 'pg';
import * as z from 'zod';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { Child, endChildren } from '../support/child.ts';
import { eachDialect } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { authKey, call, newDataDir, programOf, type ServerOptions, type ServerProcess, startAgent, startServer } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { echoThrough } from '../support/soak/transfer.ts';
import { startEcho, visit } from '../support/target.ts';
import { PORTS, QUESTIONS } from './data-of-0.1/questions.ts';

// Short form: test/store/migrations.test.ts

const stored = path.join(import.meta.dirname, 'data-of-0.1');
const saved = z.object({ token: z.string(), answers: z.record(z.string(), z.looseObject({})) });
/** A checkout of version 0.1, to go back to it in truth, as `npm run bench` takes one. */
const former = process.env['ADIT_FORMER_CHECKOUT'];

const tables = z.array(z.object({ name: z.string() }));

/** A checksum of all rows of a SQLite database, by table. */
function rowsOf(file: string): Readonly<Record<string, string>> {
  const database = openDatabase(file, { readOnly: true });
  const found = tables.parse(database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all());
  const rows = found.map(({ name }) => {
    const all = database.prepare(`SELECT * FROM "${name}"`).all();
    return [name, createHash('sha256').update(JSON.stringify(all)).digest('hex')];
  });
  database.close();
  return Object.fromEntries(rows);
}

eachDialect('data of version 0.1', (databases) => {
  const { dialect } = databases;
  afterEach(endChildren);
  afterAll(removeScratchDirectories);

  /** Puts what 0.1 has stored into a new data directory and database. @param replace changes the ports in it */
  async function restore(replace: (text: string) => string): Promise<Required<Pick<ServerOptions, 'dataDir' | 'environment'>>> {
    const dataDir = newDataDir();
    writeFileSync(path.join(dataDir, 'secrets.json'), readFileSync(path.join(stored, 'secrets.json')), { mode: 0o600 });
    const sql = replace(readFileSync(path.join(stored, `${dialect}.sql`), 'utf8'));
    if (dialect === 'sqlite') {
      const database = openDatabase(path.join(dataDir, databaseFileName));
      database.exec(sql);
      database.close();
      return { dataDir, environment: {} };
    }
    const { url } = await databases.create();
    const client = new pg.Client(url);
    await client.connect();
    await client.query(sql);
    await client.end();
    return { dataDir, environment: { ADIT_DATABASE_URL: url } };
  }

  async function stop({ child }: ServerProcess): Promise<void> {
    child.kill('SIGTERM');
    await child.exited;
  }

  test('is all there after an upgrade, and the agent and the tokens of then still work', async () => {
    const echo = await startEcho();
    const [tunnelPort, udpPort] = [await freePort(), await freePort()];
    const replace = (text: string) =>
      text.replaceAll(String(PORTS.tunnel), String(tunnelPort)).replaceAll(String(PORTS.target), String(echo.port)).replaceAll(
        String(PORTS.udp),
        String(udpPort),
      );
    const options = await restore(replace);
    const secrets = readFileSync(path.join(options.dataDir, 'secrets.json'), 'utf8');
    const { token, answers } = saved.parse(JSON.parse(replace(readFileSync(path.join(stored, `${dialect}.json`), 'utf8'))));
    const before = dialect === 'sqlite' ? rowsOf(path.join(options.dataDir, databaseFileName)) : undefined;
    const server = await startServer(options);
    for (const { route, parameters } of QUESTIONS) expect({ [route]: await call(server, route, parameters) }).toMatchObject({ [route]: answers[route] });

    const response = await fetch(`http://127.0.0.1:${server.httpPort}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, connection: 'close' },
      body: JSON.stringify({ query: '{ globalSettings { serverUrl } }' }),
    });
    expect(await response.json()).toEqual({ data: { globalSettings: { serverUrl: 'tunnel.example.com' } } });
    await startAgent(server, 'the key of the first client');
    await echoThrough(await visit(tunnelPort), 200_000, 1);
    expect(readFileSync(path.join(options.dataDir, 'secrets.json'), 'utf8')).toBe(secrets);
    await stop(server);
    if (dialect === 'postgresql') return;
    const copy = path.join(options.dataDir, `${databaseFileName}.0006_no_store`);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(rowsOf(copy)).toEqual(before);
  });

  if (former !== undefined) {
    test('that was upgraded is refused by 0.1, which changes nothing; what was there before works again', async () => {
      const options = await restore((text) => text);
      await stop(await startServer(options));
      // SQLite moves its log into the database when that is closed, so its rows are compared.
      const content = () =>
        readdirSync(options.dataDir).filter((name) => !/-(wal|shm)$/.test(name)).toSorted().map((name) => {
          const file = path.join(options.dataDir, name);
          return [name, name === databaseFileName ? rowsOf(file) : readFileSync(file, 'utf8')];
        });
      const before = content();
      const refused = new Child(process.execPath, [programOf(former), 'server'], {
        ...options.environment,
        ADIT_DATA_DIR: options.dataDir,
        ADIT_AUTH_KEY: authKey,
        ADIT_HTTP_PORT: '0',
      });
      expect((await refused.exited).code).toBe(1);
      expect(refused.output).toContain("the database is newer than this program: it has migration 0007_named_by_admin, which this version doesn't know");
      expect(content()).toEqual(before);
      if (dialect === 'postgresql') return;
      // As docs/upgrading.md says.
      const database = path.join(options.dataDir, databaseFileName);
      for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true });
      renameSync(`${database}.0006_no_store`, database);
      const back = await startServer({ ...options, root: former });
      expect(await call(back, '/client/list/', { limit: 100 })).toMatchObject({ total: 2 });
      await stop(back);
    });
  }
});
