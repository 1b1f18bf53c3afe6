import { once } from 'node:events';
import http from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { addressOf, close, drain, listen } from '../../src/http/listening.ts';
import { createRedirectServer } from '../../src/http/redirect.ts';

const servers: http.Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map(close)));

test.each([
  [8443, 'panel.example', '/client/list/?a=b', [308, 'https://panel.example:8443/client/list/?a=b']],
  [443, 'panel.example:8080', '//evil.example/', [308, 'https://panel.example//evil.example/']],
  [443, '[2001:db8::1]:80', '/', [308, 'https://[2001:db8::1]/']],
  [4430, '192.0.2.1', '/', [308, 'https://192.0.2.1:4430/']],
  [443, 'not a name', '/', [400, undefined]],
  [443, 'panel.example', 'http://other.example/', [400, undefined]],
])('with HTTPS on port %i, a request to %s for %s is answered %j', async (port, host, path, answer) => {
  const server = await listen(createRedirectServer(() => port), { host: '127.0.0.1', port: 0 }, () => undefined);
  servers.push(server);
  const sent = http.request({ host: '127.0.0.1', port: addressOf(server).port, path, method: 'POST', headers: { host }, agent: false });
  sent.end('auth_key=secret');
  const [response]: http.IncomingMessage[] = await once(sent, 'response');
  response?.resume();
  expect([response?.statusCode, response?.headers.location]).toEqual(answer);
  expect(response?.headers.connection).toBe('close');
});

test('a connection that cannot be accepted is reported, and ends nothing', async () => {
  const reported: unknown[] = [];
  const server = await listen(http.createServer(), { host: '127.0.0.1', port: 0 }, (error) => reported.push(error));
  servers.push(server);
  const error = new Error('too many open files');
  server.emit('error', error);
  expect([reported, server.listening]).toEqual([[error], true]);
});

test('a server that ends waits for its requests for so long, and not for connections without one', async () => {
  const responses: http.ServerResponse[] = [];
  const place = { host: '127.0.0.1', port: 0 };
  const start = () => listen(http.createServer((request, response) => request.url === '/' ? response.end() : responses.push(response)), place, () => undefined);
  const ask = async (server: http.Server, path: string, agent: http.Agent) => {
    const sent = http.get({ host: '127.0.0.1', port: addressOf(server).port, path, agent });
    const [response]: http.IncomingMessage[] = await once(sent, 'response');
    return once(response?.resume() ?? sent, 'end');
  };
  const agent = new http.Agent({ keepAlive: true });
  const [whole, brief] = [await start(), await start()];
  servers.push(whole, brief);
  await ask(whole, '/', agent);
  const outcomes = [whole, brief].map((server) => ask(server, '/held', agent).then(() => 'answered', () => 'cut'));
  while (responses.length < 2) await new Promise(setImmediate);
  const drained = drain(whole, 2 ** 31 - 1);
  await drain(brief, 5);
  expect(await outcomes[1]).toBe('cut');
  for (const response of responses) response.end();
  await drained;
  expect(await outcomes[0]).toBe('answered');
  agent.destroy();
});
