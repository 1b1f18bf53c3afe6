// Writes the other files of this directory: data that version 0.1 has stored in both databases, and what its API says about it.
//   npx tsx test/e2e/data-of-0.1/make.ts CHECKOUT     with a compiled checkout of 0.1 (commit bbf6d55)
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { openDatabase, type SqliteValue } from '../../../src/store/sqlite/binding.ts';
import { endChildren } from '../../support/child.ts';
import { startOwnPostgresql } from '../../support/postgresql.ts';
import { call, newDataDir, type Parameters, type ServerProcess, signedNow, startAgent, startServer, write } from '../../support/processes.ts';
import { PORTS, QUESTIONS } from './questions.ts';

const [, , root = ''] = process.argv;
const here = import.meta.dirname;

/** Fills a server of 0.1 with records of every kind, with counters and history. */
async function fill(server: ServerProcess): Promise<string> {
  await write(server, '/user/add/', {
    username: 'alice',
    password: 'the password of alice',
    max_client: 5,
    max_tunnel: 20,
    expire_time: '2099-01-01',
    remark: 'a user',
  });
  const owned = await write(server, '/client/add/', {
    vkey: 'the key of the first client',
    remark: 'first',
    u: 'proxy',
    p: 'its password',
    rate_limit: 5000,
    user_id: 1,
  });
  const other = await write(server, '/client/add/', { vkey: 'the key of the second client', remark: 'second', max_conn: 7, blackiplist: '192.0.2.0/24' });
  const add = (client_id: number, parameters: Parameters) => write(server, '/index/add/', { client_id, ...parameters });
  await add(owned, { type: 'tcp', port: PORTS.tunnel, target: `127.0.0.1:${PORTS.target}`, remark: 'to the web server' });
  await add(owned, { type: 'secret', password: 'the password of the tunnel', target: '127.0.0.1:22' });
  await add(owned, { type: 'p2p', password: 'another password', target: '127.0.0.1:22' });
  const stopped = await add(other, { type: 'udp', port: PORTS.udp, target: '127.0.0.1:53' });
  await write(server, '/index/stop/', { id: stopped });
  await write(server, '/index/addhost/', {
    client_id: owned,
    host: 'www.example.com',
    target: '127.0.0.1:80',
    header: 'X-One: 1',
    hostchange: 'inner.example',
    location: '/path',
  });
  await write(server, '/index/addhost/', { client_id: other, host: '*.example.org', target: '127.0.0.1:80\n127.0.0.1:81', scheme: 'http' });
  await write(server, '/global/save/', { serverUrl: 'tunnel.example.com', globalBlackIpList: '198.51.100.7' });
  const { auth_key, timestamp } = signedNow();
  const response = await fetch(`http://127.0.0.1:${server.httpPort}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-adit-auth-key': auth_key, 'x-adit-timestamp': String(timestamp) },
    body: JSON.stringify({ query: 'mutation { createApiToken(input: { name: "scripts" }) { token } }' }),
  });
  const { data } = JSON.parse(await response.text());
  await carry(server);
  return data.createApiToken.token;
}

/** Sends bytes through the tunnel, so that there are counters. */
async function carry(server: ServerProcess): Promise<void> {
  const target = net.createServer((socket) => socket.pipe(socket)).listen(PORTS.target, '127.0.0.1');
  await once(target, 'listening');
  const agent = await startAgent({ ...server, root }, 'the key of the first client');
  const visitor = net.connect(PORTS.tunnel, '127.0.0.1');
  visitor.end('x'.repeat(100_000));
  if ((await text(visitor)).length !== 100_000) throw new Error('the echo is not complete');
  agent.kill('SIGTERM');
  await agent.exited;
  target.close();
}

async function answersOf(server: ServerProcess): Promise<object> {
  return Object.fromEntries(await Promise.all(QUESTIONS.map(async (question) => [question.route, await call(server, question.route, question.parameters)])));
}

const quoted = (value: SqliteValue): string =>
  value === null
    ? 'NULL'
    : typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : value instanceof Uint8Array
    ? `X'${Buffer.from(value).toString('hex')}'`
    : `'${value.replaceAll("'", "''")}'`;

/** A SQLite database as statements that make it again. */
function dump(file: string): string {
  const database = openDatabase(file, { readOnly: true });
  const schema = database.prepare("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid").all() as Array<
    { readonly type: string; readonly name: string; readonly sql: string }
  >;
  const rows = schema.filter(({ type, sql }) => type === 'table' && !/VIRTUAL TABLE/i.test(sql)).flatMap(({ name }) =>
    (database.prepare(`SELECT * FROM "${name}"`).all() as Record<string, SqliteValue>[]).map((row) =>
      `INSERT INTO "${name}" VALUES (${Object.values(row).map(quoted).join(', ')});`
    )
  );
  database.close();
  const statements = (wanted: (type: string) => boolean) => schema.filter(({ type }) => wanted(type)).map(({ sql }) => `${sql};`);
  return `${[...statements((type) => type === 'table'), ...rows, ...statements((type) => type !== 'table')].join('\n')}\n`;
}

const file = (name: string): string => path.join(here, name);
const postgresql = await startOwnPostgresql();
const url = await postgresql.createDatabase();
for (const [name, databaseUrl] of [['sqlite', ''], ['postgresql', url]] as const) {
  const dataDir = newDataDir();
  const options = { root, dataDir, environment: { ADIT_DATABASE_URL: databaseUrl } };
  const server = await startServer(options);
  const token = await fill(server);
  server.child.kill('SIGTERM');
  await server.child.exited;
  // What it has stored.
  const again = await startServer(options);
  const answers = await answersOf(again);
  again.child.kill('SIGTERM');
  await again.child.exited;
  // The bridge of a test has another port.
  const kept = (key: string, value: unknown) => key === 'bridgePort' ? undefined : value;
  writeFileSync(file(`${name}.json`), `${JSON.stringify({ token, answers }, kept, 1)}\n`);
  const sql = databaseUrl === ''
    ? dump(path.join(dataDir, 'adit.db'))
    : execFileSync('pg_dump', ['--inserts', '--no-owner', url], { encoding: 'utf8' });
  writeFileSync(file(`${name}.sql`), sql.split('\n').filter((line) => !line.startsWith('\\')).join('\n'));
  process.stderr.write(`${name}: ${readdirSync(dataDir).join(' ')}\n`);
  if (databaseUrl === '') writeFileSync(file('secrets.json'), readFileSync(path.join(dataDir, 'secrets.json')));
}
await postgresql.stop();
await endChildren();
