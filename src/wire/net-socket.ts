import { once } from 'node:events';
import net from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ByteSocket, ConnectOptions, ListenOptions, SocketAddress, SocketBackend, SocketServer, SocketSink } from './socket.ts';
import { failureBehindEnd } from './failure-behind-end.ts';
import { unmapped } from './mapped-address.ts';
import { readTurns, type TurnReader } from './read-turns.ts';
import { socketWatch, type Watched } from './socket-watch.ts';
import { channelSecretOf, secureAccepted, secureDialled, serverContext } from './tls.ts';

/** Options of every socket. Keep-alive finds peers that vanished without a word, and keeps idle connections in the tables of NATs. */
export const TUNED = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000, highWaterMark: 64 * 1024 } as const;
/** Visitors come in bursts; the kernel caps this at net.core.somaxconn. */
const BACKLOG = 4096;
const NOTHING = Buffer.alloc(0);

/** A ByteSocket on a socket of Node's. Made by a backend, which decides how it reads. */
export class NetSocket implements ByteSocket, TurnReader, Watched {
  readonly channelSecret?: () => Buffer | undefined;
  /** How long one direction may be over while nothing moves in the other, in ms; then the socket is reset. */
  halfClosedMs = Number.POSITIVE_INFINITY;
  turn = -1;
  turnBytes = 0;
  readonly #socket: net.Socket;
  readonly #carrier: net.Socket;
  readonly #lends: boolean;
  #sink: SocketSink | undefined;
  #error: Error | undefined;
  #unread: Buffer | undefined;
  #paused = false;
  #yielding = false;
  #handingOver = false;
  #ended = false;
  #closed = false;
  /** Bytes that have moved, both directions together, at the last look at a half-closed socket, and since when there were no more. */
  #moved = -1;
  #stillSince = 0;

  /**
   * @param lends its bytes don't come as 'data' events, but by `receive`, in a buffer that is used again
   * @param carrier the socket below TLS
   */
  constructor(socket: net.Socket, { lends = false, carrier = socket }: { readonly lends?: boolean; readonly carrier?: net.Socket } = {}) {
    this.#socket = socket;
    this.#carrier = carrier;
    this.#lends = lends;
    if (socket instanceof TLSSocket) this.channelSecret = () => channelSecretOf(socket);
    socket.on('error', (error) => { this.#error = error; });
    socket.on('close', () => {
      this.#closed = true;
      socketWatch.delete(this);
      if (!this.#handingOver) this.#sink?.onClose(this.#error);
    });
    socket.on('drain', () => this.#sink?.onDrain());
  }

  /** Of an accepted socket it was asked for at once, and is kept; of one that was dialled few want to know. */
  get remoteAddress(): string {
    return unmapped(this.#socket.remoteAddress ?? '');
  }

  get remotePort(): number {
    return this.#socket.remotePort ?? 0;
  }

  get local(): SocketAddress {
    return { address: unmapped(this.#socket.localAddress ?? ''), port: this.#socket.localPort ?? 0 };
  }

  get pending(): number {
    return this.#socket.writableLength;
  }

  attach(sink: SocketSink): void {
    const first = this.#sink === undefined;
    this.#sink = sink;
    this.#paused = false;
    if (first) {
      if (!this.#lends) this.#socket.on('data', (chunk: Buffer) => this.receive(chunk));
      this.#socket.on('end', () => this.#onEnd());
    }
    this.#handingOver = true;
    this.#socket.pause();
    setImmediate(() => this.#handOver(sink));
  }

  /** The new sink first sees what its predecessor left, in the order in which it happened. */
  #handOver(sink: SocketSink): void {
    if (this.#sink !== sink) return;
    this.#handingOver = false;
    const unread = this.#unread;
    this.#unread = undefined;
    if (unread) sink.onData(unread);
    // It may have handed the socket over already.
    if (this.#sink !== sink) return;
    if (this.#ended) sink.onEnd();
    if (this.#closed) sink.onClose(this.#error);
    else if (!this.#paused) this.#socket.resume();
  }

  unread(chunk: Buffer): void {
    this.#unread = this.#unread ? Buffer.concat([chunk, this.#unread]) : chunk;
  }

  /** The backend: bytes were read. */
  receive(chunk: Buffer): void {
    if (this.#handingOver) {
      this.#unread = Buffer.concat(this.#unread ? [this.#unread, chunk] : [chunk]);
      return;
    }
    if (!this.#yielding && readTurns.read(this, chunk.length)) {
      this.#yielding = true;
      this.#socket.pause();
    }
    this.#sink?.onData(this.#lends && !this.#sink.borrows ? Buffer.from(chunk) : chunk);
  }

  goOn(): void {
    this.#yielding = false;
    if (!this.#paused && !this.#handingOver) this.#socket.resume();
  }

  #onEnd(): void {
    const failure = failureBehindEnd(this.#socket);
    if (failure) {
      this.#socket.destroy(failure);
      return;
    }
    this.#ended = true;
    socketWatch.add(this);
    if (!this.#handingOver) this.#sink?.onEnd();
  }

  write(chunk: Buffer, taken?: () => void): boolean {
    return this.#socket.write(chunk, taken);
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
    socketWatch.add(this);
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.#yielding && !this.#handingOver) this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
    socketWatch.add(this);
  }

  /**
   * An empty write fails when the peer has reset the connection, or has answered no keep-alive probe. Where something waits to be written
   * the event loop sees that by itself. TLS would not pass it on.
   */
  look(now: number): boolean {
    const { writableEnded, writableLength } = this.#socket;
    const halfClosed = this.#ended || writableEnded;
    if (this.#closed || (!this.#paused && !halfClosed)) return false;
    if (halfClosed && this.#isIdle(now)) {
      this.#error = new Error('one direction was over, and nothing moved in the other');
      this.destroy(true);
      return false;
    }
    if (!writableEnded && writableLength === 0) this.#carrier.write(NOTHING);
    return true;
  }

  #isIdle(now: number): boolean {
    const moved = this.#socket.bytesRead + this.#socket.bytesWritten - this.#socket.writableLength;
    if (moved !== this.#moved) {
      this.#moved = moved;
      this.#stillSince = now;
    }
    return now - this.#stillSince >= this.halfClosedMs;
  }

  destroy(reset = false): void {
    const { writableEnded, writableFinished, writableLength } = this.#socket;
    // While a FIN is on its way to the kernel a reset fails (EINVAL) and Node leaks the handle: it is never closed, and the process
    // spins at its exit. Everything written is with the kernel by then, so an ordinary close tells the peer no lie.
    const ending = writableEnded && !writableFinished && writableLength === 0;
    // Nor can a reset pass TLS.
    if (reset && !ending && !this.channelSecret) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }
}

/** How a backend reads. */
export interface Reading {
  /** Options of `net.connect`, and the ByteSocket on the connected socket. */
  readonly dial: () => { readonly options: object; readonly wrap: (socket: net.Socket) => NetSocket };
  /** Hands the ByteSocket of every connection that the server accepts to `onSocket`. The server is listening, its sockets are paused. */
  readonly accept: (server: net.Server, onSocket: (socket: NetSocket) => void) => void;
}

/** Sockets of Node's `net`, read as the backend says; TLS is always read by events. */
export function backend(name: string, reading: Reading): SocketBackend {
  return { name, connect: (options) => connect(reading, options), listen: (options) => listen(reading, options) };
}

async function connect(reading: Reading, { host, port, timeoutMs, trust }: ConnectOptions): Promise<ByteSocket> {
  const { options, wrap } = (trust ? byEvents : reading).dial();
  const socket = net.connect({ host, port, ...TUNED, ...options });
  const timer = setTimeout(() => {
    socket.destroy(Object.assign(new Error(`no connection to ${host}:${port} within ${timeoutMs} ms`), { code: 'ETIMEDOUT' }));
  }, timeoutMs);
  try {
    socket.once('connect', () => socket.pause());
    await once(socket, 'connect');
    return trust ? new NetSocket(await secureDialled(socket, trust), { carrier: socket }) : wrap(socket);
  } finally {
    clearTimeout(timer);
  }
}

function listen(reading: Reading, { host, port, identity, halfClosedMs = Number.POSITIVE_INFINITY, onSocket, onError }: ListenOptions): Promise<SocketServer> {
  let context = identity && serverContext(identity);
  return new Promise((resolve, reject) => {
    const server = net.createServer({ ...TUNED, pauseOnConnect: true });
    // Whoever has reset his connection while it waited here has no address any more: a flood of those costs no more than this.
    const accepted = (socket: NetSocket): void => {
      socket.halfClosedMs = halfClosedMs;
      if (socket.remoteAddress === '') socket.destroy();
      else onSocket(socket);
    };
    server.once('error', reject);
    server.listen({ host: host === '' ? undefined : host, port, backlog: BACKLOG }, () => {
      server.off('error', reject);
      server.on('error', onError);
      if (context) server.on('connection', (socket) => { if (context) accepted(new NetSocket(secureAccepted(socket, context), { carrier: socket })); });
      else reading.accept(server, accepted);
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('a TCP listener has an address');
      resolve({
        host: address.address,
        port: address.port,
        // The handle is closed synchronously; the callback of close() would wait for the accepted sockets too.
        close: () => new Promise((done) => {
          server.close();
          setImmediate(done);
        }),
        renew: (renewed) => {
          if (!context) throw new Error('a listener without TLS has no certificate');
          context = serverContext(renewed);
        },
      });
    });
  });
}

/**
 * A connected socket of Node's as the engine uses sockets, for those that come from elsewhere than `netBackend`.
 * @param carrier the socket below TLS
 * @param halfClosedMs as in `ListenOptions`
 */
export function byteSocket(socket: net.Socket, carrier = socket, halfClosedMs = Number.POSITIVE_INFINITY): ByteSocket {
  const made = new NetSocket(socket, { carrier });
  made.halfClosedMs = halfClosedMs;
  return made;
}

const byEvents: Reading = {
  dial: () => ({ options: {}, wrap: (socket) => new NetSocket(socket) }),
  accept: (server, onSocket) => server.on('connection', (socket) => onSocket(new NetSocket(socket))),
};

/** Sockets by Node's public API alone: works everywhere, and what every other backend falls back to. */
export const netBackend: SocketBackend = backend('net', byEvents);
