import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach, expect, jest, test } from '@jest/globals';
import { Field } from '../../../src/engine/http/field.ts';
import { HandshakeQueue } from '../../../src/engine/limits/handshake-queue.ts';
import { ProxiedSockets } from '../../../src/engine/vhost/proxied-sockets.ts';
import { visitorOf } from '../../../src/engine/vhost/target/request-fields.ts';
import { VHOST_TIMING } from '../../../src/engine/vhost/slow-visitors.ts';
import type { PairOrigin } from '../../../src/wire/socket-pair.ts';
import type { UnreadLedger } from '../../../src/wire/unread-budget.ts';
import { covering } from '../../support/certificates.ts';
import { Child, endChildren } from '../../support/child.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { eventuallyAsync } from '../../support/eventually.ts';
import { programPath } from '../../support/find-program.ts';
import { freePort } from '../../support/free-port.ts';
import { describeWith } from '../../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../../support/scratch.ts';
import { readAll, refusal } from '../../support/target.ts';
import { exchange, hostOf, startRawOrigin, startVhost } from '../../support/vhost.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

const name = 'x.p.example.com';
const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const get = `GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
const V1 = 'PROXY TCP4 192.0.2.7 198.51.100.1 12345 443\r\n';
const V2 = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000207c6336401303901bb', 'hex').toString('latin1');

async function start(options: Parameters<typeof startVhost>[1] = {}) {
  const seen: string[] = [];
  const origin = await startRawOrigin((text, socket) => {
    seen.push(text.split('\r\n').filter((line) => /^X-(Forwarded-For|Real-IP):/.test(line)).join('; '));
    socket.write(hello);
  });
  const gated: string[] = [];
  const host = hostOf({ host: name, targets: [origin.target], certificate: covering.certificate, privateKey: covering.key });
  const passed = hostOf({ host: 'passed.example.org', targets: [origin.target] });
  const started = await startVhost([host, passed], {
    trusts: (address) => address === '127.0.0.1',
    gate: (_entry, { address }) => {
      gated.push(address);
      return undefined;
    },
    ...options,
  });
  return { ...started, seen, gated };
}

test("a trusted proxy gives the visitor's address in a header; forwarded fields of the visitor are ignored", async () => {
  const { httpPort, seen, gated } = await start();
  for (const header of [V1, V2]) expect(await exchange(httpPort, header + get)).toMatch(/hello$/);
  await exchange(httpPort, V1 + get.replace('\r\n', '\r\nX-Forwarded-For: 203.0.113.9\r\n'));
  expect(seen).toEqual(Array.from({ length: 3 }, () => 'X-Forwarded-For: 192.0.2.7; X-Real-IP: 192.0.2.7'));
  expect(gated).toEqual(['192.0.2.7', '192.0.2.7', '192.0.2.7']);
});

test('a trusted proxy without a header is served as before, and so is one with a LOCAL header', async () => {
  const { httpPort, seen } = await start();
  await exchange(httpPort, get.replace('\r\n', '\r\nX-Forwarded-For: 203.0.113.9\r\n'));
  await exchange(httpPort, `PROXY UNKNOWN\r\n${get}`);
  expect(seen).toEqual(['X-Forwarded-For: 203.0.113.9, 127.0.0.1; X-Real-IP: 203.0.113.9', 'X-Forwarded-For: 127.0.0.1; X-Real-IP: 127.0.0.1']);
});

test('a header in pieces is one', async () => {
  const { httpPort, seen } = await start();
  const socket = net.connect(httpPort, '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  for (const piece of [V2.slice(0, 3), V2.slice(3, 20), V2.slice(20) + get.slice(0, 5), get.slice(5)]) {
    socket.write(piece, 'latin1');
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  expect(String(await readAll(socket))).toMatch(/hello$/);
  expect(seen).toEqual(['X-Forwarded-For: 192.0.2.7; X-Real-IP: 192.0.2.7']);
  socket.destroy();
});

test('a header from any other address is a bad request', async () => {
  const { httpPort, httpsPort, seen } = await start({ trusts: () => false });
  for (const header of [V1, V2]) expect(await exchange(httpPort, header + get)).toMatch(/^HTTP\/1.1 400 /);
  expect(await exchange(httpsPort, V1)).toBe('');
  expect(seen).toEqual([]);
});

test('a malformed header closes the connection and is logged', async () => {
  const { httpPort, httpsPort, log, seen } = await start();
  for (const port of [httpPort, httpsPort]) {
    const from = log.entries.length;
    expect(await exchange(port, `PROXY TCP4 nobody nowhere 1 2\r\n${get}`)).toBe('');
    expect(await log.line(/a request was refused: the header of the PROXY protocol is malformed/, from)).toMatchObject({ address: '127.0.0.1', status: 400 });
  }
  expect(seen).toEqual([]);
});

test('a header that never arrives has the timeout of a head', async () => {
  const { httpPort } = await start({ timing: { ...VHOST_TIMING, headMs: 50 } });
  expect(await exchange(httpPort, 'PROXY TCP4')).toBe('');
});

test.each(['drain', 'close'] as const)('a server that ends closes connections of proxies whose header has not arrived: %s', async (end) => {
  const { httpPort, server } = await start({ timing: { ...VHOST_TIMING, headMs: 600_000 } });
  const waiting = exchange(httpPort, 'PROXY TCP4');
  expect(await exchange(httpPort, V1 + get)).toMatch(/hello$/);
  await server[end]();
  expect(await waiting).toBe('');
});

/** A proxy's connection, without a network. */
class ProxySocket extends EmptySocket {
  override readonly remoteAddress = '127.0.0.9';
  readonly putBack: string[] = [];
  override unread(chunk: Buffer): void {
    this.putBack.push(chunk.toString('latin1'));
  }
}

test('what a proxy has begun is no longer timed, counted or closed at the end once it is served, refused or gone; 4096 may wait', () => {
  jest.useFakeTimers();
  try {
    const [served, refused]: [string[], string[]] = [[], []];
    const sockets = new ProxiedSockets({
      trusts: (address) => address === '127.0.0.9',
      headMs: 10_000,
      serve: ({ remoteAddress }) => served.push(remoteAddress),
      refused: (address) => refused.push(address),
    });
    const accept = (first?: string): ProxySocket => {
      const socket = new ProxySocket();
      sockets.accept(socket);
      if (first !== undefined) socket.sink?.onData(Buffer.from(first, 'latin1'));
      return socket;
    };
    const [named, unnamed, malformed, gone, ended] = [accept(`${V1}GET`), accept('GET'), accept('PROXY x\r\n'), accept(), accept('PROXY ')];
    gone.destroy();
    ended.sink?.onEnd();
    expect([served, refused, jest.getTimerCount()]).toEqual([['192.0.2.7', '127.0.0.9'], ['127.0.0.9'], 0]);
    expect([named, unnamed, malformed, gone, ended].map(({ putBack, destroyed }) => [putBack, destroyed]))
      .toEqual([[['GET'], false], [['GET'], false], [[], true], [[], true], [[], true]]);
    const waiting = Array.from({ length: 4096 }, () => accept());
    expect(accept().destroyed).toBe(true);
    waiting[0]?.sink?.onData(Buffer.from('GET'));
    const another = accept();
    jest.advanceTimersByTime(9999);
    expect([waiting[1]?.destroyed, another.destroyed]).toEqual([false, false]);
    jest.advanceTimersByTime(1);
    expect([waiting.filter(({ destroyed }) => destroyed).length, another.destroyed, jest.getTimerCount()]).toEqual([4095, true, 0]);
    const last = accept();
    sockets.close();
    expect([named, unnamed, last].map(({ destroyed }) => destroyed)).toEqual([false, false, true]);
  } finally {
    jest.useRealTimers();
  }
});

/** A visitor over TLS, through a proxy that sends the header of version 2. */
async function secureVisitor(httpsPort: number, servername: string, ALPNProtocols?: string[]): Promise<tls.TLSSocket> {
  const raw = net.connect(httpsPort, '127.0.0.1');
  raw.write(V2, 'latin1');
  const socket = tls.connect({ socket: raw, servername, ALPNProtocols, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

test('over TLS the header goes before the hello: HTTP/1.1, HTTP/2, and TLS that is passed through', async () => {
  const queued = jest.spyOn(HandshakeQueue.prototype, 'next');
  const { httpsPort, seen, gated } = await start({
    dialSecure: (_entry, visitor) => {
      gated.push(`passed ${visitor.remoteAddress}`);
      return undefined;
    },
  });
  const secure = (servername: string, ALPNProtocols?: string[]) => secureVisitor(httpsPort, servername, ALPNProtocols);
  const first = await secure(name);
  first.write(get);
  expect(String(await readAll(first))).toMatch(/hello$/);
  const second = await secure(name, ['h2']);
  const session = http2.connect(`https://${name}`, { createConnection: () => second });
  await once(session.request({ ':path': '/' }).resume(), 'end');
  session.close();
  await expect(secure('passed.example.org')).rejects.toThrow(/ECONNRESET|disconnected/);
  expect(seen).toEqual(Array.from({ length: 2 }, () => 'X-Forwarded-For: 192.0.2.7; X-Real-IP: 192.0.2.7'));
  expect(gated).toEqual(['192.0.2.7', '192.0.2.7', 'passed 192.0.2.7']);
  // Each has its turn among the handshakes of the visitor's address.
  expect(queued.mock.calls).toEqual([['session', '192.0.2.7'], ['session', '192.0.2.7']]);
  queued.mockRestore();
});

test('a target is dialed for the address and the port of the visitor, by each protocol', async () => {
  const dialed: unknown[] = [];
  const dial = (_entry: unknown, { remoteAddress, remotePort }: PairOrigin, unread?: UnreadLedger): undefined =>
    void dialed.push([remoteAddress, remotePort, unread !== undefined]);
  const { httpPort, httpsPort } = await start({ dial, dialSecure: dial });
  await exchange(httpPort, V1 + get);
  const second = await secureVisitor(httpsPort, name, ['h2']);
  const session = http2.connect(`https://${name}`, { createConnection: () => second });
  await once(session.request({ ':path': '/' }).resume(), 'end');
  session.close();
  await expect(secureVisitor(httpsPort, 'passed.example.org')).rejects.toThrow(/ECONNRESET|disconnected/);
  // Only HTTP/2 has an account of what is not read.
  expect(dialed).toEqual([false, true, false].map((counted) => ['192.0.2.7', 12_345, counted]));
});

/** Sends requests through a program in front of both ports, each from another address. @param front starts the program @returns what the target receives about the visitors */
async function askThrough(
  front: (ports: { readonly plain: readonly [number, number]; readonly secure: readonly [number, number] }) => Child,
): Promise<string[]> {
  const { httpPort, httpsPort, seen } = await start();
  const [plain, secure] = [await freePort(), await freePort()];
  const program = front({ plain: [plain, httpPort], secure: [secure, httpsPort] });
  await eventuallyAsync(() => refusal(secure), (why) => why === '' || program.over);
  expect(program.output).not.toMatch(/ALERT|emerg/);
  const visitor = net.connect({ port: plain, host: '127.0.0.1', localAddress: '127.0.0.5' });
  visitor.write(get);
  expect(String(await readAll(visitor))).toMatch(/hello$/);
  const over = tls.connect({
    socket: net.connect({ port: secure, host: '127.0.0.1', localAddress: '127.0.0.6' }),
    servername: name,
    rejectUnauthorized: false,
  });
  over.write(get);
  expect(String(await readAll(over))).toMatch(/hello$/);
  for (const socket of [visitor, over]) socket.destroy();
  return seen;
}

const bothNamed = ['X-Forwarded-For: 127.0.0.5; X-Real-IP: 127.0.0.5', 'X-Forwarded-For: 127.0.0.6; X-Real-IP: 127.0.0.6'];

describeWith('haproxy', 'behind haproxy', () => {
  test.each(['send-proxy', 'send-proxy-v2'])('%s names the visitor, over HTTP and TLS', (option) =>
    expect(askThrough(({ plain, secure }) => {
      const file = path.join(scratchDirectory(), 'haproxy.cfg');
      const part = (kind: string, [from, to]: readonly [number, number]): string =>
        `listen ${kind}\n  bind 127.0.0.1:${from}\n  server one 127.0.0.1:${to} ${option}\n`;
      writeFileSync(
        file,
        `defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 5s\n  timeout server 5s\n${part('plain', plain)}${part('secure', secure)}`,
      );
      return new Child(programPath('haproxy'), ['-db', '-f', file]);
    })).resolves.toEqual(bothNamed));
});

describeWith(['nginx', 'ngx_stream_module.so'], 'behind nginx', () => {
  test('proxy_protocol of a stream names the visitor, over HTTP and TLS', () =>
    expect(askThrough(({ plain, secure }) => {
      const directory = scratchDirectory();
      const file = path.join(directory, 'nginx.conf');
      const part = ([from, to]: readonly [number, number]): string => `server { listen 127.0.0.1:${from}; proxy_pass 127.0.0.1:${to}; proxy_protocol on; }`;
      writeFileSync(
        file,
        `load_module ${
          programPath('ngx_stream_module.so')
        }; daemon off; master_process off; pid ${directory}/pid; error_log stderr notice; events {} stream { ${part(plain)} ${part(secure)} }`,
      );
      return new Child(programPath('nginx'), ['-c', file, '-e', path.join(directory, 'errors')]);
    })).resolves.toEqual(bothNamed));
});

test.each([
  [[], '10.0.0.1'],
  [['203.0.113.1'], '203.0.113.1'],
  [['203.0.113.1, 10.0.0.2'], '203.0.113.1'],
  // What the visitor has sent comes first.
  [['198.51.100.9, 203.0.113.1, 10.0.0.2'], '203.0.113.1'],
  [['198.51.100.9', '203.0.113.1'], '203.0.113.1'],
  [['10.0.0.3, 10.0.0.2'], '10.0.0.3'],
  [['203.0.113.1, nonsense, 10.0.0.2'], '10.0.0.1'],
])('of %j, sent by a trusted proxy, the visitor is the last address that is no trusted proxy: %s', (sent, visitor) => {
  const fields = sent.map((value) => Field.of('X-Forwarded-For', value));
  expect(visitorOf(fields, '10.0.0.1', (address) => address.startsWith('10.'))).toBe(visitor);
});
