import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { expect, jest, test } from '@jest/globals';
import { covering, other } from '../../support/certificates.ts';
import { isShort } from '../../support/endurance.ts';
import { eventually } from '../../support/eventually.ts';
import { frames, type RawField, sendHttp2, silentHttp2 } from '../../support/http2-frames.ts';
import { secureHostRequests } from '../../support/soak/web.ts';
import { closed } from '../../support/target.ts';
import { hostOf, startRawOrigin, startVhost } from '../../support/vhost.ts';
import { SlowVisitors, VHOST_TIMING } from '../../../src/engine/vhost/slow-visitors.ts';
import { VhostConnection } from '../../../src/engine/vhost/request/connection.ts';
import { Http2Request } from '../../../src/engine/vhost/request/http2-request.ts';
import { Pace } from '../../../src/rules/pace.ts';
import { Turns } from '../../../src/wire/turns.ts';

const pem = { certificate: covering.certificate, privateKey: covering.key };

test('sessions count as connections until they end; an abrupt end counts at once, and a session beyond the limit is refused', async () => {
  const silent = await startRawOrigin(() => undefined);
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [silent.target], ...pem })], {
    shares: { total: 3, perAddress: 3 },
  });
  const sessionTo = async () => {
    const socket = tls.connect({ port: httpsPort, host: '127.0.0.1', servername: 'x.p.example.com', ALPNProtocols: ['h2'], rejectUnauthorized: false });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  };
  const [one, two] = [await sessionTo(), await sessionTo(), await sessionTo()];
  await eventually(() => server.connections, (count) => count === 3);
  await closed(await sessionTo());
  expect(server.connections).toBe(3);
  one.end();
  await closed(one);
  const session = http2.connect('https://x.p.example.com', { createConnection: () => two });
  session.on('error', () => undefined).request({ ':path': '/' }).on('error', () => undefined);
  await eventually(() => silent.received.length, (count) => count === 1);
  // Nor is there room for another request; one that can't be expressed over HTTP/1.1 is refused anyway.
  for (const [path, code] of [['/', http2.constants.NGHTTP2_REFUSED_STREAM], ['**', http2.constants.NGHTTP2_PROTOCOL_ERROR]] as const) {
    const refused = session.request({ ':path': path }).on('error', () => undefined);
    await eventually(() => refused.closed, (over) => over);
    expect([path, refused.rstCode]).toEqual([path, code]);
  }
  two.end();
  await eventually(() => server.connections, (count) => count === 1);
});

test('a session may send any number of requests whose responses it reads: only canceled ones are counted', async () => {
  const target = http.createServer((_asked, answer) => {
    answer.end('x');
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const address = target.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [`127.0.0.1:${address.port}`], ...pem })]);
  const socket = tls.connect({ port: httpsPort, host: '127.0.0.1', servername: 'x.p.example.com', ALPNProtocols: ['h2'], rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const session = http2.connect('https://x.p.example.com', { createConnection: () => socket });
  let answered = 0;
  // More than may be canceled at once (500), and than more are allowed meanwhile.
  for (let round = 0; round < 30; round++) {
    await Promise.all(Array.from({ length: 50 }, async () => {
      const request = session.request({ ':path': '/' });
      const [headers] = await once(request, 'response');
      request.resume();
      await once(request, 'close');
      if (headers[':status'] === 200) answered++;
    }));
  }
  expect(answered).toBe(1500);
  session.close();
  target.close();
});

test('a body of megabytes passes both ways whole, however the two sides wait for each other', async () => {
  const target = http.createServer((asked, answer) => {
    asked.pipe(answer);
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const address = target.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [`127.0.0.1:${address.port}`], ...pem })]);
  const traffic = secureHostRequests(httpsPort, 'x.p.example.com');
  for (let seed = 0; seed < 4; seed++) await expect(traffic.run(1_500_000, seed)).resolves.toBeUndefined();
  target.close();
});

test('visitors that are refused during an upload and disconnect leave nothing behind', async () => {
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: ['127.0.0.1:1'], ...pem })], { dial: () => undefined });
  const traffic = secureHostRequests(httpsPort, 'x.p.example.com');
  const visits = await Promise.allSettled(Array.from({ length: 24 }, (_, seed) => traffic.run(200_000, seed)));
  expect(visits.map((visit) => visit.status === 'rejected' && String(visit.reason))).toEqual(visits.map(() => 'Error: status 503'));
  await eventually(() => server.connections, (count) => count === 0);
});

test.each(isShort ? [100_000] : [10, 100_000, 1_000_000])(
  'an answer that its target cuts off after %d bytes is an error for the visitor, never a short one',
  async (bytes) => {
    const origin = await startRawOrigin((_text, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${(bytes * 2).toString(16)}\r\n`);
      socket.write(Buffer.alloc(bytes), () => setImmediate(() => socket.resetAndDestroy()));
    });
    const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
    const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
    for (let round = 0; round < 5; round++) {
      const stream = session.request({ ':path': '/' });
      await expect((async () => {
        for await (const _chunk of stream);
      })()).rejects.toThrow(/NGHTTP2_INTERNAL_ERROR|Premature close/);
    }
    session.close();
  },
);

test('fields that a target repeats reach the visitor, those too that it must not repeat', async () => {
  const origin = await startRawOrigin((_text, socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Type: text/html\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nETag: 1\r\netag: 2\r\nX-A: 1\r\nX-A: 2\r\nConstructor: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nETag: 1\r\nETag: 2\r\n\r\n',
    );
  });
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
  const stream = session.request({ ':path': '/' });
  const [[headers], [trailers]] = await Promise.all([once(stream, 'response'), once(stream.resume(), 'trailers')]);
  expect(headers).toMatchObject({
    ':status': 200,
    'content-type': 'text/plain, text/html',
    etag: '1, 2',
    'set-cookie': ['a=1', 'b=2'],
    'x-a': '1, 2',
    constructor: '3',
  });
  expect(trailers).toMatchObject({ etag: '1, 2' });
  session.close();
});

test('trailers pass in both directions, without what would change where a message goes or ends', async () => {
  const origin = await startRawOrigin((text, socket) => {
    if (text.endsWith('\r\n\r\n') && /\r\n0\r\n/.test(text)) {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\nContent-Length: 9\r\n\r\n');
    }
  });
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
  // With a length, too, when they are announced.
  for (const headers of [{}, { 'content-length': 4, trailer: 'x-up' }]) {
    const stream = session.request({ ':method': 'POST', ':path': '/', ...headers }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-up': 'yes', host: 'elsewhere.example' }));
    const trailers = once(stream, 'trailers');
    stream.end('body');
    expect(await stream.setEncoding('latin1').toArray()).toEqual(['abc']);
    const [came] = await trailers;
    expect(came).toMatchObject({ 'x-sum': '1, 2' });
    expect(came).not.toHaveProperty('content-length');
  }
  session.close();
  expect(origin.received.join('').match(/\r\n0\r\n[^]*?\r\n\r\n/g)).toEqual(Array.from({ length: 2 }, () => '\r\n0\r\nx-up: yes\r\n\r\n'));
});

test('a trailer that its target sends after the visitor has the head reaches the visitor', async () => {
  let target: net.Socket | undefined;
  const origin = await startRawOrigin((_text, socket) => {
    target = socket;
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
  });
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
  const stream = session.request({ ':path': '/' });
  await once(stream, 'response');
  const trailers = once(stream.resume(), 'trailers');
  target?.write('0\r\nX-Sum: 1\r\n\r\n');
  expect((await trailers)[0]).toMatchObject({ 'x-sum': '1' });
  session.close();
});

test('trailers that come before their request has had its turn reach the target, too', async () => {
  const turns = jest.spyOn(Turns.prototype, 'add').mockImplementation((_connection, begin) => {
    setImmediate(begin);
    return true;
  });
  const origin = await startRawOrigin(() => undefined);
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const visitor = await silentHttp2(httpsPort, 'x.p.example.com');
  const head = [[':method', 'POST'], [':scheme', 'https'], [':path', '/'], [':authority', 'x.p.example.com']] as const;
  visitor.write(Buffer.concat([frames.begun(1, head), frames.data(1, 'body'), frames.request(1, [['x-up', 'yes']])]));
  await eventually(() => origin.received.join(''), (text) => /\r\n0\r\n.*\r\n\r\n$/s.test(text));
  expect(origin.received.join('')).toMatch(/\r\n4\r\nbody\r\n0\r\nx-up: yes\r\n\r\n$/);
  visitor.destroy();
  turns.mockRestore();
});

test.each([0, 8])('a body that the visitor cancels (code %d) is not complete for the target', async (code) => {
  const origin = await startRawOrigin(() => undefined);
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const visitor = await silentHttp2(httpsPort, 'x.p.example.com');
  visitor.write(
    Buffer.concat([frames.begun(1, [[':method', 'POST'], [':scheme', 'https'], [':path', '/'], [':authority', 'x.p.example.com']]), frames.data(1, 'a part')]),
  );
  await eventually(() => origin.received.join(''), (text) => text.includes('a part'));
  visitor.write(frames.reset(1, code));
  await eventually(() => server.connections, (count) => count === 1);
  visitor.destroy();
  await eventually(() => server.connections, (count) => count === 0);
  expect(origin.received.join('')).toMatch(/\r\n\r\n6\r\na part\r\n$/);
});

/** A visitor that uploads, and accepts heads but no byte of a body until it opens its window, so an answer stays unsent. */
function uploading(httpsPort: number, path: string) {
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate, settings: { initialWindowSize: 0 } });
  const stream = session.request({ ':method': 'POST', ':path': path }, { waitForTrailers: true });
  const heads: unknown[] = [];
  stream.on('headers', (headers) => {
    heads.push(headers[':status']);
  }).on('response', (headers) => {
    heads.push(headers[':status']);
  });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-a': 'a'.repeat(5000), 'x-b': 'b'.repeat(5000) }));
  const rest = async (): Promise<string> => {
    session.settings({ initialWindowSize: 65_535 });
    return (await stream.setEncoding('latin1').toArray()).join('');
  };
  return { session, stream, heads, rest };
}

test('trailers that are too long, of a request that was answered before, change nothing', async () => {
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', location: '/only', targets: ['127.0.0.1:1'], ...pem })]);
  const { session, stream, heads, rest } = uploading(httpsPort, '/elsewhere');
  await once(stream, 'response');
  stream.end();
  await once(stream, 'wantTrailers');
  // Node sends trailers with the next turn; the ping goes after them.
  await new Promise((resolve) => {
    setImmediate(() => session.ping(resolve));
  });
  expect(await rest()).toMatch(/<\/html>\n$/);
  expect(heads).toEqual([404]);
  session.close();
});

test.each(
  [
    ['has too long trailers', 400, 'an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'],
    ['has too long trailers', 400, 'an interim response', 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n'],
    ['stops in its body', 408, 'an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'],
  ] as const,
)('a request that %s is answered %d and taken from its target, whose %s comes too late', async (_, status, _what, late) => {
  const asked: net.Socket[] = [];
  const origin = await startRawOrigin((_text, socket) => {
    asked.push(socket);
  });
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })], {
    timing: { ...VHOST_TIMING, stallMs: 2000 },
  });
  const { session, stream, heads, rest } = uploading(httpsPort, '/');
  await eventually(() => asked.length, (count) => count > 0);
  const [target] = asked;
  if (status === 400) stream.end();
  await once(stream, 'response');
  target?.write(late);
  await eventually(() => target?.closed, (gone) => gone === true, 5000);
  expect(await rest()).toMatch(/<\/html>\n$/);
  expect(heads).toEqual([status]);
  session.close();
  await eventually(() => server.connections, (count) => count === 0);
});

test('an idle session ends and its connection is closed; a visitor that waits for a response keeps it', async () => {
  const silent = await startRawOrigin(() => undefined);
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [silent.target], ...pem })], {
    http2Timing: { idleMs: 500, drainMs: 500 },
  });
  const sessionTo = async () => {
    const options = {
      port: httpsPort,
      host: '127.0.0.1',
      servername: 'x.p.example.com',
      ALPNProtocols: ['h2'],
      rejectUnauthorized: false,
      allowHalfOpen: true,
    };
    const socket = tls.connect(options);
    await once(socket, 'secureConnect');
    return socket.on('error', () => undefined);
  };
  const used = await sessionTo();
  const waiting = http2.connect('https://x.p.example.com', { createConnection: () => used });
  const stream = waiting.request({ ':path': '/' });
  await eventually(() => silent.received.length, (count) => count === 1);
  const kept = await sessionTo();
  // The preface, and settings without any: all that HTTP/2 begins with.
  kept.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
  await eventually(() => server.connections, (count) => count === 3);
  // Its FIN comes, and it doesn't go.
  kept.resume();
  await once(kept, 'end');
  await eventually(() => server.connections, (count) => count === 2);
  expect([waiting.closed, stream.closed]).toEqual([false, false]);
  waiting.destroy();
  kept.destroy();
});

test('sessions of the panel neither reach a target nor come from one, however the cookies are split', async () => {
  const origin = await startRawOrigin((_text, socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: beegosessionID=evil; Domain=example.com\r\nSet-Cookie: __Host-beegosessionID=evil\r\nContent-Length: 0\r\n\r\n',
    );
  });
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const crumbs: RawField[] = [['cookie', 'a=b'], ['cookie', 'beegosessionID=secret'], ['cookie', '__Host-beegosessionID=secret; c=d'], [
    'cookie',
    'xbeegosessionID=1',
  ]];
  expect(
    await sendHttp2(httpsPort, 'x.p.example.com', [[':method', 'GET'], [':scheme', 'https'], [':path', '/'], [':authority', 'x.p.example.com'], ...crumbs]),
  ).toBe('answer');
  expect(origin.received.join('').match(/^cookie:.*$/gim)).toEqual(['cookie: a=b; c=d; xbeegosessionID=1']);
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
  const [headers] = await once(session.request({ ':path': '/' }), 'response');
  expect(headers['set-cookie']).toEqual(['a=1']);
  session.close();
});

test('a session may ask for the host of its handshake and for those that its certificate is for; others are sent to a connection of their own', async () => {
  const answering = (body: string) => startRawOrigin((_text, socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${body}`));
  const [one, two, three] = [await answering('1'), await answering('2'), await answering('3')];
  const { httpsPort, hosts, log } = await startVhost([
    hostOf({ host: '*.p.example.com', targets: [one.target], ...pem }),
    hostOf({ host: 'shared.p.example.com', targets: [two.target], ...pem }),
    // Its target speaks TLS itself.
    hostOf({ host: 'through.p.example.com', targets: [three.target] }),
    hostOf({ host: 'a.example.org', targets: [three.target], certificate: other.certificate, privateKey: other.key }),
    // Its certificate is for other names.
    hostOf({ host: 'odd.example.net', targets: [two.target], ...pem }),
  ]);
  const sessionTo = (servername: string) =>
    http2.connect(`https://${servername}`, {
      createConnection: () => tls.connect({ port: httpsPort, host: '127.0.0.1', servername, ALPNProtocols: ['h2'], rejectUnauthorized: false }),
    });
  const ask = async (session: http2.ClientHttp2Session, authority: string): Promise<unknown> => {
    const stream = session.request({ ':path': '/', ':authority': authority });
    const [headers] = await once(stream, 'response');
    const [body = ''] = await stream.setEncoding('latin1').toArray();
    return headers[':status'] === 200 ? body : headers[':status'];
  };
  const session = sessionTo('x.p.example.com');
  for (
    const [authority, answer] of [
      ['x.p.example.com', '1'],
      ['X.P.example.com.:443', '1'],
      ['y.p.example.com', '1'],
      ['shared.p.example.com', '2'],
      ['through.p.example.com', 421],
      ['a.example.org', 421],
      ['deep.x.p.example.com', 421],
      ['odd.example.net', 421],
      ['nobody.example.net', 421],
      ['127.0.0.1', 421],
      ['p.example.com', 421],
      ['shared.p.example.com', '2'],
    ] as const
  ) expect([authority, await ask(session, authority)]).toEqual([authority, answer]);
  // What it may ask for is looked at with each request.
  hosts.set(hostOf({ host: 'z.p.example.com', targets: [three.target] }));
  expect(await ask(session, 'z.p.example.com')).toBe(421);
  const odd = sessionTo('odd.example.net');
  expect([await ask(odd, 'odd.example.net'), await ask(odd, 'x.p.example.com'), await ask(odd, 'a.example.org')]).toEqual(['2', '1', 421]);
  // Its certificate covers a name that no host has any more.
  for (const { id, host } of hosts.all()) if (host === '*.p.example.com') hosts.remove(id);
  expect(await ask(session, 'y.p.example.com')).toBe(404);
  expect(three.received).toEqual([]);
  expect(await log.line(/the certificate of the connection is not for a\.example\.org/)).toMatchObject({ msg: expect.stringMatching(/refused/) });
  session.close();
  odd.close();
});

const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

test('a session says what a visitor may send at once; while it is idle it has one time, while it drains another; requests under way are answered before it ends, and nothing is timed then', async () => {
  const timeouts = jest.spyOn(globalThis, 'setTimeout');
  const cleared = jest.spyOn(globalThis, 'clearTimeout');
  let held: net.Socket | undefined;
  const origin = await startRawOrigin((text, socket) => {
    if (text.includes('/held')) held = socket;
    else socket.write(hello);
  });
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })], {
    http2Timing: { idleMs: 71_001, drainMs: 71_002 },
  });
  const begun = () => timeouts.mock.calls.map(([, ms]) => ms ?? 0).filter((ms) => ms > 71_000 && ms < 71_100);
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
  const [settings] = await once(session, 'remoteSettings');
  expect(settings).toMatchObject({ maxConcurrentStreams: 128, maxHeaderListSize: 32_768, initialWindowSize: 262_144, enablePush: false });
  const ask = async (path: string) => {
    const [headers] = await once(session.request({ ':path': path }).resume(), 'response');
    return headers[':status'];
  };
  expect([await ask('/'), session.state.remoteWindowSize]).toEqual([200, 1024 * 1024]);
  await eventually(begun, (ms) => ms.length === 2);
  const answered = ask('/held');
  await eventually(() => held, (socket) => socket !== undefined);
  await server.drain();
  await once(session, 'goaway');
  expect(begun()).toEqual([71_001, 71_001]);
  held?.write(hello);
  expect(await answered).toBe(200);
  await eventually(begun, (ms) => ms.length > 2);
  expect(begun()).toEqual([71_001, 71_001, 71_002]);
  const last = timeouts.mock.results[timeouts.mock.calls.findIndex(([, ms]) => ms === 71_002)]?.value;
  await eventually(() => cleared.mock.calls.some(([timer]) => timer === last), (done) => done);
  timeouts.mockRestore();
  cleared.mockRestore();
});

test('what a visitor takes back counts, and what nobody can serve; what is answered, or cut off by the target, does not', async () => {
  const taken = jest.spyOn(Pace.prototype, 'begin');
  const origin = await startRawOrigin((text, socket) => {
    if (text.includes('/cut')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\na part', () => setImmediate(() => socket.resetAndDestroy()));
    else if (text.includes('/long')) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`);
    else if (!text.includes('/silent')) socket.write(hello);
  });
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
  /** How many more the server has counted when it has done with the request. */
  const counted = async (path: string, act: (stream: http2.ClientHttp2Stream) => Promise<unknown>) => {
    const before = taken.mock.calls.length;
    const stream = session.request({ ':path': path }).on('error', () => undefined);
    await act(stream);
    await eventually(() => server.connections, (count) => count === 1);
    return taken.mock.calls.length - before;
  };
  const gone = (stream: http2.ClientHttp2Stream) =>
    new Promise<void>((resolve) => {
      stream.once('close', () => resolve());
    });
  const read = (stream: http2.ClientHttp2Stream) => gone(stream.resume());
  const cancel = (stream: http2.ClientHttp2Stream) => {
    stream.close(http2.constants.NGHTTP2_CANCEL);
    return gone(stream);
  };
  expect(await counted('/', read)).toBe(0);
  expect(await counted('/cut', read)).toBe(0);
  // All of the response is here, and does not fit the visitor's window.
  expect(await counted('/long', async (stream) => (await once(stream, 'response'), await cancel(stream)))).toBe(1);
  expect(
    await counted('/silent', async (stream) => (await eventually(() => origin.received.join(''), (text) => text.includes('/silent')), await cancel(stream))),
  ).toBe(1);
  const calls = taken.mock.calls.length;
  await read(session.request({ ':path': '/', ':authority': 'x.p.example.com', host: 'y.p.example.com' }).on('error', () => undefined));
  await eventually(() => taken.mock.calls.length, (count) => count === calls + 1);
  // One more than it may take back.
  taken.mockReturnValue(false);
  const [goaway, last] = [once(session.on('error', () => undefined), 'goaway'), session.request({ ':path': '/silent' }).on('error', () => undefined)];
  await eventually(() => origin.received.join('').split('/silent').length, (count) => count === 3);
  last.close(http2.constants.NGHTTP2_CANCEL);
  expect((await goaway)[0]).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  await eventually(() => server.connections, (count) => count === 0);
  taken.mockRestore();
});

test('a request that waits for its turn has its trailers when it begins, and leaves the queue if it is canceled; a full queue ends the session', async () => {
  const [held, withdraw] = [new Array<() => void>(), jest.spyOn(Turns.prototype, 'withdraw')];
  const add = jest.spyOn(Turns.prototype, 'add').mockImplementation((_session, begin) => held.push(begin) < 3);
  const origin = await startRawOrigin((text, socket) => text.endsWith('\r\n0\r\nx-up: yes\r\n\r\n') && socket.write(hello));
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate }).on('error', () => undefined);
  const canceled = session.request({ ':path': '/' }).on('error', () => undefined);
  await eventually(() => held.length, (count) => count === 1);
  canceled.close(http2.constants.NGHTTP2_CANCEL);
  await eventually(() => withdraw.mock.calls.length, (count) => count === 1);
  expect(withdraw.mock.calls).toEqual(add.mock.calls);
  const stream = session.request({ ':method': 'POST', ':path': '/' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'x-up': 'yes' })).end('body');
  await once(stream, 'wantTrailers');
  // Node sends trailers with the next turn; the ping goes after them.
  await new Promise((resolve) => {
    setImmediate(() => session.ping(resolve));
  });
  for (const begin of held) begin();
  const [headers] = await once(stream.resume(), 'response');
  expect(headers[':status']).toBe(200);
  const goaway = once(session, 'goaway');
  session.request({ ':path': '/' }).on('error', () => undefined);
  expect((await goaway)[0]).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  for (const mock of [add, withdraw]) mock.mockRestore();
});

test.each<[number, readonly number[]]>([[200, []], [500, [100, 100, 100, 100]]])(
  'a visitor may take back %i requests, of which at most 200 come at once; with one more it is disconnected',
  async (most, before) => {
    const { begin } = Pace.prototype;
    let now = 0;
    const taken = jest.spyOn(Pace.prototype, 'begin').mockImplementation(function at(this: Pace) {
      return begin.call(this, now);
    });
    const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', ...pem })]);
    const visitor = (await silentHttp2(httpsPort, 'x.p.example.com')).resume();
    let streams = 0;
    /** Sends requests that fit into one record of TLS, and takes them back. */
    const takeBack = (count: number): void => {
      const pairs = Array.from({ length: count }, () => {
        const stream = 2 * streams++ + 1;
        return [frames.request(stream, [[':method', 'GET'], [':scheme', 'https'], [':authority', 'a'], [':path', '/']]), frames.reset(stream)];
      });
      visitor.write(Buffer.concat(pairs.flat()));
    };
    const counted = () => taken.mock.results.filter(({ value }) => value === true).length;
    for (const count of [...before, most - before.reduce((sum, some) => sum + some, 0)]) {
      takeBack(count);
      await eventually(counted, (sum) => sum === streams);
    }
    if (before.length > 0) {
      // And 33 more each second.
      now = 1000;
      takeBack(33);
      await eventually(counted, (sum) => sum === streams);
    }
    expect(visitor.destroyed).toBe(false);
    takeBack(before.length > 0 ? 1 : most + 1);
    await closed(visitor);
    expect(counted()).toBeLessThanOrEqual(before.length > 0 ? most + 33 : 2 * most);
    taken.mockRestore();
  },
);

test('a visitor that is gone is not looked at for its timeouts, nor when the server drains', async () => {
  const [slow, ended] = [jest.spyOn(SlowVisitors.prototype, 'start'), jest.spyOn(SlowVisitors.prototype, 'stop')];
  const expired = [VhostConnection.prototype, Http2Request.prototype].map((visitor) => jest.spyOn(visitor, 'expire').mockReturnValue());
  const drained = jest.spyOn(VhostConnection.prototype, 'drain');
  const silent = await startRawOrigin(() => undefined);
  const { httpPort, httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [silent.target], ...pem })]);
  const visitor = net.connect(httpPort, '127.0.0.1');
  const session = http2.connect(`https://x.p.example.com:${httpsPort}`, { host: '127.0.0.1', ca: covering.certificate });
  const stream = session.request({ ':path': '/' }).on('error', () => undefined);
  await eventually(() => [silent.received.length, server.connections], ([requests, count]) => requests === 1 && count === 3);
  const [looks] = slow.mock.contexts;
  if (!(looks instanceof SlowVisitors)) throw new Error('visitors are looked at');
  const late = () => {
    looks.look(performance.now() + 3_600_000);
    return expired.map((mock) => mock.mock.calls.length);
  };
  expect(late()).toEqual([1, 1]);
  stream.close(http2.constants.NGHTTP2_CANCEL);
  visitor.destroy();
  await eventually(() => server.connections, (count) => count === 1);
  expect(late()).toEqual([1, 1]);
  session.destroy();
  await server.drain();
  expect([drained.mock.calls.length, ended.mock.calls.length]).toEqual([0, 0]);
  await server.close();
  expect(ended).toHaveBeenCalledTimes(1);
  for (const mock of [slow, ended, ...expired, drained]) mock.mockRestore();
});
