import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, jest, test } from '@jest/globals';
import { ServedFiles } from '../../src/agent/served-files.ts';
import type { WantedTunnel } from '../../src/engine/face.ts';
import { FileServer } from '../../src/stream-handlers/files/file-server.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import { eventually } from '../support/eventually.ts';
import { programPath } from '../support/find-program.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { readAll, visit } from '../support/target.ts';
import { openTunnel, startAgent, startEngine, tunnelOf } from '../support/tunnel.ts';
import { deferred } from '../support/wire.ts';

afterAll(removeScratchDirectories);

const run = promisify(execFile);

/** A directory with something in it and a secret beside it, served by an agent. */
async function serving(tunnel: Partial<WantedTunnel> = {}, allowFiles?: (directory: string) => string[]) {
  const directory = scratchDirectory();
  const site = path.join(directory, 'site');
  mkdirSync(path.join(site, 'sub', 'deep'), { recursive: true });
  mkdirSync(path.join(directory, 'site-beside'));
  writeFileSync(path.join(directory, 'secret.txt'), 'secret');
  writeFileSync(path.join(directory, 'site-beside', 'secret.txt'), 'secret');
  writeFileSync(path.join(site, 'hello.txt'), 'hello, world');
  writeFileSync(path.join(site, 'a b+ü.html'), '<p>');
  writeFileSync(path.join(site, '1:2\\3'), 'colon and backslash');
  writeFileSync(path.join(site, '.hidden'), 'secret');
  writeFileSync(path.join(site, 'sub', 'index.html'), 'the index');
  symlinkSync(path.join(directory, 'secret.txt'), path.join(site, 'link.txt'));
  symlinkSync(directory, path.join(site, 'up'));
  symlinkSync('hello.txt', path.join(site, 'inside.txt'));
  symlinkSync('loop', path.join(site, 'loop'));
  const server = await startEngine();
  const { log } = await startAgent(server, { allowFiles: allowFiles ? allowFiles(directory) : [site] });
  const { port, id } = await openTunnel(server, { mode: 'file', localPath: site, ...tunnel });
  return { server, log, directory, site, port, id };
}

/** What a visitor is answered who asks for exactly this: nothing of the path is made prettier. */
async function ask(port: number, target: string, options: http.RequestOptions = {}) {
  const request = http.request({ host: '127.0.0.1', port, path: target, agent: false, ...options }).end();
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('no response');
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(response, 'end');
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
}

test('another directory and prefix hold from the next connection on', async () => {
  const { server, site, port, id } = await serving({ stripPrefix: '/old' });
  expect((await ask(port, '/old/hello.txt')).body).toBe('hello, world');
  await server.engine.apply({ kind: 'tunnel', tunnel: tunnelOf({ mode: 'file', id, port, localPath: path.join(site, 'sub'), stripPrefix: '/new' }) });
  expect((await ask(port, '/new/index.html')).body).toBe('the index');
});

test('an agent that may serve files loads the server of files before the first visitor, since an update may replace the program until then', async () => {
  const created = jest.spyOn(http, 'createServer');
  const files = new ServedFiles([], new LogRecorder().logger);
  await files.close();
  expect(created).not.toHaveBeenCalled();
  files.allow([scratchDirectory()]);
  await files.close();
  expect(created).toHaveBeenCalledTimes(1);
  created.mockRestore();
});

test('the directories that an agent may serve are the latest ones, before or after the server of files is loaded', async () => {
  const site = scratchDirectory();
  writeFileSync(path.join(site, 'a.txt'), 'a');
  const files = new ServedFiles([], new LogRecorder().logger);
  const statusOf = async (): Promise<string> => {
    const [near, far] = socketPair({ remoteAddress: '', remotePort: 0 });
    const answer = new Promise<string>((resolve) =>
      near.attach({ onData: (chunk) => resolve(String(chunk).slice(9, 12)), onEnd: () => near.end(), onDrain: () => undefined, onClose: () => undefined })
    );
    await files.serve(far, { path: site, stripPrefix: '' });
    near.write(Buffer.from('GET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'));
    return answer;
  };
  files.allow([site]);
  const statuses = [await statusOf()];
  files.allow([]);
  statuses.push(await statusOf());
  files.allow([site]);
  statuses.push(await statusOf());
  expect(statuses).toEqual(['200', '403', '200']);
  await files.close();
});

test('files come with their type, and are asked for again only when they changed', async () => {
  const { port, server, id } = await serving();
  const first = await ask(port, '/hello.txt');
  expect(first).toMatchObject({
    status: 200,
    body: 'hello, world',
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '12',
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=0',
      'x-content-type-options': 'nosniff',
    },
  });
  expect(await ask(port, '/hello.txt', { headers: { 'if-none-match': `${first.headers.etag}` } })).toMatchObject({ status: 304, body: '' });
  expect(await ask(port, '/hello.txt', { headers: { 'if-modified-since': `${first.headers['last-modified']}` } })).toMatchObject({ status: 304 });
  expect(await ask(port, '/hello.txt', { headers: { 'if-match': '"other"' } })).toMatchObject({ status: 412 });
  expect(await ask(port, '/hello.txt', { method: 'HEAD' })).toMatchObject({ status: 200, body: '', headers: { 'content-length': '12' } });
  expect(await ask(port, '/hello.txt', { headers: { range: 'bytes=7-' } })).toMatchObject({
    status: 206,
    body: 'world',
    headers: { 'content-range': 'bytes 7-11/12' },
  });
  expect(await ask(port, '/hello.txt', { headers: { range: 'bytes=12-' } })).toMatchObject({ status: 416 });
  expect(await ask(port, '/a%20b%2B%C3%BC.html')).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(await ask(port, '/1:2%5C3')).toMatchObject({ status: 200, body: 'colon and backslash' });
  expect(await ask(port, '/inside.txt')).toMatchObject({ status: 200, body: 'hello, world' });
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
  expect(server.engine.tunnelState(id)?.exportBytes).toBeGreaterThan(1000);
});

test('directories are listed without what is hidden, or show their index; one without its slash leads to the one with it', async () => {
  const { port } = await serving();
  const list = await ask(port, '/', { headers: { accept: 'text/html' } });
  expect(list).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(list.body).toMatch(/href="\/hello\.txt"/);
  expect(list.body).toMatch(/href="\/sub"/);
  expect(list.body).not.toMatch(/\.hidden|link\.txt|\/up"|loop/);
  expect(await ask(port, '/loop')).toMatchObject({ status: 404 });
  expect(await ask(port, '/sub/')).toMatchObject({ status: 200, body: 'the index' });
  expect(await ask(port, '/sub')).toMatchObject({ status: 301, headers: { location: '/sub/' } });
  expect(await ask(port, '//sub')).toMatchObject({ status: 301, headers: { location: '/sub/' } });
  expect(await ask(port, '/sub/deep/', { headers: { accept: 'application/json' } })).toMatchObject({ status: 200, body: '[]' });
});

test('dot segments are resolved before the prefix is taken off, so what has the prefix in its middle is not below it', async () => {
  const { port } = await serving({ stripPrefix: '/files' });
  for (const target of ['/files/hello.txt', '/x/../files/hello.txt', '/files/sub/%2e%2E/hello.txt', '//files/./hello.txt']) {
    expect(await ask(port, target)).toMatchObject({ status: 200, body: 'hello, world' });
  }
  for (
    const target of [
      '/files/../hello.txt',
      '/files/../files/../hello.txt',
      '/files/%2e%2e/hello.txt',
      '/../files/hello.txt',
      '/files/sub%2f../hello.txt',
      '/files/sub/..;/hello.txt',
    ]
  ) expect(await ask(port, target)).toMatchObject({ status: 404 });
});

test('the prefix is taken off the URL, and the list leads back below it', async () => {
  const { port } = await serving({ stripPrefix: '/files/' });
  expect(await ask(port, '/files/hello.txt')).toMatchObject({ status: 200 });
  expect((await ask(port, '/files/', { headers: { accept: 'text/html' } })).body).toMatch(/href="\/files\/hello\.txt"/);
  expect(await ask(port, '/files')).toMatchObject({ status: 301, headers: { location: '/files/' } });
  expect(await ask(port, '/files/sub')).toMatchObject({ status: 301, headers: { location: '/files/sub/' } });
  for (const outside of ['/hello.txt', '/filesystem/hello.txt', '/']) expect(await ask(port, outside)).toMatchObject({ status: 404 });
});

test.each([
  '/../secret.txt',
  '/sub/../../secret.txt',
  '/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/%2e%2e%2fsecret.txt',
  '/sub/..%2f..%2fsecret.txt',
  '/%252e%252e/secret.txt',
  '/..%5csecret.txt',
  '/.%00./secret.txt',
  '/hello.txt%00.html',
  '/%',
  '/%c0%ae%c0%ae/secret.txt',
  '/link.txt',
  '/up/secret.txt',
  '/up/',
  '/../site-beside/secret.txt',
  '/.hidden',
  '/sub/.%2e/.hidden',
  '/hello.txt/',
  '/hello.txt/x',
  'http://host/../secret.txt',
  '/....//secret.txt',
  `/${'a'.repeat(5000)}`,
  '/\u0001',
])('nothing outside the directory is reached, not even what another tunnel may serve: %s', async (target) => {
  const { port } = await serving({}, (directory) => [directory]);
  // Node's client refuses to send some of these.
  const socket = await visit(port);
  socket.end(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const answer = String(await readAll(socket));
  expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
  expect(answer).not.toMatch(/secret/);
});

test('what the operator does not allow is refused with the reason, and so is a directory that is not there', async () => {
  const nothing = await serving({}, () => []);
  const refused = await ask(nothing.port, '/hello.txt');
  expect(refused).toMatchObject({
    status: 403,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'" },
  });
  expect(refused.body).toMatch(/--allow-files DIR/);
  expect(await nothing.log.line(/not allowed: allow it with --allow-files/)).toMatchObject({ path: nothing.site });
  const beside = await serving({}, (directory) => [path.join(directory, 'site-beside'), path.join(directory, 'site', 'sub')]);
  expect(await ask(beside.port, '/hello.txt')).toMatchObject({ status: 403 });
  const above = await serving({}, (directory) => [path.join(directory, 'no such'), directory]);
  expect(await ask(above.port, '/hello.txt')).toMatchObject({ status: 200 });
  const [hidden, below] = [path.join(above.site, '.kept'), path.join(above.site, '.kept', 'below')];
  mkdirSync(below, { recursive: true });
  for (const localPath of ['site', '', '/', path.join(above.site, 'gone'), `${above.site}/up/..`, hidden, below]) {
    const { port } = await openTunnel(above.server, { mode: 'file', localPath });
    expect(await ask(port, '/')).toMatchObject({ status: 403 });
  }
});

test('a directory whose name begins with a dot is served if it is allowed itself', async () => {
  const hidden = (directory: string): string => path.join(directory, 'site', '.kept');
  const { server, site } = await serving({}, (directory) => [hidden(directory)]);
  mkdirSync(path.join(site, '.kept', 'below'), { recursive: true });
  for (const localPath of [path.join(site, '.kept'), path.join(site, '.kept', 'below')]) {
    const { port } = await openTunnel(server, { mode: 'file', localPath });
    expect(await ask(port, '/')).toMatchObject({ status: 200 });
  }
});

test('a URL without a path leads nowhere', async () => {
  const { port } = await serving();
  expect(await ask(port, 'http://x/hello.txt')).toMatchObject({ status: 200 });
  expect(await ask(port, 'http://x')).toMatchObject({ status: 404 });
});

test('files are read, never written', async () => {
  const { port, site } = await serving();
  for (const method of ['PUT', 'POST', 'DELETE', 'PATCH', 'PROPFIND']) {
    expect(await ask(port, '/hello.txt', { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  }
  expect(readFileSync(path.join(site, 'hello.txt'), 'utf8')).toBe('hello, world');
});

test('one connection answers request after request', async () => {
  const { port, server, id } = await serving();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < 5; i++) expect(await ask(port, '/hello.txt', { agent })).toMatchObject({ status: 200 });
  expect(server.engine.tunnelState(id)?.connections).toBe(1);
  agent.destroy();
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
});

test('a visitor that ends right after its request still gets all of a large file, however slowly it reads', async () => {
  const { port, site } = await serving();
  const large = randomBytes(8 * 1024 * 1024);
  writeFileSync(path.join(site, 'large.bin'), large);
  const socket = await visit(port);
  socket.end('GET /large.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    socket.pause();
    setImmediate(() => socket.resume());
  });
  await once(socket, 'end');
  const answer = Buffer.concat(chunks);
  expect(answer.subarray(answer.indexOf('\r\n\r\n') + 4).equals(large)).toBe(true);
});

test.each([
  ['a directory that is not allowed', '/', 403],
  // As an attacker who controls the server might name one.
  ['a path that no system has', '/\0', 500],
])('%s is answered, and a server of files that ends closes its idle connections', async (_, site, status) => {
  const files = new FileServer([], new LogRecorder().logger);
  const [near, far] = socketPair({ remoteAddress: '', remotePort: 0 });
  const over = new Promise<void>((resolve) => {
    near.attach({
      onData: (answer) => {
        expect(String(answer)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        setImmediate(() => files.close());
      },
      onEnd: () => near.end(),
      onDrain: () => undefined,
      onClose: () => resolve(),
    });
  });
  files.serve(far, { path: site, stripPrefix: '' });
  near.write(Buffer.from('HEAD / HTTP/1.1\r\nHost: x\r\n\r\n'));
  await over;
});

test('heads that are too large or too slow are refused, and idle connections are closed', async () => {
  const { port } = await serving();
  const huge = await visit(port);
  huge.write(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  expect(String(await readAll(huge))).toMatch(/^HTTP\/1\.1 431 /);

  const files = new FileServer([], new LogRecorder().logger, {
    headersTimeout: 100,
    requestTimeout: 100,
    keepAliveTimeout: 100,
    connectionsCheckingInterval: 30,
  });
  for (const [said, answer] of [['GET / HT', /^HTTP\/1\.1 408 /], ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1\.1 403 [^]*<\/p>\n$/]] as const) {
    const [near, far] = socketPair({ remoteAddress: '', remotePort: 0 });
    let heard = '';
    const over = new Promise<void>((resolve) => {
      near.attach({
        onData: (chunk) => {
          heard += String(chunk);
        },
        onEnd: () => near.end(),
        onDrain: () => undefined,
        onClose: () => resolve(),
      });
    });
    files.serve(far, { path: '/', stripPrefix: '' });
    near.write(Buffer.from(said));
    await over;
    expect(heard).toMatch(answer);
  }
  files.close();
});

test('a visitor that is refused and does not leave is disconnected after a second', async () => {
  const waits = jest.spyOn(globalThis, 'setTimeout');
  const files = new FileServer([], new LogRecorder().logger);
  const [near, far] = socketPair({ remoteAddress: '', remotePort: 0 });
  const [ended, over] = [deferred<void>(), deferred<void>()];
  near.attach({ onData: () => undefined, onEnd: () => ended.resolve(), onDrain: () => undefined, onClose: () => over.resolve() });
  files.serve(far, { path: '/', stripPrefix: '' });
  near.write(Buffer.from('nonsense\r\n\r\n'));
  await ended.promise;
  const leaves = waits.mock.calls.filter(([, ms]) => ms === 1000);
  waits.mockRestore();
  expect(leaves.length).toBe(1);
  leaves[0]?.[0]();
  await over.promise;
  files.close();
});

test('a visitor that takes nothing of a file for a while is disconnected; the limits are those of the documentation', async () => {
  const created = jest.spyOn(http, 'createServer');
  new FileServer([], new LogRecorder().logger).close();
  const site = scratchDirectory();
  writeFileSync(path.join(site, 'large.bin'), randomBytes(1024 * 1024));
  const files = new FileServer([site], new LogRecorder().logger, { idleTimeout: 50 });
  const [usual] = created.mock.results.map(({ value }) => value);
  expect(usual).toMatchObject({ headersTimeout: 15_000, requestTimeout: 30_000, keepAliveTimeout: 30_000, timeout: 120_000 });
  expect(created.mock.calls[0]?.[0]).toMatchObject({ connectionsCheckingInterval: 5000, maxHeaderSize: 16_384 });
  created.mockRestore();
  const [near, far] = socketPair({ remoteAddress: '', remotePort: 0 });
  const over = new Promise<void>((resolve) => {
    near.attach({ onData: () => near.pause(), onEnd: () => undefined, onDrain: () => undefined, onClose: () => resolve() });
  });
  files.serve(far, { path: site, stripPrefix: '' });
  near.write(Buffer.from('GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n'));
  await over;
  files.close();
});

describeWith(['wget', 'curl'], 'wget and curl read files', () => {
  test('a whole tree, a part, and the rest of a broken download', async () => {
    const { port, site } = await serving();
    const large = randomBytes(300_000);
    writeFileSync(path.join(site, 'sub', 'deep', 'large.bin'), large);
    const copy = scratchDirectory();
    await run(programPath('wget'), ['-q', '-r', '-np', '-nH', '-e', 'robots=off', '-P', copy, `http://127.0.0.1:${port}/sub/deep/`]);
    expect(readFileSync(path.join(copy, 'sub', 'deep', 'large.bin')).equals(large)).toBe(true);
    const part = path.join(copy, 'part.bin');
    writeFileSync(part, large.subarray(0, 100_000));
    await run(programPath('wget'), ['-q', '-c', '-O', part, `http://127.0.0.1:${port}/sub/deep/large.bin`]);
    expect(readFileSync(part).equals(large)).toBe(true);
    const { stdout } = await run(programPath('curl'), ['-s', '-r', '1000-1999', `http://127.0.0.1:${port}/sub/deep/large.bin`], { encoding: 'buffer' });
    expect(stdout.equals(large.subarray(1000, 2000))).toBe(true);
    const ranges = await run(programPath('curl'), ['-s', '-C', '299990', '-o', '-', `http://127.0.0.1:${port}/sub/deep/large.bin`], { encoding: 'buffer' });
    expect(ranges.stdout.equals(large.subarray(299_990))).toBe(true);
  });
});
