import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import path from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { WantedTunnel } from '../../src/engine/face.ts';
import type { SocketBackend } from '../../src/wire/socket.ts';
import { covering } from './certificates.ts';
import { hashOf, payload, receive, type Received, sendPayload, writePayload } from './payload.ts';
import { scratchDirectory } from './scratch.ts';
import { answer, type Kind, runOn, type Seen, startPartner, type Stream } from './streams.ts';
import { visit } from './target.ts';
import { openTunnel, type TestEngine } from './tunnel.ts';
import { udpEcho, udpPeer } from './udp.ts';
import { hostOf } from './vhost.ts';
import { startVisitor } from './visitor.ts';

/** A way to a partner, through a tunnel of some type or a host. */
export interface StreamWay {
  readonly name: string;
  /** It carries streams of this kind alone. */
  readonly only?: Kind;
  /** It carries at most so many bytes. */
  readonly most?: number;
  /** @returns what the visitor received; what the target did is in the `Seen` that the ways were opened with */
  run(stream: Stream): Promise<Received>;
}

/** How the ways are opened. */
export interface WaysOptions {
  readonly sockets: SocketBackend;
  readonly seen: Seen;
  /** Whether this machine's addresses allow a direct path; without, p2p goes through the server. */
  readonly direct: boolean;
}

const password = 'what every visitor proves';
const NAME = 'example.test';
/** A datagram's bytes. */
const DATAGRAM = 1100;
/** For a datagram that was dropped, in ms: beside bulk some may be. */
const RESEND_MS = 500;

/** Opens a tunnel of each type and a host at an engine whose agent is connected. */
export async function openWays(server: TestEngine, options: WaysOptions): Promise<StreamWay[]> {
  const partner = await startPartner(options.seen);
  return [
    ...await socketWays(server, partner.address, options),
    await udpWay(server, options.seen),
    await fileWay(server),
    ...await hostWays(server, options.seen),
  ];
}

/** Ways that are one connection from visitor to target. */
async function socketWays(server: TestEngine, target: string, { sockets, direct }: WaysOptions): Promise<StreamWay[]> {
  const tunnel = (mode: string, more: Partial<WantedTunnel> = {}): Promise<WantedTunnel> => openTunnel(server, { mode, targets: [target], ...more });
  const over = (name: string, connect: () => Promise<Duplex>): StreamWay => ({ name, run: async (stream) => runOn(await connect(), stream) });
  const tcp = await tunnel('tcp');
  await tunnel('secret', { password });
  await tunnel('p2p', { password: `${password}, directly` });
  const secret = await startVisitor(server, { password, sockets });
  const p2p = await startVisitor(server, { password: `${password}, directly`, type: 'p2p', sockets });
  if (direct) await p2p.log.line(/^direct path to the agent/);
  const [proxy, socks] = [await tunnel('httpProxy'), await tunnel('socks5')];
  const [address = '', port = ''] = target.split(':');
  return [
    over('tcp', () => visit(tcp.port)),
    over('secret', () => visit(secret.port)),
    over(direct ? 'p2p, direct' : 'p2p, relayed', () => visit(p2p.port)),
    over('httpProxy, CONNECT', async () => granted(await visit(proxy.port), `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)),
    over('socks5', async () => {
      const socket = await granted(await visit(socks.port), Buffer.from([5, 1, 0]));
      return granted(socket, Buffer.from([5, 1, 0, 1, ...address.split('.').map(Number), Number(port) >> 8, Number(port) & 255]));
    }),
  ];
}

/** Says what a proxy wants to hear; the next bytes are the target's, since it speaks only when it was spoken to. */
async function granted<T extends Duplex>(socket: T, words: string | Buffer): Promise<T> {
  socket.write(words);
  await once(socket, 'readable');
  socket.read();
  return socket;
}

/** Each datagram is sent until its echo is there. */
async function udpWay(server: TestEngine, seen: Seen): Promise<StreamWay> {
  const { port } = await openTunnel(server, { mode: 'udp', targets: [(await udpEcho()).address] });
  return {
    name: 'udp',
    most: 65_536,
    run: async ({ bytes, seed }) => {
      const peer = await udpPeer();
      for (const block of payload(bytes, seed)) {
        for (let start = 0; start < block.length; start += DATAGRAM) await echoed(block.subarray(start, start + DATAGRAM));
      }
      await peer.close();
      const whole = { bytes, hash: hashOf(bytes, seed) };
      seen.set(seed, whole.hash);
      return whole;

      async function echoed(datagram: Buffer): Promise<void> {
        const timer = setInterval(() => peer.send(datagram, port), RESEND_MS);
        peer.send(datagram, port);
        while (!(await peer.next()).equals(datagram)) continue; // the echo of one that was sent twice
        clearInterval(timer);
      }
    },
  };
}

async function fileWay(server: TestEngine): Promise<StreamWay> {
  const localPath = scratchDirectory();
  const { port } = await openTunnel(server, { mode: 'file', localPath });
  return {
    name: 'file',
    only: 'download',
    run: async ({ bytes, seed, slow }) => {
      writeFileSync(path.join(localPath, String(seed)), Buffer.concat([...payload(bytes, seed)]));
      const request = http.get({ port, host: '127.0.0.1', path: `/${seed}`, agent: false });
      return receive(await responseTo(request), slow);
    },
  };
}

/** Over a host, the bytes are bodies, or what follows an upgrade. */
async function hostWays(server: TestEngine, seen: Seen): Promise<StreamWay[]> {
  const origin = await startOrigin(seen);
  await server.engine.apply({ kind: 'host', host: hostOf({ host: NAME, targets: [origin], certificate: covering.certificate, privateKey: covering.key }) });
  const { httpPort, httpsPort } = await server.engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  const asked = { host: '127.0.0.1', method: 'POST', agent: false, headers: { host: NAME } };
  const body = (name: string, ask: (target: string) => { readonly request: Writable; readonly response: Promise<Readable>; end?(): void }): StreamWay => ({
    name,
    run: async ({ bytes, kind, slow, seed }) => {
      const { request, response, end } = ask(`/${kind}/${bytes}/${seed}/${slow}`);
      const sending = kind === 'download' ? request.end() : sendPayload(request, bytes, seed);
      const received = await receive(await response, slow);
      await sending;
      end?.();
      return received;
    },
  });
  const secure = { ...asked, port: httpsPort, servername: NAME, rejectUnauthorized: false };
  const byHttp1 = (request: http.ClientRequest) => ({ request, response: responseTo(request) });
  return [
    body('host, HTTP/1.1', (target) => byHttp1(http.request({ ...asked, port: httpPort, path: target }))),
    body('host, HTTPS', (target) => byHttp1(https.request({ ...secure, path: target }))),
    body('host, HTTP/2', (target) => {
      const session = http2.connect(`https://${NAME}:${httpsPort}`, {
        host: '127.0.0.1',
        lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
        rejectUnauthorized: false,
      });
      const request = session.request({ ':method': 'POST', ':path': target });
      return { request, response: once(request, 'response').then(() => request), end: () => session.close() };
    }),
    {
      name: 'host, upgraded',
      run: async (stream) =>
        runOn(await granted(await visit(httpPort), `GET / HTTP/1.1\r\nHost: ${NAME}\r\nConnection: Upgrade\r\nUpgrade: streams\r\n\r\n`), stream),
    },
  ];
}

async function startOrigin(seen: Seen): Promise<string> {
  const server = http.createServer((request, response) => {
    const [, kind, bytes, seed, slow] = request.url?.split('/') ?? [];
    const receiving = receive(request, slow === 'true').then(({ hash }) => seen.set(Number(seed), hash));
    const sending = kind === 'upload' ? Promise.resolve() : writePayload(response, Number(bytes), Number(seed));
    // Who has the whole answer may close, which can cut off what is still on its way to us.
    void Promise.all([receiving, sending]).then(() => response.end());
  }).on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: streams\r\n\r\n');
    answer(socket, seen).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return `127.0.0.1:${address.port}`;
}

async function responseTo(request: http.ClientRequest): Promise<Readable> {
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('a response without a message');
  return response;
}
