import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { VhostConnection } from '../../../src/engine/vhost/request/connection.ts';
import { TargetPool } from '../../../src/engine/vhost/target/target-pool.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { exchange, hostOf, startRawOrigin, startVhost } from '../../support/vhost.ts';

const PATH = '/.well-known/acme-challenge/';
const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nHost: example.test\r\n${more}\r\n`;
const CLOSE = 'Connection: close\r\n';

/** A host whose target answers, on a server that looks challenges up elsewhere: each waits until it is answered here. */
async function start() {
  const asked = new Map<string, (answer: string | undefined) => void>();
  const origin = await startRawOrigin((received, socket) => {
    if (/\r\n\r\n(?:ab)?$/.test(received)) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ntarget');
  });
  const { httpPort, log } = await startVhost([hostOf({ host: 'example.test', targets: [origin.target] })], {
    challenge: (host, token) => host === 'example.test' ? new Promise((resolve) => asked.set(token, resolve)) : undefined,
  });
  const looked = async (token: string) => {
    while (!asked.has(token)) await delay(5);
    return (answer: string | undefined) => asked.get(token)?.(answer);
  };
  return { origin, httpPort, log, asked, looked };
}

test('a challenge that another server answers is answered; if none does, the request is like any other', async () => {
  const { origin, httpPort, looked } = await start();
  const answered = exchange(httpPort, get(`${PATH}known`, CLOSE));
  (await looked('known'))('known.thumbprint');
  expect(await answered).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nCache-Control: no-store\r\n[^]*\r\n\r\nknown\.thumbprint$/);
  expect(origin.received).toEqual([]);
  const forwarded = exchange(httpPort, get(`${PATH}unknown`, CLOSE));
  (await looked('unknown'))(undefined);
  expect(await forwarded).toMatch(/\r\n\r\ntarget$/);
  expect(origin.received).toEqual([expect.stringMatching(/^GET \/\.well-known\/acme-challenge\/unknown HTTP\/1\.1\r\n/)]);
});

test('requests that follow on the connection wait, and are answered in their order', async () => {
  const { httpPort, looked } = await start();
  const answers = exchange(httpPort, `${get(`${PATH}first`)}${get(`${PATH}second`)}${get('/', CLOSE)}`);
  (await looked('first'))('the first answer');
  (await looked('second'))(undefined);
  expect((await answers).match(/the first answer|target/g)).toEqual(['the first answer', 'target', 'target']);
});

test('a visitor that leaves meanwhile gets nothing, nor does the target; a body is never looked up', async () => {
  const { origin, httpPort, asked, looked } = await start();
  const visitor = net.connect(httpPort, '127.0.0.1');
  visitor.write(get(`${PATH}left`));
  const answer = await looked('left');
  visitor.resetAndDestroy();
  await once(visitor, 'close');
  await exchange(httpPort, get('/', CLOSE));
  answer(undefined);
  await exchange(httpPort, get('/', CLOSE));
  expect(origin.received).toHaveLength(2);
  expect(await exchange(httpPort, `${get(`${PATH}body`, `Content-Length: 2\r\n${CLOSE}`)}ab`)).toMatch(/\r\n\r\ntarget/);
  expect([...asked.keys()]).toEqual(['left']);
});

test('a challenge is looked up over HTTP alone, and for GET alone', async () => {
  const asked: string[] = [];
  const { server } = await startVhost([hostOf({ host: 'example.test' })], { challenge: (_host, token) => void asked.push(token), dial: () => undefined });
  for (const [scheme, method] of [['http', 'GET'], ['https', 'GET'], ['http', 'HEAD'], ['http', 'POST']] as const) {
    const visitor = new EmptySocket();
    const ignored = () => undefined;
    const connection = new VhostConnection(visitor, { scheme, context: server, pool: new TargetPool(1, 1), onOver: ignored, onGone: ignored });
    connection.onData(Buffer.from(get(`${PATH}${scheme}-${method}`).replace('GET', method)));
    expect(Buffer.from(visitor.received, 'hex').toString('latin1')).toMatch(/^HTTP\/1\.1 503 /);
  }
  expect(asked).toEqual(['http-GET']);
});
