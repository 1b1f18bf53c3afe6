import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { version } from '../../src/version.ts';
import { Child, endChildren } from '../support/child.ts';
import { expectTraffic } from '../support/released-agent.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { CLIENT, openTunnel, startEngine } from '../support/tunnel.ts';

/** A copy in an empty directory: it can't use the packages of this checkout. */
let file = '';
beforeAll(() => {
  file = path.join(scratchDirectory(), 'adit-agent.mjs');
  copyFileSync(path.resolve(import.meta.dirname, '../../dist/agent/adit-agent.mjs'), file);
});
afterEach(endChildren);
afterAll(removeScratchDirectories);

describe('adit-agent.mjs', () => {
  test('has at most 1 MB, and knows its version and commands without any other file', async () => {
    expect(statSync(file).size).toBeLessThanOrEqual(1_000_000);
    const run = promisify(execFile);
    expect((await run(process.execPath, [file, '--version'])).stdout).toBe(`${version}\n`);
    const { stdout } = await run(process.execPath, [file, '--help']);
    expect([...stdout.matchAll(/^ {2}(\w+) \[options\]/gm)].map(([, name]) => name)).toEqual(['agent', 'visit']);
  });

  test('carries hash-checked streams of every type, with captured sockets', async () => {
    await expectTraffic([process.execPath, file], 1_000_000);
  });

  test('remembers that its self-test has passed', async () => {
    const server = await startEngine({});
    const directory = path.join(scratchDirectory(), 'run');
    const child = new Child(process.execPath, [file, 'agent', '--server', `127.0.0.1:${server.bridge.port}`], {
      ADIT_VKEY: CLIENT.vkey,
      ADIT_RUNTIME_DIR: directory,
    });
    await child.says(/connected to/);
    expect(readdirSync(directory).toSorted()).toEqual([`adit-agent-${child.pid}.sock`, 'sockets-captured']);
  });

  test('lists a directory, whose page comes from the file itself', async () => {
    const server = await startEngine({});
    const directory = scratchDirectory();
    mkdirSync(path.join(directory, 'inner'));
    writeFileSync(path.join(directory, 'a file.txt'), 'text');
    const child = new Child(process.execPath, [file, 'agent', '--server', `127.0.0.1:${server.bridge.port}`, '--allow-files', directory, '--sockets', 'net'], {
      ADIT_VKEY: CLIENT.vkey,
    });
    await child.says(/connected to/);
    const { port } = await openTunnel(server, { mode: 'file', localPath: directory });
    const page = await new Promise<http.IncomingMessage>((resolve, reject) => {
      http.get({ host: '127.0.0.1', port, path: '/', headers: { accept: 'text/html' }, agent: false }, resolve).on('error', reject);
    });
    const body = await text(page);
    expect(page.statusCode).toBe(200);
    expect(body).toMatch(/<title>listing directory \/<\/title>/);
    expect(body).toContain('a%20file.txt');
  });
});
