import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { expect } from '@jest/globals';
import { routes } from '../../src/legacy/routes.ts';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { other } from './certificates.ts';
import { Child } from './child.ts';
import { rootFields, wholeOperation } from './every-field.ts';
import type { Caller, PlantedRun, Sent } from './planted-run.ts';
import { fieldValue, parametersFor, secretNames } from './planted-values.ts';

const program = path.resolve(import.meta.dirname, '../../dist/main.js');
const written = routes.filter((route) => !route.path.startsWith('/login/'));
const operations = rootFields.filter(({ kind }) => kind !== 'subscription');

/** Makes records that hold every secret. */
export async function plant(run: PlantedRun): Promise<void> {
  const made = async (route: string, sent: Sent) => expect(await run.call(run.admin, route, sent)).toMatch(/"status":1/);
  await made('/user/add/', { username: 'alice', password: run.secret('userPassword') });
  await made('/user/add/', { username: 'bob', password: run.secret('userPassword') });
  await made('/client/add/', {
    vkey: run.secret('vkey'),
    user_id: '1',
    u: 'basic',
    p: run.secret('basicPassword'),
    web_username: 'web',
    web_password: run.secret('webPassword'),
    ipwhitepass: run.secret('ipWhitePassword'),
  });
  await made('/client/add/', { user_id: '1' });
  run.planted.add('vkey generated', /"VerifyKey":"(\w+)"/.exec(await run.call(run.admin, '/client/getclient/', { id: '2' }))?.[1] ?? '');
  await made('/index/add/', { client_id: '1', type: 'tcp', port: '0', server_ip: '127.0.0.1', target: '127.0.0.1:1', password: run.secret('tunnelPassword') });
  await made('/index/addhost/', {
    client_id: '1',
    host: 'a.example.org',
    target: '127.0.0.1:1',
    header: `X-Planted: ${run.secret('header')}`,
    key_file_path: other.key,
    cert_file_path: other.certificate,
  });
}

/** Agents with a right and with a wrong key, as talkative as can be. */
export async function startAgents(run: PlantedRun): Promise<Child[]> {
  const { child, tlsPort, fingerprint } = run.server;
  const start = (vkey: string, format: string) =>
    new Child(process.execPath, [
      program,
      'agent',
      '--server',
      `127.0.0.1:${tlsPort}`,
      '--tls-fingerprint',
      fingerprint,
      '--log-level',
      'trace',
      '--log-format',
      format,
    ], { ADIT_VKEY: run.secret(vkey) });
  const agents = [start('vkey', 'text'), start('wrong vkey', 'json')];
  await agents[0]?.says(/connected to/);
  await child.says(/a vkey that no client has/);
  return agents;
}

/** @returns the answer, which holds the token */
export function createToken(run: PlantedRun): Promise<string> {
  return run.graphql(run.admin, 'a token', { query: 'mutation { createApiToken(input: { name: "planted" }) { token } }' });
}

/** Everybody who can call, the mightiest last: their edits end the sessions of those before. */
export async function callersOf(run: PlantedRun): Promise<Caller[]> {
  return [
    {
      name: 'wrong credentials',
      headers: { authorization: `Bearer adit_${run.secret('wrong token')}`, cookie: `beegosessionID=${run.secret('wrong cookie')}` },
    },
    { name: 'wrong password', headers: { authorization: `Basic ${Buffer.from(`admin:${run.secret('wrongPassword')}`).toString('base64')}` } },
    await run.logIn('web login', 'web', run.secret('webPassword')),
    await run.logIn('user', 'alice', run.secret('userPassword')),
    await run.logIn('administrator', 'admin', run.secret('adminPassword')),
    run.admin,
  ];
}

/** Makes every call with everything that it can be given. */
export async function callAll(run: PlantedRun, caller: Caller): Promise<void> {
  for (const route of written) {
    await run.call(caller, `${route.path}/`, parametersFor(run, route));
    if (route.methods.includes('GET')) await run.call(caller, `${route.path}/`, { id: '1' }, 'GET');
  }
  for (const field of operations) {
    await run.graphql(caller, field.field.name, wholeOperation(field, (name) => fieldValue(run, field, name)));
  }
}

/** Makes calls that are refused because of a secret, or beside one. */
export async function callBadly(run: PlantedRun): Promise<void> {
  await run.call({ name: 'nobody', headers: {} }, '/login/verify', { username: 'alice', password: run.secret('wrongPassword') });
  await run.call({ ...run.admin, authKey: run.secret('wrongPassword') }, '/client/list/');
  for (const route of written) {
    const sent = parametersFor(run, route);
    const secrets = secretNames(run, route);
    for (const name of secrets) {
      for (const bad of [`${sent[name]}\0`, `${sent[name]}${'x'.repeat(66_000)}`]) await run.call(run.admin, `${route.path}/`, { ...sent, [name]: bad });
    }
    if (secrets.length > 0) {
      for (const name of Object.keys(sent)) {
        if (!secrets.includes(name)) await run.call(run.admin, `${route.path}/`, { ...sent, [name]: ' not acceptable \0' });
      }
    }
  }
  for (const field of operations) {
    const { query, variables } = wholeOperation(field, (name) => fieldValue(run, field, name));
    for (const [argument, value] of Object.entries(variables)) {
      if (run.planted.in(JSON.stringify(value)).length === 0) continue;
      const changed = (to: unknown) =>
        run.graphql(run.admin, `${field.field.name} with a bad ${argument}`, { query, variables: { ...variables, [argument]: to } });
      await changed([value, { value }]);
      if (typeof value === 'object' && value !== null) {
        await changed({ ...value, bogus: 1 });
        await changed(Object.fromEntries(Object.entries(value).map(([key, one]: [string, unknown]) => [key, typeof one === 'string' ? `${one}\0` : [one]])));
      }
    }
  }
  const secret = run.secret('userPassword');
  for (
    const literal of [
      `{ password: "${secret}", bogus: 1 }`,
      `"${secret}"`,
      `[{ password: "${secret}" }]`,
      secret,
      `"${secret}`,
      `"${secret}" "${secret}"`,
      `{ password: ${secret} }`,
      `{ enabled: ${secret} }`,
    ]
  ) {
    await run.graphql(run.admin, 'a bad literal', { query: `mutation { updateUser(id: ${literal}, input: ${literal}) { id } }` });
    await run.graphql(run.admin, 'a bad literal', { query: `mutation { updateUser(id: 1, input: ${literal}) { id } }` });
  }
  await run.graphql(run.admin, 'broken JSON', `{"query": "${run.secret('userPassword')}`);
  await run.call(run.admin, '/global/save/', { platform_domains: `[{"Wildcard": "${run.secret('userPassword')}"` });
}

/** Opens all subscriptions. @returns a function that ends them and adds their results to the answers */
export async function listen(run: PlantedRun): Promise<() => Promise<void>> {
  const ends = await Promise.all(
    rootFields.filter(({ kind }) => kind === 'subscription').map((field) =>
      run.subscribe(run.admin, field.field.name, wholeOperation(field, (name) => fieldValue(run, field, name)))
    ),
  );
  return async () => void await Promise.all(ends.map((end) => end()));
}

/** Writes what the database refuses, each time with every secret. @param refuse makes it refuse what has the remark "fault" */
export async function provokeFaults(run: PlantedRun, refuse: () => Promise<void>): Promise<void> {
  await refuse();
  for (const route of written) {
    const sent = parametersFor(run, route);
    if ('remark' in sent) await run.call(run.admin, `${route.path}/`, { ...sent, remark: 'fault' });
  }
  for (const field of operations.filter(({ kind }) => kind === 'mutation')) {
    const operation = wholeOperation(field, (name) => name === 'remark' ? 'fault' : fieldValue(run, field, name));
    if (JSON.stringify(operation.variables).includes('"fault"')) await run.graphql(run.admin, `${field.field.name} at a fault`, operation);
  }
  await run.server.child.says(/errorId/);
}

/** Reads the audit log, and ends what listens and the server. */
export async function finish(run: PlantedRun, endListening: () => Promise<void>): Promise<void> {
  await run.graphql(run.admin, 'the audit log', {
    query: '{ auditEntries(limit: 1000) { total rows { callerKind method address resource resourceId action before after } } }',
  });
  await endListening();
  run.server.child.kill('SIGTERM');
  await run.server.child.exited;
}

/** That nothing leaked, and that the drive would have seen it: what may be shown was, and the calls did their work. */
export function expectTight(run: PlantedRun, programs: readonly Child[]): void {
  expect(run.leaks(programs)).toEqual([]);
  const everything = run.answers.map(({ text }) => text).join('\n');
  const shown = run.planted.in(everything).map((name) => name.replace(/ .*/, ''));
  expect(new Set(shown)).toEqual(new Set(['vkey', 'tunnelPassword', 'header', 'token']));
  expect(everything).not.toContain('$argon2');
  expect(everything).toMatch(/internal error [0-9a-f-]{36}/);
  // An answer that names the field: it was run with what it was given, and not refused for its shape.
  const ran = (name: string) => everything.includes(`"data":{"${name}":`) || everything.includes(`"path":["${name}"`);
  const failing = operations.map(({ field: { name } }) => name).filter((name) => !ran(name))
    .map((name) => `${name}: ${run.answers.findLast(({ where }) => where === `graphql as ${run.admin.name}: ${name}`)?.text}`);
  expect(failing).toEqual([]);
  expect(run.planted.names.length).toBeGreaterThanOrEqual(20);
}

/** Makes a server's SQLite database refuse what {@link provokeFaults} writes. */
export function refuseInSqlite({ server }: PlantedRun): Promise<void> {
  const database = openDatabase(path.join(server.dataDir, databaseFileName), { busyMs: 5000 });
  for (const table of ['User', 'Client', 'Tunnel', 'Host']) {
    for (const event of ['INSERT', 'UPDATE']) {
      database.exec(
        `CREATE TRIGGER "fault${event}${table}" BEFORE ${event} ON "${table}" WHEN NEW.remark = 'fault' BEGIN SELECT RAISE(ABORT, 'fault'); END`,
      );
    }
  }
  database.close();
  return Promise.resolve();
}

/** That only what must be read again is in the files of a SQLite database. */
export function expectHashed(run: PlantedRun): void {
  const { dataDir } = run.server;
  const stored = readdirSync(dataDir).filter((name) => name.startsWith(databaseFileName)).map((name) => readFileSync(path.join(dataDir, name), 'latin1'))
    .join('');
  const kept = ['basicPassword', 'header', 'hostKey', 'ipWhitePassword', 'tunnelPassword', 'vkey'];
  expect(new Set(run.planted.in(stored).map((name) => name.replace(/ .*/, '')))).toEqual(new Set(kept));
}
