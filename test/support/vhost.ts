import { once } from 'node:events';
import net from 'node:net';
import { afterEach } from '@jest/globals';
import { Ticker } from '../../src/engine/limits/meter.ts';
import { Visitors } from '../../src/engine/limits/visitors.ts';
import type { WantedHost } from '../../src/engine/face.ts';
import { Certificates } from '../../src/engine/vhost/certificates.ts';
import { Hosts } from '../../src/engine/vhost/hosts.ts';
import { VHOST_TIMING } from '../../src/engine/vhost/slow-visitors.ts';
import { VhostServer, type VhostOptions } from '../../src/engine/vhost/vhost-server.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import { splice } from '../../src/wire/splice.ts';
import { LogRecorder } from './log-recorder.ts';

const running: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  for (const stop of running.splice(0).toReversed()) await stop();
});

let lastHostId = 0;

/** A host as the engine wants it: `example.test`, every path, both schemes, unless told otherwise. */
export function hostOf(host: Partial<WantedHost>): WantedHost {
  return {
    id: ++lastHostId, clientId: 1, host: 'example.test', location: '/', scheme: 'all', enabled: true, targets: [], localProxy: false, headers: [],
    hostChange: '', certificate: '', privateKey: '', autoHttps: false, ...host,
  };
}

/** The visitors' side of hosts, without agents: it dials the targets itself. */
export async function startVhost(hosts: readonly WantedHost[], options: Partial<VhostOptions> = {}) {
  const log = new LogRecorder();
  let turn = 0;
  const all = new Hosts(new Ticker(), new Visitors(), new Certificates(log.logger));
  for (const host of hosts) all.set(host);
  const server = new VhostServer({
    log: log.logger, sockets: netBackend, hosts: all, timing: VHOST_TIMING, maxConnections: 1000, trusts: () => false, gate: () => undefined, admits: () => true,
    dial(entry, visitor) {
      const [near, far] = socketPair(visitor);
      const [name = '', port = ''] = entry.wanted.targets[turn++ % entry.wanted.targets.length]?.split(':') ?? [];
      netBackend.connect({ host: name, port: Number(port), timeoutMs: 5000 }).then((socket) => splice(far, socket), () => far.destroy(true));
      return near;
    },
    ...options,
  });
  running.push(() => server.close());
  return { server, log, hosts: all, ...await server.listen({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 }) };
}

/** An origin that answers with bytes as they are, and keeps what it was sent. */
export async function startRawOrigin(answer: (received: string, socket: net.Socket) => void) {
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
    running.push(async () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push(async () => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  /** By connection, in the order in which they came. */
  return { received, target: `127.0.0.1:${address.port}` };
}

/** Sends bytes and resolves to all that comes back until the connection ends, or `until` is true of it. */
export async function exchange(port: number, request: string, until: (text: string) => boolean = () => false): Promise<string> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
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
