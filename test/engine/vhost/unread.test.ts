import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { afterEach, expect, jest, test } from '@jest/globals';
import { covering } from '../../support/certificates.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { flood, frames, silentHttp2 } from '../../support/http2-frames.ts';
import { closed, visit } from '../../support/target.ts';
import { hostOf, startRawOrigin, startVhost } from '../../support/vhost.ts';
import { SlowVisitors, VHOST_TIMING } from '../../../src/engine/vhost/slow-visitors.ts';
import { Http2Outbound } from '../../../src/engine/vhost/response/http2-outbound.ts';
import { Http2Session } from '../../../src/engine/vhost/request/http2-session.ts';
import { WaitState } from '../../../src/engine/vhost/wait-state.ts';
import { encodeDialResult } from '../../../src/wire/dial-result.ts';
import { UnreadAccount, UnreadAccounts } from '../../../src/engine/vhost/unread-account.ts';

const host = 'x.p.example.com';
const pem = { certificate: covering.certificate, privateKey: covering.key };
const request = `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

const open: Array<() => void> = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A host whose target answers each request with so many bytes. */
async function answering(bytes: number, stallMs = 1000) {
  let answered = 0;
  const response = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`);
  const origin = await startRawOrigin((text, socket) => {
    // One request comes after the other.
    if (!text.endsWith('\r\n\r\n')) return;
    answered++;
    socket.write(response);
  });
  const vhost = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })], {
    timing: { ...VHOST_TIMING, stallMs },
    // A session has no requests for as long as other programs use the processors.
    http2Timing: { idleMs: 60_000, drainMs: 500 },
  });
  return { ...vhost, origin, answered: () => answered };
}

/** An HTTP/2 session by way of a relay, which can stop reading: an HTTP/2 client of Node's can't. */
async function session(port: number, window = 8 * 1024 * 1024) {
  const raw = net.connect(port, '127.0.0.1').on('error', () => undefined);
  let last: net.Socket | undefined;
  const relay = net.createServer((client) => {
    client.on('error', () => undefined).once('close', () => raw.destroy());
    last = client;
    client.pipe(raw).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const address = relay.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  relay.unref();
  const secure = tls.connect({ port: address.port, host: '127.0.0.1', servername: host, ALPNProtocols: ['h2'], rejectUnauthorized: false }).on(
    'error',
    () => undefined,
  );
  await once(secure, 'secureConnect');
  const client = http2.connect(`https://${host}`, { createConnection: () => secure, settings: { initialWindowSize: window } }).on(
    'error',
    () => undefined,
  );
  client.setLocalWindowSize(64 * 1024 * 1024);
  open.push(() => {
    client.destroy();
    raw.destroy();
    last?.destroy();
    relay.close();
  });
  await once(client, 'remoteSettings');
  const stop = (): void => {
    raw.unpipe().pause();
  };
  const goOn = (): void => {
    if (last) raw.pipe(last);
  };
  return { raw, stop, goOn, client, ask: () => client.request({ ':path': '/' }).on('error', () => undefined) };
}

test('an HTTP/1.1 visitor that reads no responses gets no more of them and is disconnected; one that resumes reading gets all', async () => {
  const { httpPort, server, answered } = await answering(100_000);
  const visitor = await visit(httpPort);
  visitor.pause().write(request.repeat(2000));
  await eventually(() => server.connections, (count) => count === 1);
  await eventually(() => server.connections, (count) => count === 0);
  // What the kernel takes of them is all that was answered.
  expect(answered()).toBeLessThan(200);
  const reader = await visit(httpPort);
  reader.write(request.repeat(50));
  let bytes = 0;
  for await (const chunk of reader) {
    bytes += Buffer.isBuffer(chunk) ? chunk.length : 0;
    if (bytes >= 50 * 100_000 + 50 * 40) break;
  }
  expect(answered()).toBeGreaterThanOrEqual(50);
});

test('the same applies to error pages: a visitor that reads none is disconnected', async () => {
  /** Much more than the system takes of either side. */
  const MOST = 5000;
  const { httpPort, server } = await answering(0);
  const visitor = await visit(httpPort);
  visitor.on('error', () => undefined).pause();
  const nowhere = 'GET / HTTP/1.1\r\nHost: nowhere.example\r\n\r\n'.repeat(1000);
  let sent = 0;
  const more = (): void => {
    while (sent < MOST && visitor.write(nowhere)) sent++;
  };
  visitor.on('drain', more);
  more();
  await new Promise((resolve) => {
    visitor.once('close', resolve);
  });
  await eventually(() => server.connections, (count) => count === 0);
  expect(sent).toBeLessThan(MOST);
});

test('an HTTP/2 session whose visitor reads nothing is cut off, with its streams and what they hold of their targets', async () => {
  const { httpsPort, server, origin } = await answering(4_000_000);
  const { raw, stop, ask } = await session(httpsPort);
  stop();
  for (let index = 0; index < 20; index++) ask();
  await eventually(() => origin.received.length, (count) => count === 20);
  expect(await eventually(() => server.connections, (count) => count === 0)).toBe(0);
  await closed(raw);
});

test('a response whose visitor reads only others is cut off alone, and the session goes on; the time of one begins again when it is read', async () => {
  const drained = jest.spyOn(WaitState.prototype, 'drained');
  const { httpsPort } = await answering(300_000);
  const { client, ask } = await session(httpsPort, 65_535);
  const unread = ask();
  const lengths = new Set<number>();
  const read = async (): Promise<void> => void lengths.add((await ask().setEncoding('latin1').toArray()).join('').length);
  while (!unread.closed) await read();
  await read();
  expect([[...lengths], client.destroyed, drained.mock.calls.length > 0]).toEqual([[300_000], false, true]);
  drained.mockRestore();
});

test('the streams of sessions end with their sockets, those too whose answers wait, within seconds', async () => {
  const { httpsPort, server, origin } = await answering(4_000_000, 60_000);
  const raws: net.Socket[] = [];
  for (let visitor = 1; visitor <= 10; visitor++) {
    const { raw, stop, ask } = await session(httpsPort);
    stop();
    for (let index = 0; index < 10; index++) ask();
    await eventually(() => origin.received.length, (count) => count === 10 * visitor);
    raws.push(raw);
  }
  // Some looks later there is one that waits behind what the system does not take.
  await delay(2500);
  for (const raw of raws) raw.resetAndDestroy();
  expect(await eventually(() => server.connections, (count) => count === 0, 5000)).toBe(0);
});

test(
  'while an address holds much, further requests of it wait, at most as long as for a head, or are refused when they have a body; when it has read they are answered',
  async () => {
    const unread = new UnreadAccounts();
    const { account } = unread.open('127.0.0.1');
    let held = 20 * 1024 * 1024;
    const holder = { peer: '127.0.0.1', recount: () => held, reset: () => undefined };
    account.open(holder);
    account.add(held);
    const origin = await startRawOrigin((_text, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })], {
      unread,
      timing: { ...VHOST_TIMING, headMs: 1000 },
    });
    const { client, ask } = await session(httpsPort);
    const status = async (stream: http2.ClientHttp2Stream): Promise<unknown> => (await once(stream, 'response'))[0][':status'];
    expect(await status(ask())).toBe(503);
    const upload = client.request({ ':path': '/', ':method': 'POST' }, { endStream: false }).on('error', () => undefined);
    await new Promise((resolve) => {
      upload.once('close', resolve);
    });
    expect(upload.rstCode).toBe(http2.constants.NGHTTP2_REFUSED_STREAM);
    expect(origin.received).toEqual([]);
    const waits = jest.spyOn(UnreadAccount.prototype, 'wait');
    const waiting = Promise.all(Array.from({ length: 20 }, () => status(ask())));
    // One of another connection, too, that gives up, and one behind it.
    const other = await session(httpsPort);
    const left = other.ask();
    await eventually(() => waits.mock.calls.length, (count) => count === 21);
    left.close(http2.constants.NGHTTP2_CANCEL);
    const last = status(other.ask());
    await eventually(() => waits.mock.calls.length, (count) => count === 22);
    waits.mockRestore();
    held = 0;
    expect([await waiting, await last]).toEqual([Array.from({ length: 20 }, () => 200), 200]);
    expect(origin.received.join('').match(/GET/g)).toHaveLength(21);
    account.close(holder);
  },
);

/** A session that only the test looks at: the server itself would cut it off after 20 ms. */
async function lookedAt() {
  const { look } = Http2Session.prototype;
  const started = jest.spyOn(SlowVisitors.prototype, 'start');
  const looks = jest.spyOn(Http2Session.prototype, 'look').mockImplementation(() => undefined);
  const origin = await startRawOrigin((text, socket) => text.startsWith('GET /silent') || socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })], {
    // So often the sessions are looked at.
    timing: { ...VHOST_TIMING, idleMs: 20 },
    http2Timing: { idleMs: 600_000, drainMs: 600_000 },
  });
  const { client, ask } = await session(httpsPort, 0);
  const [looked] = await eventually(() => looks.mock.contexts.slice(0, 1), ({ length }) => length === 1);
  const [slow] = started.mock.contexts;
  if (!(looked instanceof Http2Session) || !(slow instanceof SlowVisitors)) throw new Error('a session was looked at');
  started.mockRestore();
  open.push(() => looks.mockRestore());
  const now = Math.ceil(performance.now()); // whole numbers: the sums are exact
  return { server, client, ask, slow, look: (later: number, stallMs: number) => look.call(looked, now + later, stallMs) };
}

test.each<[what: string, put: (session: object, carrier: object) => void]>([
  ['frames', (session) => Object.defineProperty(session, 'state', { get: () => ({ outboundQueueSize: 1 }) })],
  ['bytes that the system does not take', (_, carrier) => {
    const handle: unknown = Reflect.get(carrier, '_handle');
    if (!(handle instanceof Object) || Reflect.get(handle, 'writeQueueSize') !== 0) throw new Error('a socket says what waits');
    Object.defineProperty(handle, 'writeQueueSize', { get: () => 1 });
  }],
])('a session in which %s wait, and nothing is sent, is cut off after its time, with its requests', async (_, put) => {
  const handshakes = jest.spyOn(http2, 'performServerHandshake');
  const { server, client, look } = await lookedAt();
  const [[socket], [handshake]] = [handshakes.mock.calls[0] ?? [], handshakes.mock.results];
  handshakes.mockRestore();
  client.request({ ':path': '/silent' }).on('error', () => undefined);
  await eventually(() => server.connections, (count) => count === 2);
  for (const later of [0, 5000]) look(later, 1000);
  await new Promise((resolve) => {
    client.ping(resolve);
  });
  const carrier: unknown = socket && Reflect.get(socket, '_parent');
  if (handshake?.type !== 'return' || !(carrier instanceof net.Socket)) throw new Error('there is a session');
  put(handshake.value, carrier);
  for (const later of [5000, 6000]) look(later, 1000);
  await new Promise(setImmediate);
  expect(server.connections).toBe(2);
  look(6001, 1000);
  await eventually(() => server.connections, (count) => count === 0);
});

test('the end of a complete response may wait for its visitor for a minute; then only its stream is closed', async () => {
  const { server, client, ask, slow, look } = await lookedAt();
  const stream = ask();
  await once(stream, 'response');
  // The time of a response that is not complete does not count.
  slow.look(performance.now() + 30_000);
  for (const later of [0, 60_000]) look(later, Infinity);
  await new Promise((resolve) => {
    client.ping(resolve);
  });
  expect(server.connections).toBe(2);
  look(60_001, Infinity);
  await eventually(() => stream.closed && server.connections, (count) => count === 1);
  expect(client.destroyed).toBe(false);
});

test('while a target takes no more of an upload, what its visitor may still send counts for the visitor; with the request, all of it ends', async () => {
  const added = jest.spyOn(UnreadAccount.prototype, 'add');
  const origin = await startRawOrigin((_text, socket) => socket.pause());
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const { client } = await session(httpsPort);
  const sum = () => {
    const ofConnection = added.mock.contexts.at(-1);
    return added.mock.calls.reduce((total, [bytes], call) => total + (added.mock.contexts[call] === ofConnection ? bytes : 0), 0);
  };
  for (const [length, held] of [[64 * 1024 * 1024, 256 * 1024], [undefined, 256 * 1024]] as const) {
    const stream = client.request({ ':path': '/', ':method': 'POST', ...length !== undefined && { 'content-length': length } }).on('error', () => undefined);
    const more = (): void => {
      while (!stream.closed && stream.write(Buffer.alloc(256 * 1024)));
    };
    stream.on('drain', more);
    more();
    expect(await eventually(sum, (bytes) => bytes === held)).toBe(held);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    expect(await eventually(sum, (bytes) => bytes === 0)).toBe(0);
  }
  // After an early response only this is held.
  const target = new EmptySocket();
  target.write = () => false;
  const early = await startVhost([hostOf({ host: '*.p.example.com', targets: ['nowhere:1'], ...pem })], { dial: () => target });
  const upload = (await session(early.httpsPort, 0)).client.request({ ':path': '/', ':method': 'POST', 'content-length': 10 }, { endStream: false });
  upload.on('error', () => undefined).write('a part');
  // No more than is left of it.
  expect(await eventually(sum, (bytes) => bytes === 4)).toBe(4);
  target.sink?.onData(Buffer.concat([encodeDialResult('connected'), Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')]));
  expect(await eventually(sum, (bytes) => bytes === 2)).toBe(2);
  added.mockRestore();
});

test('a visitor with too many unread heads gets no interim responses, and the response itself when it has read', async () => {
  const [adds, waits] = [jest.spyOn(Http2Outbound.prototype, 'add'), jest.spyOn(Http2Outbound.prototype, 'wait')];
  const sent = ['HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'];
  const origin = await startRawOrigin((_text, socket) => socket.write(`${sent.join('')}ok`));
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const { ask } = await session(httpsPort);
  const asked = () => {
    const heads: unknown[] = [];
    const stream = ask();
    for (const event of ['headers', 'response']) stream.on(event, (headers: http2.IncomingHttpHeaders) => heads.push(headers[':status']));
    return { heads, over: stream.resume().toArray() };
  };
  const first = asked();
  await first.over;
  expect(adds.mock.calls.flat()).toEqual(sent.map(({ length }) => length));
  let full = true;
  Object.defineProperty(adds.mock.contexts[0], 'full', { get: () => full });
  const second = asked();
  await eventually(() => waits.mock.calls.length, (count) => count === 1);
  full = false;
  await second.over;
  expect([first.heads, second.heads]).toEqual([[103, 200], [200]]);
  for (const mock of [adds, waits]) mock.mockRestore();
});

test('interim responses over HTTP/2 are at most 16, too; then the target does not answer properly', async () => {
  const origin = await startRawOrigin((_text, socket) => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n'.repeat(100);
    const more = (): void => {
      while (!socket.destroyed && socket.write(hints));
    };
    socket.on('drain', more);
    more();
  });
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const { client, ask } = await session(httpsPort);
  const stream = ask();
  let interim = 0;
  stream.on('headers', () => {
    interim++;
  });
  const [headers] = await once(stream, 'response');
  expect(headers).toMatchObject({ ':status': 502 });
  expect(interim).toBe(16);
  client.destroy();
  await eventually(() => server.connections, (count) => count === 0);
});

test('the heads of a hundred responses wait for a visitor that reads late, and all of them arrive', async () => {
  const origin = await startRawOrigin((_text, socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\nok`));
  const { httpsPort } = await startVhost([hostOf({ host: '*.p.example.com', targets: [origin.target], ...pem })]);
  const { stop, goOn, client, ask } = await session(httpsPort);
  stop();
  const streams = Array.from({ length: 100 }, ask);
  // Those that begin late go over connections that others have left.
  await eventually(() => origin.received.join('').split('GET ').length - 1, (count) => count >= 100);
  goOn();
  const texts = await Promise.all(streams.map(async (stream) => (await stream.setEncoding('latin1').toArray()).join('')));
  expect(texts).toEqual(texts.map(() => 'ok'));
  client.close();
});

const fields = [[':method', 'GET'], [':scheme', 'https'], [':authority', host], [':path', '/']] as const;

test.each(
  [
    ['pings', () => Buffer.concat(Array.from({ length: 100 }, frames.ping))],
    ['settings', () => Buffer.concat(Array.from({ length: 100 }, frames.settings))],
    ['requests that it takes back at once', (index: number) => Buffer.concat([frames.request(2 * index + 1, fields), frames.reset(2 * index + 1)])],
    ['requests, more than may be open', (index: number) => frames.request(2 * index + 1, fields)],
  ] as const,
)('an HTTP/2 visitor who sends %s without end and reads nothing is disconnected', async (_, make) => {
  const { httpsPort, server } = await answering(10);
  const visitor = await silentHttp2(httpsPort, host);
  open.push(() => visitor.destroy());
  await flood(visitor, make);
  expect(await eventually(() => server.connections, (count) => count === 0)).toBe(0);
});

test('a visitor that cancels requests as fast as it sends them gets an error and is disconnected at once', async () => {
  const silent = await startRawOrigin(() => undefined);
  const { httpsPort, server } = await startVhost([hostOf({ host: '*.p.example.com', targets: [silent.target], ...pem })]);
  const visitor = await silentHttp2(httpsPort, host);
  let text = '';
  visitor.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  }).resume();
  // All at once: what the server had not read when it closes the connection would take its last words along.
  visitor.write(
    Buffer.concat(
      Array.from({ length: 700 }, (_, index) => Buffer.concat([frames.request(2 * index + 1, fields), frames.reset(2 * index + 1, index % 2 === 0 ? 8 : 2)])),
    ),
  );
  await once(visitor, 'close');
  // Most of them nobody had to begin with.
  expect(silent.received.length).toBeLessThan(350);
  await eventually(() => server.connections, (count) => count === 0);
  // GOAWAY, with the last stream and the reason: ENHANCE_YOUR_CALM.
  const goaway = text.indexOf(Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0]).toString('latin1'));
  expect([goaway >= 0, text.charCodeAt(goaway + 16)]).toEqual([true, 11]);
});

test('what waits in a session is counted until it is sent, and resumes what waited for room', async () => {
  const counted: number[] = [];
  const state = { outboundQueueSize: 0 };
  const session = { socket: { remoteAddress: '192.0.2.1' }, state, destroyed: false };
  const unread = { tight: false, open: () => undefined, add: (bytes: number) => counted.push(bytes), close: () => counted.push(NaN) };
  const outbound = new Http2Outbound(session, unread, () => counted.push(Infinity));
  outbound.add(300_000);
  // The session has sent it already.
  expect([outbound.full, counted]).toEqual([false, []]);
  state.outboundQueueSize = 1;
  outbound.add(10_000);
  outbound.add(10_000);
  outbound.add(260_000);
  expect([outbound.full, counted]).toEqual([true, [20_000, 260_000]]);
  const resumed: string[] = [];
  outbound.wait(() => resumed.push('first'));
  await Promise.all([
    new Promise<void>((resolve) =>
      outbound.wait(() => {
        resumed.push('second');
        resolve();
      })
    ),
    turn().then(() => {
      expect(resumed).toEqual([]);
      state.outboundQueueSize = 0;
    }),
  ]);
  expect([resumed, outbound.full, outbound.recount(), counted.at(-1)]).toEqual([['first', 'second'], false, 0, -280_000]);
  // The account cuts it off if it holds most of what a visitor does not read.
  expect(outbound.peer).toBe('192.0.2.1');
  outbound.reset();
  expect(counted.at(-1)).toBe(Infinity);
  // Of a session that ends, nothing is held any more.
  state.outboundQueueSize = 1;
  outbound.add(20_000);
  outbound.close();
  expect(counted.slice(-3)).toEqual([20_000, -20_000, NaN]);
});
