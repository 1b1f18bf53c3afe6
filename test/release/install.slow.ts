import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import { bridge as otherCertificate } from '../support/certificates.ts';
import { Child, endChildren } from '../support/child.ts';
import { describeWith } from '../support/programs.ts';
import { type ServerProcess, signedNow, startServer } from '../support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

// Short form: test/schema/enrolment.test.ts

interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** Runs a line of a POSIX shell. @param root where the script installs, without a service @param programs a directory whose programs come before the others */
function shell(line: string, root: string, programs = path.dirname(process.execPath)): Promise<Outcome> {
  return new Promise((resolve) => {
    const env = { PATH: `${programs}:${process.env['PATH']}`, DESTDIR: root };
    execFile('sh', ['-c', line], { env }, (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` }));
  });
}

/** All files below a directory, with what tells them apart. */
const filesOf = (root: string) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => !lstatSync(path.join(root, file)).isDirectory()).map((file) =>
    `${file} ${(lstatSync(path.join(root, file)).mode & 0o777).toString(8)}`
  ).toSorted();

describeWith(['curl', 'sed', 'od', 'md5sum'], 'the script that installs an agent', () => {
  let server: ServerProcess;
  // Of several lines, one of which looks like another of the server's answer.
  const vkey = "the key's value, with $PATH and 'quotes'\nserver=[::1]:1\nvkey=other";

  beforeAll(async () => {
    server = await startServer({ environment: { ADIT_HTTP_TLS: 'self-signed', ADIT_ADMIN_PASSWORD: 'administrator' } });
    await graphql(
      'mutation ($key: String!) { updateGlobalSettings(input: { serverUrl: "127.0.0.1" }) { serverUrl } createClient(input: { verifyKey: $key }) { id } }',
      { key: vkey },
    );
  });
  afterAll(async () => {
    await endChildren();
    removeScratchDirectories();
  });

  async function request(
    route: string,
    body?: string,
    type = 'application/json',
  ): Promise<{ readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string }> {
    const { auth_key: key, timestamp } = signedNow();
    const headers = { 'content-type': type, 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp) };
    const sent = https.request({
      host: '127.0.0.1',
      port: server.httpPort,
      path: route,
      method: body === undefined ? 'GET' : 'POST',
      headers,
      rejectUnauthorized: false,
      agent: false,
    });
    sent.end(body);
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }

  async function graphql(query: string, variables: object = {}): Promise<unknown> {
    return JSON.parse((await request('/graphql', JSON.stringify({ query, variables }))).body);
  }

  const created = z.object({ data: z.object({ createEnrolment: z.object({ code: z.string(), command: z.string() }) }) });
  const enrol = async () => created.parse(await graphql('mutation { createEnrolment(input: { clientId: 1 }) { code command } }')).data.createEnrolment;

  test('installs the agent by the line, which connects; again on this machine it finds everything, on another the code is refused; uninstalling leaves nothing', async () => {
    const [root, other] = [scratchDirectory(), scratchDirectory()];
    const { command, code } = await enrol();
    expect(await shell(command, root)).toEqual({ code: 0, output: expect.stringContaining(`it connects to 127.0.0.1:${server.tlsPort}`) });
    expect(filesOf(root)).toEqual([
      'etc/adit-agent/enrolment 644',
      'etc/adit-agent/machine 600',
      'etc/adit-agent/server 644',
      'etc/adit-agent/vkey 600',
      'usr/local/bin/adit-agent 777',
      'usr/local/lib/adit-agent/adit-agent 755',
      'usr/local/lib/adit-agent/adit-agent.mjs 644',
    ]);
    expect(readFileSync(path.join(root, 'etc/adit-agent/vkey'), 'utf8')).toBe(`${vkey}\n`);
    const file = path.join(root, 'usr/local/lib/adit-agent/adit-agent.mjs');
    expect(readFileSync(file)).toEqual(readFileSync(path.resolve(import.meta.dirname, '../../dist/agent/adit-agent.mjs')));
    const [, fingerprint = ''] = /^fingerprint=(\w+)$/m.exec(readFileSync(path.join(root, 'etc/adit-agent/server'), 'utf8')) ?? [];
    const flags = ['--server', `127.0.0.1:${server.tlsPort}`, '--tls-fingerprint', fingerprint, '--vkey-file', path.join(root, 'etc/adit-agent/vkey')];
    const agent = new Child(process.execPath, [file, 'agent', ...flags, '--sockets', 'net']);
    await agent.says(/connected to/);
    await agent.end();

    expect(await shell(command, root)).toEqual({ code: 0, output: expect.stringContaining('already installed') });
    expect(await shell(command, other)).toEqual({
      code: 1,
      output: expect.stringContaining('the code is invalid, expired or already used: nothing was installed'),
    });
    expect(filesOf(other)).toEqual([]);

    const uninstall = command.replace(code, 'uninstall');
    expect((await shell(uninstall, root)).code).toBe(0);
    expect(filesOf(root).map((name) => name.split('/')[0])).toEqual(['etc', 'etc', 'etc', 'etc']);
    expect((await shell(`${uninstall} --purge`, root)).code).toBe(0);
    expect(filesOf(root)).toEqual([]);
  });

  test('installs nothing from another server, from a file with another checksum, or when it arrives in part', async () => {
    const root = scratchDirectory();
    const { command } = await enrol();
    let asked = 0;
    const impostor = https.createServer({ cert: otherCertificate.certificate, key: otherCertificate.key }, (_request, response) => {
      asked++;
      response.end('touch "$DESTDIR/owned"');
    }).listen(0, '127.0.0.1');
    await once(impostor, 'listening');
    const { port } = impostor.address() as AddressInfo;
    // The shell's own result is that of `sh` without input, so only the files tell.
    const { output } = await shell(command.replace(`:${server.httpPort}/`, `:${port}/`), root);
    impostor.close();
    expect(output).toMatch(/public key does not match pinned public key/i);
    expect([asked, filesOf(root)]).toEqual([0, []]);

    const { body: script } = await request('/agent/install.sh');
    expect(script).not.toContain(vkey);
    const code = command.split(' ').at(-1);
    const run = async (altered: string) => {
      const file = path.join(scratchDirectory(), 'install.sh');
      writeFileSync(file, altered);
      return shell(`sh ${file} ${code}`, root);
    };
    expect(await run(script.replace(/[0-9a-f]{64} {2}adit-agent.mjs/, `${'0'.repeat(64)}  adit-agent.mjs`))).toEqual({
      code: 1,
      output: expect.stringContaining('another checksum than the server'),
    });
    for (const share of [0.3, 0.6, 0.9]) await run(script.slice(0, script.length * share));
    expect(filesOf(root)).toEqual([]);
    expect((await run(script)).code).toBe(0);
    expect(existsSync(path.join(root, 'etc/adit-agent/vkey'))).toBe(true);
  });

  test('serves the executables that the operator has put there, with the checksums that they have now', async () => {
    const name = 'adit-agent-linux-arm64';
    const listed = async () => new RegExp(`([0-9a-f]{64})  ${name}`).exec((await request('/agent/install.sh')).body)?.[1];
    expect([await listed(), (await request(`/agent/${name}`)).status]).toEqual([undefined, 404]);
    mkdirSync(path.join(server.dataDir, 'agent'), { recursive: true });
    for (const content of ['one executable', 'a newer executable']) {
      writeFileSync(path.join(server.dataDir, 'agent', name), content);
      expect(await request(`/agent/${name}`)).toMatchObject({ status: 200, body: content });
      expect(await listed()).toBe(createHash('sha256').update(content).digest('hex'));
    }
    expect((await request('/agent/secrets.json')).status).toBe(404);
  });

  test('installs the executable on a machine without a usable Node, if it runs there', async () => {
    const [root, programs] = [scratchDirectory(), scratchDirectory()];
    writeFileSync(path.join(programs, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    writeFileSync(path.join(programs, 'uname'), '#!/bin/sh\necho x86_64\n', { mode: 0o755 });
    const executable = path.join(server.dataDir, 'agent/adit-agent-linux-x64');
    const { command } = await enrol();
    expect(await shell(command, root, programs)).toMatchObject({ code: 1, output: expect.stringContaining('the server has no executable for x86_64') });
    writeFileSync(executable, '#!/bin/sh\nexit 127\n');
    expect(await shell(command, root, programs)).toMatchObject({
      code: 1,
      output: expect.stringContaining('does not run on this machine: nothing was installed'),
    });
    expect(filesOf(root)).toEqual([]);
    writeFileSync(executable, '#!/bin/sh\necho 1.0\n');
    expect((await shell(command, root, programs)).code).toBe(0);
    expect(filesOf(root)).toContain('usr/local/lib/adit-agent/adit-agent 755');
    expect(readFileSync(path.join(root, 'usr/local/bin/adit-agent').replace('bin/', 'lib/adit-agent/'), 'utf8')).toBe('#!/bin/sh\necho 1.0\n');
  });

  test('guesses get one answer, and their address is locked out; malformed and large requests are refused', async () => {
    const post = (body: string) => request('/agent/enrol', body, 'application/x-www-form-urlencoded');
    expect((await post('code=x')).status).toBe(400);
    expect((await post(`code=${'x'.repeat(5000)}&machine=${'m'.repeat(40)}`)).status).toBe(413);
    const { code } = await enrol();
    const guesses = await Promise.all(Array.from({ length: 20 }, (_, n) => post(`code=adit-enrol_${n}&machine=${'m'.repeat(40)}`)));
    expect(new Set(guesses.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(['403 the code is invalid, expired or already used\n']));
    expect((await post(`code=${code}&machine=${'m'.repeat(40)}`)).status).toBe(403);
  });
});
