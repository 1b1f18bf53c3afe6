import net from 'node:net';
import { TLSSocket } from 'node:tls';
import { BaseSocket } from './base-socket.ts';
import { failureBehindEnd } from './failure-behind-end.ts';
import { listenOn } from './listen-on.ts';
import { unmapped } from './mapped-address.ts';
import type { ByteSocket, ConnectOptions, ListenOptions, OnDialled, SocketAddress, SocketBackend, SocketServer, SocketSink } from './socket.ts';
import { socketWatch } from './socket-watch.ts';
import { channelSecretOf, secureAccepted, secureDialled, serverContext } from './tls.ts';

/** Options of every socket. Keep-alive detects peers that disappeared silently, and keeps idle connections in the tables of NATs. */
export const TUNED = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000, highWaterMark: 64 * 1024 } as const;
/** Visitors come in bursts; the kernel caps this at net.core.somaxconn. */
const BACKLOG = 4096;
const NOTHING = Buffer.alloc(0);

/** A ByteSocket on a Node socket. Created by a backend, which decides how the socket reads. */
export class NetSocket extends BaseSocket {
  readonly channelSecret?: () => Buffer | undefined;
  readonly #socket: net.Socket;
  readonly #carrier: net.Socket;
  readonly #lends: boolean;
  #attached = false;

  /**
   * @param lends bytes arrive by `receive`, in a reused buffer, instead of as 'data' events
   * @param carrier the socket below TLS
   */
  constructor(socket: net.Socket, { lends = false, carrier = socket }: { readonly lends?: boolean; readonly carrier?: net.Socket } = {}) {
    super();
    this.#socket = socket;
    this.#carrier = carrier;
    this.#lends = lends;
    if (socket instanceof TLSSocket) this.channelSecret = () => channelSecretOf(socket);
    socket.on('error', (error) => this.failed(error));
    socket.on('close', () => this.gone());
    socket.on('drain', () => this.drained());
  }

  /** Accepted sockets request it immediately, and Node caches it; for dialed sockets it is rarely used. */
  override get remoteAddress(): string {
    return unmapped(this.#socket.remoteAddress ?? '');
  }

  override get remotePort(): number {
    return this.#socket.remotePort ?? 0;
  }

  override get local(): SocketAddress {
    return { address: unmapped(this.#socket.localAddress ?? ''), port: this.#socket.localPort ?? 0 };
  }

  override get pending(): number {
    return this.#socket.writableLength;
  }

  override attach(sink: SocketSink): void {
    if (!this.#attached) {
      this.#attached = true;
      if (!this.#lends) this.#socket.on('data', (chunk: Buffer) => this.receive(chunk, false));
      this.#socket.on('end', () => this.#onEnd());
    }
    super.attach(sink);
  }

  protected override startReading(): void {
    this.#socket.resume();
  }

  protected override stopReading(): void {
    this.#socket.pause();
  }

  #onEnd(): void {
    const failure = failureBehindEnd(this.#socket);
    if (failure) this.#socket.destroy(failure);
    else this.receiveEnd();
  }

  override write(chunk: Buffer, taken?: () => void): boolean {
    return this.#socket.write(chunk, taken);
  }

  override end(): void {
    this.#socket.end();
    socketWatch.add(this);
  }

  protected override get writableEnded(): boolean {
    return this.#socket.writableEnded;
  }

  protected override get moved(): number {
    return this.#socket.bytesRead + this.#socket.bytesWritten - this.#socket.writableLength;
  }

  /** TLS would not send the empty write. */
  protected override probe(): void {
    this.#carrier.write(NOTHING);
  }

  override destroy(reset = false): void {
    const { writableEnded, writableFinished, writableLength } = this.#socket;
    // While a FIN is being sent to the kernel, a reset fails (EINVAL) and Node leaks the handle: it is never closed, and the process
    // spins at its exit. Everything written is with the kernel by then, so an ordinary close is correct, too.
    const ending = writableEnded && !writableFinished && writableLength === 0;
    // TLS has no reset either.
    if (reset && !ending && !this.channelSecret) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }
}

/** How a backend gets sockets without TLS. */
export interface Plain {
  /** @see SocketBackend.dial */
  readonly dial: SocketBackend['dial'];
  /** Hands the ByteSocket of every connection that the server accepts to `onSocket`. The server is listening, its sockets are paused. */
  readonly accept: (server: net.Server, onSocket: (socket: BaseSocket) => void) => void;
  /** Creates a ByteSocket on a Node TLS socket. */
  readonly secured: (socket: TLSSocket, options: SecuredOptions) => BaseSocket;
}

/** State of a TLS socket. */
export interface SecuredOptions {
  /** The socket below it. */
  readonly carrier: net.Socket;
  /** The handshake completed in this iteration of the event loop; otherwise it has not begun. */
  readonly handshakeDone: boolean;
}

/** A backend from its sockets without TLS; Node does the TLS handshake in every backend. */
export function backend(name: string, plain: Plain): SocketBackend {
  const dialAny: SocketBackend['dial'] = (options, onDialled) => {
    try {
      if (options.trust) dial(options, onDialled, { secured: plain.secured });
      else plain.dial(options, onDialled);
    } catch (error) {
      // Node throws if the address or port is invalid.
      setImmediate(onDialled, error instanceof Error ? error : new Error(String(error)));
    }
  };
  return {
    name,
    dial: dialAny,
    connect: (options) =>
      new Promise((resolve, reject) => {
        dialAny(options, (outcome) => outcome instanceof Error ? reject(outcome) : resolve(outcome));
      }),
    listen: (options) => listen(plain, options),
    secured: (socket, carrier, halfClosedMs) => {
      const made = plain.secured(socket, { carrier, handshakeDone: true });
      made.halfClosedMs = halfClosedMs;
      return made;
    },
  };
}

/** How to dial a Node socket whose ByteSocket doesn't read by events. */
export interface Dialing {
  readonly onread?: net.OnReadOpts;
  /** Makes the ByteSocket on the connected socket. */
  readonly wrap?: (socket: net.Socket) => NetSocket;
  /** The same for a TLS socket. */
  readonly secured?: Plain['secured'];
}

/** Dials a Node socket. @see SocketBackend.dial */
export function dial({ host, port, timeoutMs, trust }: ConnectOptions, onDialled: OnDialled, { onread, wrap, secured = securedByEvents }: Dialing = {}): void {
  const socket = net.connect({ host, port, ...TUNED, ...onread && { onread } });
  const timer = setTimeout(() => socket.destroy(timeoutError(host, port, timeoutMs)), timeoutMs);
  const over = (outcome: ByteSocket | Error): void => {
    clearTimeout(timer);
    onDialled(outcome);
  };
  socket.once('error', over);
  socket.once('connect', () => {
    socket.off('error', over).pause();
    if (trust) secureDialled(socket, trust, (outcome) => over(outcome instanceof Error ? outcome : secured(outcome, { carrier: socket, handshakeDone: true })));
    else over(wrap ? wrap(socket) : new NetSocket(socket));
  });
}

/** The error of a connection attempt that timed out. */
export function timeoutError(host: string, port: number, timeoutMs: number): Error {
  return Object.assign(new Error(`no connection to ${host}:${port} within ${timeoutMs} ms`), { code: 'ETIMEDOUT' });
}

async function listen(
  plain: Plain,
  { host, port, share, identity, halfClosedMs = Number.POSITIVE_INFINITY, onSocket, onError }: ListenOptions,
): Promise<SocketServer> {
  let context = identity && serverContext(identity);
  const server = net.createServer({ ...TUNED, pauseOnConnect: true });
  // A connection that was reset before it was accepted no longer has an address. This check keeps a flood of those cheap.
  const accepted = (socket: BaseSocket): void => {
    socket.halfClosedMs = halfClosedMs;
    if (socket.remoteAddress === '') socket.destroy();
    else onSocket(socket);
  };
  await listenOn(server, { host, port, backlog: BACKLOG, share });
  server.on('error', onError);
  if (context) {
    server.on('connection', (socket) => {
      if (context) accepted(plain.secured(secureAccepted(socket, context), { carrier: socket, handshakeDone: false }));
    });
  } else plain.accept(server, accepted);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP listener has an address');
  return {
    host: address.address,
    port: address.port,
    // The handle is closed synchronously; the callback of close() would wait for the accepted sockets too.
    close: () =>
      new Promise((done) => {
        server.close();
        setImmediate(done);
      }),
    renew: (renewed) => {
      if (!context) throw new Error('a listener without TLS has no certificate');
      context = serverContext(renewed);
    },
  };
}

/**
 * A connected Node socket as a ByteSocket, for sockets that `netBackend` did not make.
 * @param carrier the socket below TLS
 * @param halfClosedMs as in `ListenOptions`
 */
export function byteSocket(socket: net.Socket, carrier = socket, halfClosedMs = Number.POSITIVE_INFINITY): ByteSocket {
  const made = new NetSocket(socket, { carrier });
  made.halfClosedMs = halfClosedMs;
  return made;
}

/** For backends that read TLS sockets by Node's events. */
export const securedByEvents: Plain['secured'] = (socket, { carrier }) => new NetSocket(socket, { carrier });

/** Sockets by Node's public API alone: works everywhere, and is the fallback for all other backends. */
export const netBackend: SocketBackend = backend('net', {
  dial,
  accept: (server, onSocket) => server.on('connection', (socket) => onSocket(new NetSocket(socket))),
  secured: securedByEvents,
});
