import { once } from 'node:events';
import net from 'node:net';
import { afterEach } from '@jest/globals';
import { errnoOf } from '../../src/wire/system-error.ts';

const open: net.Server[] = [];
const sockets = new Set<net.Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of open.splice(0)) server.close();
});

/** A TCP server on this machine that tunnels lead to; gone when the test is done. */
export interface Target {
  /** host:port */
  readonly address: string;
  readonly port: number;
  /** Connections it has accepted. */
  readonly connections: net.Socket[];
  /** The next connection it accepts. */
  accepted(): Promise<net.Socket>;
}

/** Starts a target; `serve` gets each connection (half close allowed). */
export async function startTarget(serve: (socket: net.Socket) => void = () => undefined, host = '127.0.0.1'): Promise<Target> {
  const connections: net.Socket[] = [];
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    remember(socket);
    connections.push(socket);
    serve(socket);
  }).listen(0, host);
  open.push(server);
  await once(server, 'listening');
  const port = portOf(server);
  return {
    address: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    connections,
    accepted: async () => {
      const [socket]: net.Socket[] = await once(server, 'connection');
      if (!socket) throw new Error('a connection without a socket');
      return socket;
    },
  };
}

/** Sends back what it gets, and ends when the visitor ends. */
export function startEcho(host?: string): Promise<Target> {
  return startTarget((socket) => socket.pipe(socket), host);
}

/** A port of this machine on which nobody listens. */
export async function refusedPort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** Occupies a port of this machine; `release` frees it. */
export async function occupyPort(host?: string, port = 0): Promise<{ readonly port: number; release(): Promise<void> }> {
  const server = net.createServer().listen(port, host);
  open.push(server);
  await once(server, 'listening');
  return {
    port: portOf(server),
    release: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

/** Connects to a port of this machine; the connection is gone when the test is done. */
export async function visit(port: number, host = '127.0.0.1'): Promise<net.Socket> {
  const socket = net.connect({ port, host, allowHalfOpen: true });
  remember(socket);
  await once(socket, 'connect');
  return socket;
}

/** Everything a socket says until it ends its direction, also when it has ended before this is called. Rejects when it is reset, or was destroyed here. */
export async function readAll(socket: net.Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A socket that nobody reads emits 'end' all the same: on a busy machine before the test gets here.
  if (socket.errored) throw socket.errored;
  if (!socket.readableEnded && socket.destroyed) throw new Error('the socket was destroyed');
  if (!socket.readableEnded) await once(socket, 'end');
  return Buffer.concat(chunks);
}

/** Connects to a port of this machine and waits until the connection is closed, cleanly or not. */
export async function visitUntilClosed(port: number, host = '127.0.0.1'): Promise<void> {
  const socket = net.connect({ port, host });
  remember(socket);
  await closed(socket);
}

/** Resolves when the socket is closed, cleanly or not. */
export function closed(socket: net.Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    socket.once('close', () => resolve()).once('end', () => socket.end()).resume();
    if (socket.readableEnded) socket.end();
  });
}

/** Why a connection is refused; "" = it isn't, or it was accepted and closed. */
export function refusal(port: number, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, host);
    socket.once('error', (error) => resolve(errnoOf(error))).once('connect', () => socket.end().resume()).once('close', () => resolve(''));
  });
}

/** Sends `text` and reads until as many bytes came back. */
export async function roundTrip(socket: net.Socket, text: string): Promise<string> {
  socket.write(text);
  let answer = '';
  while (answer.length < text.length) {
    const [chunk]: Buffer[] = await once(socket, 'data');
    answer += chunk?.toString('latin1');
  }
  return answer;
}

function remember(socket: net.Socket): void {
  sockets.add(socket);
  socket.on('error', () => undefined).once('close', () => sockets.delete(socket)); // tests look at 'close'
}

function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}
