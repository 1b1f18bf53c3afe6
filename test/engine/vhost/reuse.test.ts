import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { expect, test } from '@jest/globals';
import { VHOST_TIMING } from '../../../src/engine/vhost/slow-visitors.ts';
import { covering } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { exchange, hostOf, startRawOrigin, startVhost } from '../../support/vhost.ts';

const name = 'x.p.example.com';
const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const timing = { ...VHOST_TIMING, targetIdleMs: 50 };
const get = (path: string, close = false) => `GET ${path} HTTP/1.1\r\nHost: ${name}\r\n${close ? 'Connection: close\r\n' : ''}\r\n`;

/** An origin that answers each request when it has its head, and says how its connections end. */
async function startOrigin(answer: (socket: net.Socket, heads: number) => void) {
  const closed: Array<Promise<unknown>> = [];
  const seen = new Set<net.Socket>();
  const origin = await startRawOrigin((text, socket) => {
    if (!seen.has(socket)) {
      closed.push(
        new Promise((resolve) => {
          socket.once('close', resolve);
        }),
      );
    }
    seen.add(socket);
    answer(socket, text.split('\r\n\r\n').length - 1);
  });
  return { ...origin, closed };
}

async function serve(target: string, options: Parameters<typeof startVhost>[1] = {}) {
  const host = hostOf({ id: 500, host: name, targets: [target], certificate: covering.certificate, privateKey: covering.key });
  const { httpPort, httpsPort, hosts } = await startVhost([host], options);
  const connect = () =>
    http2.connect(`https://${name}:${httpsPort}`, {
      createConnection: () => tls.connect({ port: httpsPort, host: '127.0.0.1', servername: name, ALPNProtocols: ['h2'], rejectUnauthorized: false }),
    });
  return { httpPort, host, hosts, connect };
}

async function ask(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders = {}) {
  const stream = session.request({ ':path': '/', ...headers });
  const [answer] = await once(stream, 'response') as [http2.IncomingHttpHeaders];
  let text = '';
  for await (const chunk of stream.setEncoding('latin1')) text += String(chunk);
  return { status: answer[':status'], text };
}

test('the requests of an HTTP/2 session share connections to the target, those of another session have their own', async () => {
  const origin = await startOrigin((socket) => socket.write(hello));
  const { connect } = await serve(origin.target);
  const session = connect();
  for (let index = 0; index < 5; index++) expect(await ask(session)).toEqual({ status: 200, text: 'hello' });
  expect(origin.received).toHaveLength(1);
  expect(origin.received[0]?.match(/GET \//g)).toHaveLength(5);
  const other = connect();
  await ask(other);
  expect(origin.received).toHaveLength(2);
  session.close();
  await origin.closed[0];
  other.close();
});

test('what a visitor over HTTP/1.1 has left open ends with its connection', async () => {
  const origin = await startOrigin((socket) => socket.write(hello));
  const { httpPort } = await serve(origin.target, { timing: { ...VHOST_TIMING, targetIdleMs: 600_000 } });
  await exchange(httpPort, get('/'), (text) => text.endsWith('hello'));
  await Promise.all(origin.closed);
  expect(origin.received).toHaveLength(1);
});

test('visitors behind a trusted proxy have connections of their own, although they share one to the server', async () => {
  const origin = await startOrigin((socket) => socket.write(hello));
  const { connect } = await serve(origin.target, { trusts: () => true });
  const session = connect();
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) expect(await ask(session, { 'x-forwarded-for': address })).toMatchObject({ text: 'hello' });
  expect(origin.received.map((text) => text.match(/(?<=Real-IP: )\S+/g))).toEqual([['192.0.2.1', '192.0.2.1'], ['192.0.2.2']]);
  session.close();
});

test('at most 16 wait for the next requests, and they end with the session', async () => {
  const waiting: net.Socket[] = [];
  const origin = await startOrigin((socket) => {
    if (waiting.push(socket) === 20) { for (const one of waiting) one.write(hello); }
  });
  const { connect } = await serve(origin.target);
  const session = connect();
  await Promise.all(Array.from({ length: 20 }, () => ask(session)));
  expect(origin.received).toHaveLength(20);
  await eventually(() => waiting.filter(({ destroyed }) => destroyed).length, (count) => count === 4);
  session.close();
  await Promise.all(origin.closed);
});

test('one that waits too long is closed, over HTTP/1.1 and HTTP/2', async () => {
  const origin = await startOrigin((socket) => socket.write(hello));
  const { connect, httpPort } = await serve(origin.target, { timing });
  const visitor = net.connect(httpPort, '127.0.0.1');
  visitor.write(get('/'));
  await once(visitor, 'data');
  await Promise.all(origin.closed.splice(0));
  visitor.destroy();
  const session = connect();
  await ask(session);
  await Promise.all(origin.closed);
  expect(await ask(session)).toMatchObject({ status: 200 });
  expect(origin.received).toHaveLength(3);
  session.close();
});

test('one that the target closes is not used again', async () => {
  const origin = await startOrigin((socket) => socket.end(hello));
  const { connect } = await serve(origin.target);
  const session = connect();
  await ask(session);
  await origin.closed[0];
  expect(await ask(session, { ':method': 'DELETE' })).toMatchObject({ status: 200 });
  expect(origin.received).toHaveLength(2);
  session.close();
});

test('a connection with bytes after the response is not used again', async () => {
  const origin = await startOrigin((socket, heads) => socket.write(heads === 1 ? `${hello}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil` : hello));
  const { connect, httpPort } = await serve(origin.target);
  const session = connect();
  expect(await Promise.all([ask(session), ask(session)])).toEqual([{ status: 200, text: 'hello' }, { status: 200, text: 'hello' }]);
  expect(await ask(session)).toEqual({ status: 200, text: 'hello' });
  session.close();
  const text = await exchange(httpPort, get('/1') + get('/2', true));
  expect(text.match(/hello/g)).toHaveLength(2);
  expect(text).not.toMatch(/evil/);
});

test('a request that can be repeated is, once, when its kept connection turns out to be closed; another one is not', async () => {
  const dropSecond = (socket: net.Socket, heads: number) => void (heads === 1 ? socket.write(hello) : socket.destroy());
  const origin = await startOrigin(dropSecond);
  const { httpPort } = await serve(origin.target);
  const repeated = await exchange(httpPort, get('/1') + get('/2', true));
  expect(repeated.match(/hello/g)).toHaveLength(2);
  expect(origin.received.map((text) => text.match(/GET \/\d/g))).toEqual([['GET /1', 'GET /2'], ['GET /2']]);
  const posted = await exchange(httpPort, `${get('/3')}POST /4 HTTP/1.1\r\nHost: ${name}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  expect(posted).toMatch(/hello[^]*HTTP\/1.1 502 /);
  expect(origin.received.filter((text) => text.includes('POST /4'))).toHaveLength(1);
});

test.each([['GET', '', true], ['HEAD', '', true], ['OPTIONS', '', true], ['DELETE', '', false], ['PUT', '', false], ['GET', 'x', false]])(
  'a request by %s with the body %j on a kept connection that turns out to be closed is repeated: %s, and once only',
  async (method, body, repeated) => {
    let heads = 0;
    const origin = await startOrigin((socket) => void (heads++ === 0 ? socket.write(hello) : socket.destroy()));
    const { httpPort } = await serve(origin.target);
    const fields = `Host: ${name}\r\n${body === '' ? '' : `Content-Length: ${body.length}\r\n`}Connection: close\r\n`;
    expect(await exchange(httpPort, `${get('/1')}${method} /2 HTTP/1.1\r\n${fields}\r\n${body}`)).toMatch(/hello[^]*HTTP\/1.1 502 /);
    expect(origin.received.join('').split(' /2 ').length - 1).toBe(repeated ? 2 : 1);
  },
);

test('a request on a new connection is sent once, although its target closes that', async () => {
  const origin = await startOrigin((socket) => void socket.destroy());
  const { httpPort } = await serve(origin.target);
  expect(await exchange(httpPort, get('/', true))).toMatch(/^HTTP\/1.1 502 /);
  expect(origin.received).toHaveLength(1);
});

test('nothing is repeated of which a part was answered', async () => {
  const origin = await startOrigin((socket, heads) => void (heads === 1 ? socket.write(hello) : socket.end('HTTP/1.1 20')));
  const { httpPort } = await serve(origin.target);
  expect(await exchange(httpPort, get('/1') + get('/2', true))).toMatch(/hello[^]*HTTP\/1.1 502 /);
  expect(origin.received).toHaveLength(1);
});

test('a change of the host holds from the next request on: it gets another connection', async () => {
  const [before, after] = [await startOrigin((socket) => socket.write(hello)), await startOrigin((socket) => socket.write(hello.replace('hello', 'other')))];
  const { connect, host, hosts } = await serve(before.target);
  const session = connect();
  expect(await ask(session)).toMatchObject({ text: 'hello' });
  hosts.set({ ...host, targets: [after.target] });
  expect(await ask(session)).toMatchObject({ text: 'other' });
  session.close();
});

test('what is wrong with a body after the response has begun breaks the connection: no second response follows the first', async () => {
  const origin = await startOrigin((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nearly'));
  const { httpPort } = await serve(origin.target);
  const visitor = net.connect(httpPort, '127.0.0.1').setEncoding('latin1').on('error', () => undefined);
  let text = '';
  visitor.on('data', (chunk: string) => {
    text += chunk;
    if (text.endsWith('early')) visitor.write('zz\r\n');
  });
  visitor.write(`POST / HTTP/1.1\r\nHost: ${name}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  await new Promise((resolve) => {
    visitor.once('close', resolve);
  });
  expect(text).toMatch(/^HTTP\/1.1 200 OK[^]*early$/);
});

test.each([['1.1', '', true], ['1.1', 'close', false], ['1.0', '', false], ['1.0', 'keep-alive', true]])(
  'after a response over HTTP/%s with "Connection: %s" its connection is used again: %s',
  async (version, connection, again) => {
    const fields = `Content-Length: 5\r\n${connection === '' ? '' : `Connection: ${connection}\r\n`}`;
    const origin = await startOrigin((socket) => socket.write(`HTTP/${version} 200 OK\r\n${fields}\r\nhello`));
    const { httpPort } = await serve(origin.target);
    expect((await exchange(httpPort, get('/1') + get('/2', true))).match(/hello/g)).toHaveLength(2);
    expect(origin.received).toHaveLength(again ? 1 : 2);
  },
);
