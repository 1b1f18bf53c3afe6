import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import { Duplex } from 'node:stream';
import tls from 'node:tls';
import { expect, jest, test } from '@jest/globals';
import { ConnectionShares } from '../../../src/rules/connection-shares.ts';
import { covering, other } from '../../support/certificates.ts';
import { clientHello } from '../../support/client-hello.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithIpv6 } from '../../support/programs.ts';
import { closed } from '../../support/target.ts';
import { fresh, startEngine } from '../../support/tunnel.ts';
import { exchange, hostOf, startRawOrigin, startVhost } from '../../support/vhost.ts';
import { VHOST_TIMING } from '../../../src/engine/vhost/slow-visitors.ts';
import { HandshakeQueue } from '../../../src/engine/limits/handshake-queue.ts';
import { UnreadAccount, UnreadAccounts } from '../../../src/engine/vhost/unread-account.ts';

const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: X\r\nX: 1\r\n\r\nhello';
const pem = { certificate: covering.certificate, privateKey: covering.key };

/** The answer to a request over TLS. */
async function ask(port: number, servername: string, options: tls.ConnectionOptions = {}, host = servername) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  const known = { protocol: socket.getProtocol(), names: socket.getPeerCertificate().subjectaltname, resumed: socket.isSessionReused() };
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += String(chunk);
  return { text, ...known };
}

test('the name picks the certificate; TLS 1.2 and 1.3 are spoken, nothing older', async () => {
  const origin = await startRawOrigin((_text, socket) => socket.write(hello));
  const { httpsPort } = await startVhost([
    hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem }),
    hostOf({ host: 'a.example.org', targets: [origin.target], certificate: other.certificate, privateKey: other.key }),
    hostOf({ host: 'b.example.org', targets: [origin.target], certificate: '/nowhere', privateKey: '/nowhere' }),
  ]);
  expect(await ask(httpsPort, 'x.p.example.com')).toMatchObject({ text: expect.stringMatching(/hello$/), protocol: 'TLSv1.3', names: 'DNS:*.p.example.com' });
  expect(await ask(httpsPort, 'a.example.org', { maxVersion: 'TLSv1.2' })).toMatchObject({ protocol: 'TLSv1.2', names: 'DNS:*.example.org' });
  await expect(ask(httpsPort, 'a.example.org', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' })).rejects.toThrow(
    /protocol version|unsupported protocol|no protocols/,
  );
  await expect(ask(httpsPort, 'nobody.example.net')).rejects.toThrow(/unrecognized name/);
  await expect(ask(httpsPort, 'b.example.org')).rejects.toThrow(/handshake failure/);
  expect(origin.received[0]).toMatch(/X-Forwarded-Proto: https/);
});

test("a visitor that sends no server name gets the host of the server's own name, if there is one", async () => {
  const origin = await startRawOrigin((_text, socket) => socket.write(hello));
  const { httpsPort, hosts } = await startVhost([
    hostOf({ host: 'a.example.org', targets: [origin.target], certificate: other.certificate, privateKey: other.key }),
    hostOf({ host: '127.0.0.1', targets: [origin.target], ...pem }),
  ]);
  await expect(ask(httpsPort, '')).rejects.toThrow(/unrecognized name/);
  hosts.serverName = '127.0.0.1';
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    expect(await ask(httpsPort, '', { maxVersion }, '127.0.0.1')).toMatchObject({
      text: expect.stringMatching(/hello$/),
      protocol: maxVersion,
      names: 'DNS:*.p.example.com',
    });
  }
  const session = http2.connect(`https://127.0.0.1:${httpsPort}`, { rejectUnauthorized: false });
  const [answer] = await once(session.request({ ':path': '/' }), 'response');
  expect(answer).toMatchObject({ ':status': 200 });
  session.close();
  hosts.serverName = 'nobody.example.net';
  await expect(ask(httpsPort, '')).rejects.toThrow(/unrecognized name/);
});

test('a request over HTTP is led to the HTTPS port of its host', async () => {
  const { httpPort, httpsPort } = await startVhost([hostOf({ host: 'x.p.example.com', autoHttps: true, ...pem })]);
  const answer = await exchange(httpPort, 'GET /a?b HTTP/1.1\r\nHost: x.p.example.com\r\nConnection: close\r\n\r\n');
  expect(answer).toContain(`\r\nLocation: https://x.p.example.com:${httpsPort}/a?b\r\n`);
});

test('the place of a handshake is given back to the address that had it', async () => {
  const [enter, leave] = [jest.spyOn(ConnectionShares.prototype, 'enter'), jest.spyOn(ConnectionShares.prototype, 'leave')];
  const origin = await startRawOrigin((_text, socket) => socket.write(hello));
  const { httpsPort } = await startVhost([hostOf({ host: 'x.p.example.com', targets: [origin.target], ...pem })]);
  await ask(httpsPort, 'x.p.example.com');
  await eventually(() => leave.mock.calls.length, (count) => count === enter.mock.calls.length);
  expect(leave.mock.calls).toEqual(enter.mock.calls);
  for (const mock of [enter, leave]) mock.mockRestore();
});

test('a handshake has ten seconds; one that is finished has no such limit', async () => {
  const timeouts = jest.spyOn(globalThis, 'setTimeout');
  const origin = await startRawOrigin((_text, socket) => socket.write(hello));
  const { httpsPort } = await startVhost([hostOf({ host: 'x.p.example.com', targets: [origin.target], ...pem })]);
  const begun = () => timeouts.mock.calls.filter(([, ms]) => ms === 10_000);
  const slow = net.connect(httpsPort, '127.0.0.1').on('error', () => undefined).unref();
  await eventually(begun, ({ length }) => length === 1);
  const socket = tls.connect({ port: httpsPort, host: '127.0.0.1', servername: 'x.p.example.com', rejectUnauthorized: false });
  socket.write('GET / HTTP/1.1\r\nHost: x.p.example.com\r\n\r\n');
  await once(socket, 'data');
  for (const [expire] of begun()) expire();
  await closed(slow);
  socket.write('GET / HTTP/1.1\r\nHost: x.p.example.com\r\nConnection: close\r\n\r\n');
  expect((await socket.setEncoding('latin1').toArray()).join('')).toMatch(/hello$/);
  timeouts.mockRestore();
});

test('a handshake ends with its visitor, before and after the hello, and those under way end with the server', async () => {
  const timeouts = jest.spyOn(globalThis, 'setTimeout');
  const { httpsPort, server } = await startVhost([hostOf({ host: 'x.p.example.com', ...pem })]);
  const hello = await clientHello({ servername: 'x.p.example.com' });
  const [before, after, waiting] = [hello.subarray(0, 20), hello, hello].map((first) => {
    const visitor = net.connect(httpsPort, '127.0.0.1').on('error', () => undefined);
    visitor.write(first);
    return visitor;
  });
  if (!before || !after || !waiting) throw new Error('there are three');
  await Promise.all([once(after, 'data'), once(waiting, 'data')]);
  const limits = await eventually(
    () => timeouts.mock.results.filter((_, index) => timeouts.mock.calls[index]?.[1] === 10_000),
    ({ length }) => length === 3,
  );
  timeouts.mockRestore();
  // So nothing else ends them.
  for (const limit of limits) if (limit.type === 'return') clearTimeout(limit.value);
  for (const visitor of [before, after]) visitor.end();
  await Promise.all([closed(before), closed(after)]);
  expect(waiting.closed).toBe(false);
  await server.close();
  await closed(waiting);
});

test('a handshake whose visitor is gone when its turn comes is no error', async () => {
  let begin: () => void = () => undefined;
  const turns = jest.spyOn(HandshakeQueue.prototype, 'next').mockImplementation(() =>
    new Promise((resolve) => {
      begin = resolve;
    })
  );
  const secured = jest.spyOn(tls, 'TLSSocket');
  const { httpsPort, server, log } = await startVhost([hostOf({ host: 'x.p.example.com', ...pem })]);
  const visitor = net.connect(httpsPort, '127.0.0.1').on('error', () => undefined);
  visitor.write(await clientHello({ servername: 'x.p.example.com' }));
  await eventually(() => turns.mock.calls.length, (count) => count === 1);
  await server.close();
  await closed(visitor);
  secured.mockClear();
  begin();
  await new Promise(setImmediate);
  expect([secured.mock.calls.length, log.entries.filter(({ level }) => level >= 50)]).toEqual([0, []]);
  for (const mock of [turns, secured]) mock.mockRestore();
});

test.each(['http/1.1', 'h2'])('a connection that is tampered with after its handshake is closed: %s', async (protocol) => {
  const { httpsPort } = await startVhost([hostOf({ host: 'x.p.example.com', ...pem })], {
    timing: { ...VHOST_TIMING, headMs: 600_000 },
    http2Timing: { idleMs: 600_000, drainMs: 600_000 },
  });
  const raw = net.connect(httpsPort, '127.0.0.1').on('error', () => undefined);
  const wire = new Duplex({ read: () => undefined, write: (chunk, _encoding, done) => void raw.write(chunk, done) });
  const pass = (chunk: Buffer) => void wire.push(chunk);
  raw.on('data', pass);
  await once(tls.connect({ socket: wire, servername: 'x.p.example.com', ALPNProtocols: [protocol], rejectUnauthorized: false }), 'secureConnect');
  // The visitor does not hear that it is wrong, and stays.
  raw.off('data', pass).write('this is no TLS record');
  await closed(raw);
  expect(raw.closed).toBe(true);
});

test("an HTTP/2 session has the account of its visitor's address, or one of its own behind a trusted proxy, and gives it back", async () => {
  const origin = await startRawOrigin((_text, socket) => socket.write(hello));
  const opened: unknown[] = [];
  const holders = { open: jest.spyOn(UnreadAccount.prototype, 'open'), close: jest.spyOn(UnreadAccount.prototype, 'close') };
  const unread = new UnreadAccounts();
  jest.spyOn(unread, 'open').mockImplementation((address) => {
    opened.push(address);
    return { account: new UnreadAccount({ tight: 1e6, room: 1e6, most: 1e6 }), close: () => opened.push('closed') };
  });
  const { httpsPort } = await startVhost([hostOf({ host: 'x.p.example.com', targets: [origin.target], ...pem })], {
    unread,
    trusts: (address) => address === '127.0.0.8',
  });
  for (const localAddress of ['127.0.0.7', '127.0.0.8']) {
    const session = http2.connect('https://x.p.example.com', {
      createConnection: () =>
        tls.connect({
          socket: net.connect({ port: httpsPort, host: '127.0.0.1', localAddress }),
          servername: 'x.p.example.com',
          ALPNProtocols: ['h2'],
          rejectUnauthorized: false,
        }),
    });
    await once(session.request({ ':path': '/' }).resume(), 'response');
    session.destroy();
    await eventually(() => opened.at(-1), (last) => last === 'closed');
  }
  expect(opened).toEqual(['127.0.0.7', 'closed', undefined, 'closed']);
  // All that held something for it, each session and its request, have gone.
  await eventually(() => holders.close.mock.calls.length, (count) => count === 4);
  expect(new Set(holders.close.mock.calls.flat())).toEqual(new Set(holders.open.mock.calls.flat()));
  for (const mock of Object.values(holders)) mock.mockRestore();
});

test('a session is resumed', async () => {
  const origin = await startRawOrigin((_text, socket) => socket.write(hello));
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    let session: Buffer | undefined;
    const first = tls.connect({ port: httpsPort, host: '127.0.0.1', servername: 'a.p.example.com', rejectUnauthorized: false, maxVersion });
    first.on('session', (given: Buffer) => {
      session = given;
    });
    first.write('GET / HTTP/1.1\r\nHost: a.p.example.com\r\nConnection: close\r\n\r\n');
    first.resume();
    await once(first, 'close');
    // For twelve hours (RFC 5077, 3.3): an INTEGER of the session's form in DER.
    expect(session?.includes(Buffer.from([2, 3, 0, 43_200 >> 8, 43_200 & 255]))).toBe(true);
    expect(await ask(httpsPort, 'a.p.example.com', { maxVersion, session })).toMatchObject({ resumed: true });
  }
});

test('without a certificate the target speaks TLS itself', async () => {
  const target = tls.createServer({ cert: other.certificate, key: other.key }, (socket) => socket.once('data', () => socket.end(hello)));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const address = target.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const { httpsPort, server } = await startVhost([hostOf({ host: 'a.example.org', targets: [`127.0.0.1:${address.port}`] })]);
  expect(await ask(httpsPort, 'a.example.org')).toMatchObject({ text: hello, names: 'DNS:*.example.org' });
  // It is not one of the handshakes that end with the server.
  const passed = tls.connect({ port: httpsPort, host: '127.0.0.1', servername: 'a.example.org', rejectUnauthorized: false });
  await once(passed, 'secureConnect');
  await server.drain();
  passed.write('GET');
  expect((await passed.setEncoding('latin1').toArray()).join('')).toBe(hello);
  target.close();
});

test('HTTP/2 is spoken with visitors, HTTP/1.1 with targets', async () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Y: 1\r\n\r\n3\r\nabc\r\n4;e\r\ndefg\r\n0\r\n\r\n';
  const origin = await startRawOrigin((text, socket) => {
    if (text.startsWith('POST') ? text.endsWith('0\r\n\r\n') : true) socket.write(text.startsWith('POST') ? chunked : hello);
  });
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, {
    createConnection: () =>
      tls.connect({ port: httpsPort, host: '127.0.0.1', servername: 'x.p.example.com', ALPNProtocols: ['h2'], rejectUnauthorized: false }),
  });
  const request = async (headers: http2.OutgoingHttpHeaders, body?: string) => {
    const stream = session.request(headers, { endStream: body === undefined });
    const answered = once(stream, 'response');
    if (body !== undefined) stream.end(body);
    const [answer] = await answered as [http2.IncomingHttpHeaders];
    let text = '';
    for await (const chunk of stream.setEncoding('latin1')) text += String(chunk);
    return { status: answer[':status'], x: answer['x-y'], text };
  };
  // The body of the third is announced as empty, and then is.
  const requests = [
    request({ ':path': '/get' }),
    request({ ':path': '/post', ':method': 'POST' }, 'some body'),
    request({ ':path': '/put', ':method': 'PUT', 'content-length': '0' }, ''),
  ];
  expect(await Promise.all(requests)).toEqual([
    { status: 200, x: undefined, text: 'hello' },
    { status: 200, x: '1', text: 'abcdefg' },
    { status: 200, x: undefined, text: 'hello' },
  ]);
  expect(origin.received.find((text) => text.startsWith('POST'))).toMatch(
    /^POST \/post HTTP\/1.1\r\nHost: x.p.example.com:\d+\r\nTransfer-Encoding: chunked\r\n[^]*\r\n9\r\nsome body\r\n0\r\n\r\n$/,
  );
  session.close();
});

describeWithIpv6('on a socket for IPv6', () => {
  test('a visitor by IPv4 has the same address as on one for IPv4', async () => {
    const { engine, log } = await startEngine({ stored: { hosts: [{ ...hostOf({ host: 'x.p.example.com', ...pem }), ...fresh }] } });
    const { httpsPort } = await engine.listenHosts({ host: '::', httpPort: 0, httpsPort: 0 });
    await ask(httpsPort, 'x.p.example.com');
    const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
    await once(session.request({ ':path': '/' }).resume(), 'response');
    session.close();
    const refused = log.entries.filter(({ msg }) => msg.startsWith('a request was refused'));
    expect(refused.map(({ address }) => address)).toEqual(['127.0.0.1', '127.0.0.1']);
  });
});
