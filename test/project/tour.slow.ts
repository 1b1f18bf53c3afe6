import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWith } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// Short form: test/project/readme.test.ts

const root = path.resolve(import.meta.dirname, '../..');
const directory = temporaryDirectory();

/** The shell lines of the README's tour, as somebody would paste them. */
function tour(): string {
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  return [...readme.matchAll(/^ *```sh tour\n(.*?)^ *```$/gms)].map(([, lines = '']) => lines.replace(/^ {3}/gm, '')).join('\n');
}

/** The text with each of these in place of what it replaces. A text that lacks one is no longer the one this test knows. */
function replaced(script: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((result, [from, to]) => {
    expect(result).toContain(from);
    return result.replaceAll(from, to);
  }, script);
}

async function freePort(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

describeWith(['bash', 'curl', 'md5sum', 'od', 'sed'], "the README's tour", () => {
  const children: ChildProcess[] = [];
  let http = '';
  let bridge = '';

  /** In a process group of its own, so that what it starts ends with it. */
  function run(command: string, args: readonly string[]) {
    const child = spawn(command, args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    return child;
  }

  beforeAll(async () => {
    const server = run(process.execPath, [
      'src/prepare.mjs',
      'start',
      '--http-port',
      '0',
      '--bridge-port',
      '0',
      '--bridge-tls-port',
      '0',
      '--vhost-http-port',
      '0',
      '--vhost-https-port',
      '0',
      '--data-dir',
      directory,
    ]);
    const problems = text(server.stderr);
    let ready = '';
    for await (const chunk of server.stdout) {
      ready += String(chunk);
      [http = '', bridge = ''] = [/API +http:\/\/127\.0\.0\.1:(\d+)\//, /Bridge +0\.0\.0\.0:(\d+),/].map((pattern) => pattern.exec(ready)?.[1] ?? '');
      if (http !== '' && bridge !== '') return;
    }
    throw new Error(`the server ended before it was ready: ${ready}${await problems}`);
  });

  afterAll(async () => {
    for (const child of children) {
      if (child.pid === undefined || child.exitCode !== null) continue;
      process.kill(-child.pid, 'SIGKILL');
      await once(child, 'close');
    }
  });

  test('leads through a tunnel, line by line as it is printed', async () => {
    const script = replaced(tour(), {
      'data/secrets.json': path.join(directory, 'secrets.json'),
      '127.0.0.1:8080': `127.0.0.1:${http}`,
      '127.0.0.1:8024': `127.0.0.1:${bridge}`,
      9001: await freePort(),
      3000: await freePort(),
    });
    // With job control, as in a terminal, `kill %1` ends all of what `npx ... &` started. Nothing may be left behind.
    const shell = run('bash', ['-euo', 'pipefail', '-c', `set -m\ntrap 'kill %1 %2' EXIT\n${script}`]);
    const [output, problems] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    const added = String.raw`\{"status":1,"msg":"add success","id":\d+\}\n`;
    expect({ output, problems }).toMatchObject({ output: expect.stringMatching(new RegExp(`^${added}${added}Hello through the tunnel\n$`)) });
  });
});
