import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import type http from 'node:http';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import { z } from 'zod';
import { agentFiles } from '../../src/http/agent-files.ts';
import { addressOf, close } from '../../src/http/listening.ts';
import { packageFile } from '../../src/package-file.ts';
import { testDatabases } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const databases = testDatabases('sqlite');
// As in the home directory of a user.
const dataDir = path.join(temporaryDirectory(), '.adit');
const servers: http.Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map(close)));

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

test('the script has the address, the pin and the checksums of the files that there are now; executables are sent as they are', async () => {
  const pin = "sha256//it's";
  const { services } = await openTestSchema(databases, { api: { publicUrl: 'https://panel.example', basePath: '/base', ownTls: { port: 443, pin } } });
  const server = express().use('/agent', agentFiles(services, { dataDir })).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const get = async (name: string) => {
    const response = await fetch(`http://127.0.0.1:${addressOf(server).port}/agent/${name}`);
    const { status, headers } = response;
    return { status, type: headers.get('content-type'), cache: headers.get('cache-control'), body: await response.text() };
  };
  const agent = sha256(readFileSync(packageFile('dist/agent/adit-agent.mjs')));
  const script = async (...sums: readonly string[]) => {
    const { body, ...head } = await get('install.sh');
    expect(head).toEqual({ status: 200, type: 'text/plain; charset=utf-8', cache: 'no-store' });
    expect(body).toContain("\nurl='https://panel.example/base'\n");
    // As a text of the shell.
    expect(body).toContain("\npin='sha256//it'\\''s'\n");
    expect(body).toContain(`\nsums='${sums.join('\n')}'\n`);
    expect(body).not.toMatch(/@(?:URL|PIN|SUMS)@/);
  };
  await script(`${agent}  adit-agent.mjs`);
  expect((await get('adit-agent-linux-x64')).status).toBe(404);
  mkdirSync(path.join(dataDir, 'agent'), { recursive: true });
  const contents = { 'adit-agent-linux-x64': 'for x64', 'adit-agent-linux-arm64': 'for arm64' };
  for (const [name, content] of Object.entries(contents)) {
    writeFileSync(path.join(dataDir, 'agent', name), content);
    expect(await get(name)).toEqual({ status: 200, type: 'application/octet-stream', cache: null, body: content });
  }
  const sums = (
    of: Readonly<Record<string, string>>,
  ) => [`${agent}  adit-agent.mjs`, ...Object.entries(of).map(([name, content]) => `${sha256(content)}  ${name}`)];
  await script(...sums(contents));
  writeFileSync(path.join(dataDir, 'agent', 'adit-agent-linux-x64'), 'a newer one');
  await script(...sums({ ...contents, 'adit-agent-linux-x64': 'a newer one' }));
  // As long as the one before.
  writeFileSync(path.join(dataDir, 'agent', 'adit-agent-linux-x64'), 'another one');
  utimesSync(path.join(dataDir, 'agent', 'adit-agent-linux-x64'), 1, 2);
  await script(...sums({ ...contents, 'adit-agent-linux-x64': 'another one' }));
  expect((await get('secrets.json')).status).toBe(404);
});

test('what is sent to be enrolled must be a code and the name of a machine, and not too long', async () => {
  const api = await openTestSchema(databases, {
    publicUrl: 'https://adit.example',
    api: { publicUrl: 'https://adit.example', basePath: '', ownTls: undefined },
  });
  const { services } = api;
  const server = express().use('/agent', agentFiles(services, { dataDir })).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const send = (fields: Record<string, string>) =>
    fetch(`http://127.0.0.1:${addressOf(server).port}/agent/enrol`, { method: 'POST', body: new URLSearchParams(fields) });
  const post = async (fields: Record<string, string>) => (await send(fields)).status;
  const machine = 'm'.repeat(32);
  const code = 'c'.repeat(200);
  expect(await Promise.all([{ code: 'c', machine }, { code, machine: 'm'.repeat(200) }, { code: 'c', machine: ` ${machine} ` }].map(post))).toEqual([
    403,
    403,
    403,
  ]);
  expect(await (await send({ code: 'c', machine })).text()).toBe('the code is invalid, expired or already used\n');
  const wrong: ReadonlyArray<Record<string, string>> = [
    { machine },
    { code: 'c' },
    { code: '', machine },
    { code: `${code}c`, machine },
    { code, machine: 'm'.repeat(31) },
    { code, machine: ` ${'m'.repeat(31)}` },
    { code, machine: 'm'.repeat(201) },
  ];
  for (const fields of wrong) expect([fields, await post(fields)]).toEqual([fields, 400]);
  expect(await post({ code, machine, more: 'x'.repeat(4096) })).toBe(413);
  const { createEnrolment } = z.object({ createEnrolment: z.object({ code: z.string() }) }).parse(
    await api.ok('mutation { createClient(input: { verifyKey: "the key" }) { id } createEnrolment(input: { clientId: 1 }) { code } }'),
  );
  const enrolled = await send({ code: createEnrolment.code, machine });
  expect([enrolled.status, enrolled.headers.get('content-type'), enrolled.headers.get('cache-control'), await enrolled.text()]).toEqual([
    200,
    'text/plain; charset=utf-8',
    'no-store',
    expect.stringMatching(/^server=adit\.example:8025\nfingerprint=[0-9a-f]{64}\nvkey=the key\n$/),
  ]);
  expect(await api.ok('{ enrolments(clientId: 1) { usedFrom } }')).toEqual({ enrolments: [{ usedFrom: '127.0.0.1' }] });
});
