import { once } from 'node:events';
import net from 'node:net';
import { afterAll, afterEach } from '@jest/globals';
import { Clients } from '../../src/engine/client-index.ts';
import { Ticker } from '../../src/engine/limits/meter.ts';
import { Visitors } from '../../src/engine/limits/visitors.ts';
import type { WantedHost } from '../../src/engine/face.ts';
import { HEAD_LIMITS } from '../../src/engine/http/head.ts';
import { Certificates } from '../../src/engine/vhost/tls/certificates.ts';
import type { HostEntry } from '../../src/engine/vhost/host-entry.ts';
import { Hosts } from '../../src/engine/vhost/hosts.ts';
import { VHOST_TIMING } from '../../src/engine/vhost/slow-visitors.ts';
import type { VhostPolicy } from '../../src/engine/vhost/vhost-context.ts';
import { VhostServer, type VhostOptions } from '../../src/engine/vhost/vhost-server.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { dialFailure, encodeDialResult } from '../../src/wire/dial-result.ts';
import { type PairOrigin, socketPair } from '../../src/wire/socket-pair.ts';
import { type ByteSocket, HALF_CLOSED_MS } from '../../src/wire/socket.ts';
import { splice } from '../../src/wire/splice.ts';
import { LogRecorder } from './log-recorder.ts';

const running: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  for (const stop of running.splice(0).toReversed()) await stop();
});

let lastHostId = 0;

/** A host as the engine wants it: `example.test`, every path, both schemes, by default. */
export function hostOf(host: Partial<WantedHost>): WantedHost {
  return {
    id: ++lastHostId,
    clientId: 1,
    host: 'example.test',
    location: '/',
    scheme: 'all',
    enabled: true,
    targets: [],
    localProxy: false,
    headers: [],
    hostChange: '',
    certificate: '',
    privateKey: '',
    autoHttps: false,
    acme: false,
    namedByAdmin: true,
    ...host,
  };
}

/** The visitors' side of hosts, without agents: it dials the targets itself. It is closed when the test is done. */
export async function startVhost(hosts: readonly WantedHost[], options: Partial<VhostOptions & VhostPolicy> = {}) {
  const started = await start(hosts, options);
  running.push(() => started.server.close());
  return started;
}

async function start(hosts: readonly WantedHost[], options: Partial<VhostOptions & VhostPolicy>) {
  const log = new LogRecorder();
  let turn = 0;
  const dial = (entry: HostEntry, visitor: PairOrigin, telling: boolean): ByteSocket => {
    const [near, far] = socketPair(visitor);
    const [name = '', port = ''] = entry.wanted.targets[turn++ % entry.wanted.targets.length]?.split(':') ?? [];
    void join(far, { host: name, port: Number(port) }, telling);
    return near;
  };
  const all = new Hosts(new Clients(), new Ticker(), new Visitors(), new Certificates(log.logger), 5000);
  for (const host of hosts) all.set(host);
  const parts: VhostOptions & VhostPolicy = {
    log: log.logger,
    sockets: netBackend,
    halfClosedMs: HALF_CLOSED_MS,
    hosts: all,
    timing: VHOST_TIMING,
    headLimits: HEAD_LIMITS,
    shares: { total: 1000, perAddress: 1000 },
    trusts: () => false,
    gate: () => undefined,
    acceptsPassword: () => false,
    tryPassword: () => 'wrong',
    challenge: () => undefined,
    dial: (entry, visitor) => dial(entry, visitor, true),
    dialSecure: (entry, visitor) => dial(entry, visitor, false),
    ...options,
  };
  const server = new VhostServer(parts, parts);
  return { server, log, hosts: all, ...await server.listen({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 }) };
}

/** Connects the agent's end of a pair with a target, as an agent does: it first sends the result of the dial, if the server asked for it. */
async function join(far: ByteSocket, target: { readonly host: string; readonly port: number }, telling: boolean): Promise<void> {
  try {
    const socket = await netBackend.connect({ ...target, timeoutMs: 5000 });
    if (telling) far.write(encodeDialResult('connected'));
    splice(far, socket);
  } catch (error) {
    if (telling) far.write(encodeDialResult(dialFailure(error)));
    far.end();
  }
}

/** An origin that answers with bytes as they are, and keeps what it was sent. */
export function startRawOrigin(answer: (received: string, socket: net.Socket) => void) {
  return startOrigin(answer, running);
}

const lasting: Array<() => Promise<unknown>> = [];

afterAll(async () => {
  for (const stop of lasting.splice(0)) await stop();
});

/** The same for all tests of a file. */
export function startLastingOrigin(answer: (received: string, socket: net.Socket) => void) {
  return startOrigin(answer, lasting);
}

async function startOrigin(answer: (received: string, socket: net.Socket) => void, stops: Array<() => Promise<unknown>>) {
  const received: string[] = [];
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    const index = received.push('') - 1;
    socket.setEncoding('latin1');
    socket.on('error', () => undefined);
    socket.on('data', (text: string) => {
      received[index] += text;
      answer(received[index] ?? '', socket);
    });
    socket.on('end', () => socket.end());
    stops.push(async () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  /** By connection, in the order in which they came. */
  return { received, target: `127.0.0.1:${address.port}` };
}

/** Sends bytes and resolves to all that comes back until the connection ends, or `until` is true of it. @param from the visitor's address */
export async function exchange(port: number, request: string, until: (text: string) => boolean = () => false, from = '127.0.0.1'): Promise<string> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
  socket.on('error', () => undefined);
  let text = '';
  const done = new Promise<void>((resolve) => {
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (until(text)) resolve();
    });
    socket.on('end', resolve);
    socket.on('close', () => resolve());
  });
  socket.write(request, 'latin1');
  await done;
  socket.destroy();
  return text;
}
