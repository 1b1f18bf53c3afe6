import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createRedirectServer } from '../../src/http/redirect.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { basic, testApps, type TestApp } from '../support/http.ts';

const start = testApps();
const KB = 1024;
const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** Begins a request to /graphql, and resolves to what comes first. Its body is not complete. */
async function begin({ url }: TestApp, fields: string, body: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }).setEncoding('latin1');
  open.push(socket);
  socket.on('error', () => undefined);
  socket.write(`POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${fields}\r\n\r\n${body}`);
  const [text] = await once(socket, 'data');
  return String(text);
}

test('unauthenticated requests are refused before their bodies, however many connections send one slowly', async () => {
  const app = await start();
  const answers = await Promise.all(Array.from({ length: 200 }, () => begin(app, `content-length: ${256 * KB}`, 'x'.repeat(KB))));
  expect(new Set(answers.map((text) => text.slice(0, 12)))).toEqual(new Set(['HTTP/1.1 401']));
  // The server does not read what follows, so it takes no place of accepted requests.
  for (const socket of open) socket.write('x'.repeat(100 * KB));
  expect((await app.graphql({ query: '{ clients { total } }' })).status).toBe(200);
});

test.each(
  [
    ['that is announced, before it comes', `content-length: ${256 * KB + 1}`, ''],
    ['that comes in chunks, as soon as it is too long', 'transfer-encoding: chunked', `${(300 * KB).toString(16)}\r\n${'x'.repeat(300 * KB)}\r\n`],
  ] as const,
)('a body over 256 KB %s is answered with 413 and a text that says so', async (_, fields, body) => {
  const app = await start();
  const text = await begin(app, `authorization: ${basic().authorization}\r\n${fields}`, body);
  expect(text).toContain('HTTP/1.1 413');
  expect(text).toContain('{"errors":[{"message":"the request body is larger than 256 KB","extensions":{"code":"BAD_REQUEST"}}]}');
});

test('a request has a minute to come, its head 15 s', () => {
  const server = createHttpServer(() => undefined);
  expect([server.requestTimeout, server.headersTimeout, server.timeout, server.keepAliveTimeout]).toEqual([60_000, 15_000, 60_000, 65_000]);
  const redirects = createRedirectServer(() => 443);
  expect([redirects.requestTimeout, redirects.headersTimeout, redirects.keepAliveTimeout]).toEqual([15_000, 10_000, 5000]);
});
