import { once } from 'node:events';
import http from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { addressOf, close, listen } from '../../src/http/listening.ts';
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
