import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import path from 'node:path';
import readline from 'node:readline';
import { expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { call, type ServerProcess, write } from '../support/processes.ts';
import { covering } from '../support/certificates.ts';
import { serveFromOne } from '../support/served-from-one.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { startEcho } from '../support/target.ts';

const directory = temporaryDirectory();
const serve = serveFromOne();

/** A web server that says what it was asked. */
async function startOrigin(): Promise<string> {
  const server = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body })));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  server.unref();
  return `127.0.0.1:${address.port}`;
}

/** Asks a host of the server. */
async function ask(server: ServerProcess, host: string, options: https.RequestOptions & { readonly secure?: boolean } = {}) {
  const { secure = false, ...more } = options;
  const request = (secure ? https : http).request({
    host: '127.0.0.1',
    port: secure ? server.secureHostsPort : server.hostsPort,
    servername: host,
    rejectUnauthorized: false,
    agent: false,
    ...more,
    headers: { host, ...more.headers },
  });
  const answered = once(request, 'response');
  request.end(more.method === 'POST' ? 'some body' : undefined);
  const [response] = await answered as [http.IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return { status: response.statusCode, location: response.headers.location, text };
}

test('a host created through the legacy API serves its target at once', async () => {
  const { server, clientId, agent } = await serve((await startEcho()).address);
  const target = await startOrigin();
  expect(await ask(server, 'app.example.test')).toMatchObject({ status: 404 });
  const id = await write(server, '/index/addhost/', { client_id: clientId, host: 'app.example.test', target, header: 'X-Team: a', hostchange: 'inner.test' });
  const answer = await ask(server, 'app.example.test', { path: '/a?b', method: 'POST', headers: { 'content-length': 9 } });
  expect(JSON.parse(answer.text)).toMatchObject({
    method: 'POST',
    url: '/a?b',
    body: 'some body',
    headers: { host: 'inner.test', 'x-team': 'a', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': 'app.example.test', 'x-forwarded-proto': 'http' },
  });
  await write(server, '/index/hoststop/', { id });
  expect(await ask(server, 'app.example.test')).toMatchObject({ status: 404 });
  await write(server, '/index/hoststart/', { id });
  await write(server, '/client/edit/', { id: clientId, u: 'name', p: 'word' });
  expect(await ask(server, 'app.example.test')).toMatchObject({ status: 401 });
  expect(await ask(server, 'app.example.test', { auth: 'name:word' })).toMatchObject({ status: 200 });
  agent.kill('SIGKILL');
  await agent.exited;
  for (let status = 0; status !== 503; status = (await ask(server, 'app.example.test', { auth: 'name:word' })).status ?? 0) {
    expect([0, 200, 502, 503]).toContain(status);
  }
});

test('a change drops no connection of another host, of another path of the same one, or of the changed one itself', async () => {
  const { server, clientId } = await serve((await startEcho()).address);
  const downloads: http.ServerResponse[] = [];
  const origin = http.createServer((_request, response) => {
    response.flushHeaders();
    downloads.push(response);
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const sockets = new WebSocketServer({ server: origin }).on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  const address = origin.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const target = `127.0.0.1:${address.port}`;
  const add = (host: string, location: string) => write(server, '/index/addhost/', { client_id: clientId, host, location, target });
  const id = await add('long.example.test', '/');
  const places = { path: await add('long.example.test', '/api'), other: await add('other.example.test', '/') };

  const [response] = await once(http.get({ host: '127.0.0.1', port: server.hostsPort, headers: { host: 'long.example.test' }, agent: false }), 'response') as [
    http.IncomingMessage,
  ];
  const lines = readline.createInterface(response)[Symbol.asyncIterator]();
  const socket = new WebSocket(`ws://127.0.0.1:${server.hostsPort}/ws`, { headers: { host: 'long.example.test' } });
  await once(socket, 'open');
  const bothLive = async (after: string): Promise<void> => {
    downloads[0]?.write(`${after}\n`);
    socket.send(after);
    const [[echoed]] = await Promise.all([once(socket, 'message') as Promise<Buffer[]>, expect(lines.next()).resolves.toEqual({ done: false, value: after })]);
    expect(String(echoed)).toBe(after);
  };
  await bothLive('the start');
  for (const [place, changed] of Object.entries(places)) {
    const steps: [string, object][] = [['edithost', { remark: 'changed', target: '127.0.0.1:9' }], ['hoststop', {}], ['hoststart', {}], ['delhost', {}]];
    for (const [step, input] of steps) {
      await write(server, `/index/${step}/`, { id: changed, ...input });
      await bothLive(`${step} of ${place}`);
    }
  }
  await write(server, '/index/edithost/', { id, target: '127.0.0.1:9' });
  expect(await ask(server, 'long.example.test')).toMatchObject({ status: 502 });
  await bothLive('an edit of the host');
  downloads[0]?.end();
  expect(await lines.next()).toMatchObject({ done: true });
  socket.close();
  await once(socket, 'close');
  sockets.close();
  origin.close();
});

test("a platform domain serves its prefixes over HTTPS and HTTP/2 with the wildcard's certificate", async () => {
  const { server, clientId } = await serve((await startEcho()).address);
  const target = await startOrigin();
  const [CertFilePath, KeyFilePath] = [path.join(directory, 'cert.pem'), path.join(directory, 'key.pem')];
  await Promise.all([writeFile(CertFilePath, covering.certificate), writeFile(KeyFilePath, covering.key)]);
  const save = (domains: object[]) => call(server, '/global/save/', { platform_domains: JSON.stringify(domains) });
  expect(await save([{ ID: 'p', Wildcard: '*.p.example.com', CertFilePath, KeyFilePath }])).toMatchObject({ status: 1 });
  const prefix = { platform_domain_id: 'p', platform_prefix: 'shop' };
  expect(await call(server, '/index/platformhostavailable/', prefix)).toMatchObject({ status: 1, available: true, host: 'shop.p.example.com' });
  const id = await write(server, '/index/addhost/', { client_id: clientId, domain_mode: 'platform', ...prefix, scheme: 'all', AutoHttps: true, target });
  expect(await call(server, '/index/platformhostavailable/', prefix)).toMatchObject({ available: false });
  expect(await ask(server, 'shop.p.example.com', { path: '/x?y' })).toMatchObject({
    status: 301,
    location: `https://shop.p.example.com:${server.secureHostsPort}/x?y`,
  });
  const answer = await ask(server, 'shop.p.example.com', { secure: true, path: '/x?y', ca: covering.certificate, rejectUnauthorized: true });
  expect(JSON.parse(answer.text)).toMatchObject({ url: '/x?y', headers: { 'x-forwarded-proto': 'https' } });
  const session = http2.connect(`https://127.0.0.1:${server.secureHostsPort}`, { servername: 'shop.p.example.com', ca: covering.certificate });
  const stream = session.request({ ':authority': 'shop.p.example.com', ':path': '/by?2' });
  expect(JSON.parse((await stream.setEncoding('utf8').toArray()).join(''))).toMatchObject({ url: '/by?2', headers: { host: 'shop.p.example.com' } });
  session.close();
  const moved = { cert: path.join(directory, 'cert2.pem'), key: path.join(directory, 'key2.pem') };
  await Promise.all([writeFile(moved.cert, covering.certificate), writeFile(moved.key, covering.key)]);
  expect(await save([{ ID: 'p', Wildcard: '*.p.example.com', CertFilePath: moved.cert, KeyFilePath: moved.key }])).toMatchObject({ status: 1 });
  expect(await call(server, '/index/gethost/', { id })).toMatchObject({ code: 1, data: { CertFilePath: moved.cert } });
  expect(await ask(server, 'shop.p.example.com', { secure: true })).toMatchObject({ status: 200 });
  expect(await save([])).toMatchObject({ status: 0, msg: expect.stringMatching(/in use: cannot delete/) });
  expect(await save([{ ID: 'p', Wildcard: '*.q.example.com', CertFilePath, KeyFilePath }])).toMatchObject({ status: 0 });
});
