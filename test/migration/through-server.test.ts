import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import v8 from 'node:v8';
import { afterAll, afterEach, expect, jest, test } from '@jest/globals';
import { Command } from 'commander';
import { z } from 'zod';
import { addressOf } from '../../src/http/listening.ts';
import { sign } from '../../src/legacy/signature.ts';
import { addMigrationCommands } from '../../src/migration/commands.ts';
import { graphqlUrl, post } from '../../src/migration/post.ts';
import { importThroughServer } from '../../src/migration/through-server.ts';
import { ImportSet } from '../../src/schema/import/records.ts';
import type { ImportReport } from '../../src/schema/import/report.ts';
import { readSettings } from '../../src/settings/load.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { lockDataDir } from '../../src/store/data-lock.ts';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { other } from '../support/certificates.ts';
import { migratedFile } from '../support/database.ts';
import { npsClient, npsFolder } from '../support/nps-folder.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

const servers: http.Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));
afterAll(removeScratchDirectories);

const configFile = path.join(scratchDirectory(), 'adit.toml');
writeFileSync(configFile, 'auth_key = "the key"\nbase_path = "/base"\n');

const sent = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()) });

/** A server of the test's making, which answers as `answer` says, with its settings and what it was asked. */
async function startServer(answer: (query: string) => unknown) {
  const asked: Array<{ readonly url: string | undefined; readonly query: string; readonly variables: Readonly<Record<string, unknown>> }> = [];
  const server = http.createServer((request, response) => {
    void (async () => {
      const { query, variables } = sent.parse(JSON.parse(await text(request)));
      const { 'x-adit-auth-key': key, 'x-adit-timestamp': timestamp, 'content-type': type } = request.headers;
      expect([request.method, type]).toEqual(['POST', 'application/json']);
      expect(key).toBe(sign('the key', Number(timestamp)));
      expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(1000);
      asked.push({ url: request.url, query: query.replaceAll(/\s+/g, ' '), variables });
      response.end(JSON.stringify(answer(query)));
    })();
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { settings } = readSettings({ configFile });
  return { asked, settings: { ...settings, httpPort: addressOf(server).port } };
}

const none = { added: 0, changed: 0, unchanged: 0 };
const report: ImportReport = {
  counts: { user: none, client: { added: 1, changed: 2, unchanged: 3 }, tunnel: none, host: none, platformDomain: none, globalSettings: none },
  counted: 4,
  problems: [{ source: 'server', field: 'f', text: 'problem' }],
  leftOut: [{ source: 'server', text: 'left out' }],
  notes: [{ source: 'server', text: 'note' }],
  refusal: '',
  outcome: 'done',
};
const takesAll = (query: string) => ({ data: query.includes('stageImport') ? { stageImport: 1 } : { runImport: report } });
const options = { dryRun: false, merge: true, update: false, skipBroken: true };
const findings = {
  problems: [{ source: 'folder', field: 'g', text: 'problem' }],
  leftOut: [{ source: 'folder', text: 'left out' }],
  notes: [{ source: 'folder', text: 'note' }],
};
const nothing = { problems: [], leftOut: [], notes: [] };

/** Records of which the texts are as long as this. */
function setOf(...lengths: readonly number[]): ImportSet {
  const set = new ImportSet();
  for (const length of lengths) {
    set.add({ kind: 'platformDomain', source: 's', id: 'x'.repeat(length), wildcard: '*.example.org', certificatePath: '', privateKeyPath: '' });
  }
  return set;
}

test('the records are sent as lines in parts, and imported by one call with all options, of which the report has both findings', async () => {
  const { asked, settings } = await startServer(takesAll);
  const set = setOf(10, 70_000, 65_000, 200_000, 0);
  expect(await importThroughServer(set, findings, options, settings)).toEqual({
    ...report,
    problems: [...findings.problems, ...report.problems],
    leftOut: [...findings.leftOut, ...report.leftOut],
    notes: [...findings.notes, ...report.notes],
  });
  const parts = asked.slice(0, -1).map(({ variables }) => z.string().parse(variables['part']));
  expect(parts.join('')).toBe([...set.all()].map((record) => `${JSON.stringify(record)}\n`).join(''));
  expect(parts.slice(0, -1).every(({ length }) => length === 65_536)).toBe(true);
  expect(parts.at(-1)?.length).toBeLessThan(65_536);
  const ids = new Set(asked.map(({ variables }) => variables['id']));
  const [id] = ids;
  expect([ids.size, new Set(asked.map(({ url }) => url))]).toEqual([1, new Set(['/base/graphql'])]);
  expect(asked.at(-1)).toMatchObject({
    query:
      'mutation ($id: ID!, $dryRun: Boolean, $merge: Boolean, $update: Boolean, $skipBroken: Boolean) { runImport(id: $id, dryRun: $dryRun, merge: $merge, update: $update, skipBroken: $skipBroken) }',
    variables: { id, ...options },
  });
});

test.each([
  [findings, { dryRun: false, skipBroken: false }, true, 'refused'],
  [findings, { dryRun: false, skipBroken: true }, false, 'done'],
  [findings, { dryRun: true, skipBroken: true }, true, 'done'],
  [nothing, { dryRun: false, skipBroken: false }, false, 'done'],
])('with the findings %j and the options %j it is a dry run: %j, and ends as %j', async (found, more, dryRun, outcome) => {
  const { asked, settings } = await startServer(takesAll);
  expect(await importThroughServer(setOf(), found, { ...options, ...more }, settings)).toMatchObject({ outcome });
  expect(asked.at(-1)?.variables).toMatchObject({ ...more, dryRun });
});

test('what the server refuses, or answers otherwise, is an error that says so', async () => {
  const failureOf = async (answer: unknown) => {
    const { settings } = await startServer(() => answer);
    return importThroughServer(setOf(), nothing, options, settings).then(() => 'none', String);
  };
  expect(await failureOf({ errors: [{ message: 'one' }, { message: 'two' }] })).toMatch(/has refused the import: one; two$/);
  expect(await failureOf({ data: null })).toMatch(/has refused the import: no data$/);
  expect(await failureOf({ data: { stageImport: 1 } })).toMatch(/has not answered the import$/);
  expect(await failureOf('nothing of Adit')).toMatch(/not reachable at http:\/\/127\.0\.0\.1:\d+\/base\/graphql: its response is not that of Adit\. Check/);
  const { settings } = await startServer(takesAll);
  const [server] = servers.splice(-1);
  server?.close();
  await expect(importThroughServer(setOf(), nothing, options, settings)).rejects.toThrow(/not reachable at .*: connect ECONNREFUSED/);
});

test.each<readonly [Partial<Settings>, string]>([
  [{}, 'http://127.0.0.1:8080/graphql'],
  [{ httpHost: '0.0.0.0', basePath: '/a' }, 'http://127.0.0.1:8080/a/graphql'],
  [{ httpHost: '::', httpPort: 1 }, 'http://[::1]:1/graphql'],
  [{ httpHost: '192.0.2.1' }, 'http://192.0.2.1:8080/graphql'],
  [{ httpHost: '2001:db8::1', httpTls: 'self-signed' }, 'https://[2001:db8::1]:8080/graphql'],
  [{ httpTls: 'acme' }, 'https://127.0.0.1:8080/graphql'],
  [{ httpTlsCert: '/c.pem' }, 'https://127.0.0.1:8080/graphql'],
])('with the settings %j the server of this machine is asked at %s', (settings, url) => {
  const usual = { httpHost: '127.0.0.1', httpPort: 8080, httpTls: 'off', httpTlsCert: '', basePath: '' } as const;
  expect(graphqlUrl({ ...usual, ...settings })).toBe(url);
});

test('a server with HTTPS is asked whatever its certificate, and one that dies in its response is not waited for', async () => {
  const server = https.createServer({ cert: other.certificate, key: other.key }, ({ url, socket }, response) => {
    response.setHeader('content-length', 4);
    if (url === '/whole') response.end('four');
    else response.write('one', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const base = `https://127.0.0.1:${addressOf(server).port}`;
  expect(await post(`${base}/whole`, {}, '{}')).toEqual({ status: 200, body: 'four' });
  await expect(post(`${base}/half`, {}, '{}')).rejects.toThrow('aborted');
});

/** Commands run in this process, and what they print. */
async function run(
  ...words: readonly string[]
): Promise<{ readonly text: string; readonly notices: string; readonly code: typeof process.exitCode; readonly own: readonly unknown[] }> {
  const own: unknown[] = [];
  const program = new Command();
  addMigrationCommands(program, { agent: async (flags) => void own.push(['agent', flags]), visit: async (flags) => void own.push(['visit', flags]) });
  const [out, err] = [jest.spyOn(process.stdout, 'write').mockReturnValue(true), jest.spyOn(process.stderr, 'write').mockReturnValue(true)];
  const flags = jest.spyOn(v8, 'setFlagsFromString').mockReturnValue();
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    await program.parseAsync(words, { from: 'user' });
    const said = ({ mock }: typeof out) => mock.calls.map(([text]) => String(text)).join('');
    return { text: said(out), notices: said(err), code: process.exitCode, own };
  } finally {
    process.exitCode = before;
    for (const spy of [out, err, flags]) spy.mockRestore();
  }
}

/** Settings of a server that runs on a data directory. */
function settingsFileOf(dataDir: string, port: number): string {
  const file = path.join(scratchDirectory(), 'adit.toml');
  writeFileSync(file, `auth_key = "the key"\nbase_path = "/base"\ndata_dir = ${JSON.stringify(dataDir)}\nhttp_port = ${port}\n`);
  return file;
}

test('the command passes each of its options on, prints the report as a text or as JSON, and fails if nothing was imported', async () => {
  const { asked, settings } = await startServer(takesAll);
  const dataDir = scratchDirectory();
  const unlock = lockDataDir(dataDir);
  const folder = npsFolder({ clients: [npsClient()], conf: '' });
  const config = settingsFileOf(dataDir, settings.httpPort);
  const off = { dryRun: false, merge: false, update: false, skipBroken: false };
  for (
    const [flag, option] of [['--dry-run', 'dryRun'], ['--merge', 'merge'], ['--update', 'update'], ['--skip-broken', 'skipBroken'], ['--json', '']] as const
  ) {
    const { text: printed, code } = await run('import', 'nps', folder, '--config', config, flag);
    expect(code).toBeUndefined();
    const { id: _, ...sentOptions } = asked.at(-1)?.variables ?? {};
    expect(sentOptions).toEqual({ ...off, ...(option !== '' && { [option]: true }) });
    if (flag === '--json') expect(JSON.parse(printed)).toEqual({ ...report, remarks: ['All limits in the records apply.'] });
    else expect(printed).toMatch(/^ +new +changed[^]*All limits in the records apply\./);
  }
  const refused = (...more: readonly string[]) => run('import', 'nps', npsFolder({ clients: '{' }), '--config', config, ...more);
  expect(await refused()).toMatchObject({ code: 1, text: expect.stringContaining('Nothing was imported') });
  expect(await refused('--json')).toMatchObject({ code: 1, text: expect.stringContaining('"outcome": "refused"') });
  await unlock();
});

test('an export has the counters that a server left, and is that of the lineage and the data directory', async () => {
  const dataDir = scratchDirectory();
  const file = path.join(dataDir, databaseFileName);
  copyFileSync(await migratedFile(), file);
  const database = openDatabase(file);
  database.exec(`INSERT INTO "Client" (id, vkey) VALUES (1, 'k'); INSERT INTO "Counter" (kind, id, "inletBytes", "exportBytes") VALUES ('client', 1, 7, 8)`);
  database.close();
  const directory = path.join(scratchDirectory(), 'exported');
  const command = ['export', 'nps', directory, '--lineage', 'D', '--config', settingsFileOf('/nowhere', 1), '--data-dir', dataDir];
  const unlock = lockDataDir(dataDir);
  await expect(run(...command)).rejects.toThrow(/another server is running/);
  await unlock();
  expect((await run(...command)).text).toContain(`Written to ${directory}: 1 clients, 0 tunnels, 0 hosts.`);
  const [client] = readFileSync(path.join(directory, 'clients.json'), 'utf8').split('\n*#*');
  expect(JSON.parse(client ?? '')).toMatchObject({ VerifyKey: 'k', InletFlow: 7, ExportFlow: 8, Flow: { InletFlow: 7, ExportFlow: 8 } });
  await expect(run(...command, '--database-url', 'mysql://h/d')).rejects.toThrow(/--database-url: must be empty/);
  // It has given the directory back.
  await lockDataDir(dataDir)();
});

test('files of NPS are converted, and the flags of npc run an agent or a visitor', async () => {
  const directory = scratchDirectory();
  const place = (name: string): string => path.join(directory, name);
  writeFileSync(place('nps.conf'), 'web_port=81\n');
  writeFileSync(place('npc.conf'), '[common]\nserver_addr=h:1\nvkey=k\n');
  expect((await run('import', 'nps-conf', place('nps.conf'))).text).toContain('http_port = 81');
  expect((await run('import', 'npc-conf', place('npc.conf'))).text).toContain('server = "h:1"');
  await run('import', 'nps-conf', place('nps.conf'), '--out', place('adit.toml'));
  await run('import', 'npc-conf', place('npc.conf'), '--out', place('agent.toml'));
  expect(['adit.toml', 'agent.toml'].map((name) => /^# Made from an (\S+)/.exec(readFileSync(place(name), 'utf8'))?.[1])).toEqual(['nps.conf', 'npc.conf']);
  expect(await run('npc', '-server=h:1', '-vkey=k', '-debug')).toMatchObject({
    own: [['agent', { server: 'h:1', vkey: 'k' }]],
    notices: 'adit: -debug is ignored: use ADIT_LOG_LEVEL\n',
  });
  expect((await run('npc', '-server=h:1', '-password=p')).own).toEqual([['visit', { server: 'h:1', type: 'p2p', password: 'p', listen: '2000' }]]);
  const { own: [ran] } = await run('npc', `-config=${place('npc.conf')}`);
  const [, flags] = z.tuple([z.literal('agent'), z.object({ config: z.string() })]).parse(ran);
  expect(readFileSync(flags.config, 'utf8')).toBe(readFileSync(place('agent.toml'), 'utf8'));
});
