import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import type { Logger } from 'pino';
import { ConnectionShares, type ShareLimits } from '../../../rules/connection-shares.ts';
import { listenOn } from '../../../wire/listen-on.ts';
import { unmapped } from '../../../wire/mapped-address.ts';
import { byteSocket } from '../../../wire/net-socket.ts';
import type { PairOrigin } from '../../../wire/socket-pair.ts';
import { type TurnLimits, Turns } from '../../../wire/turns.ts';
import type { ByteSocket, SocketBackend } from '../../../wire/socket.ts';
import type { SharePort } from '../../../wire/shared-ports.ts';
import { withOrigin } from '../../../wire/with-origin.ts';
import { requestedHost } from '../../../rules/host-name.ts';
import { logAcceptErrors } from '../../limits/accept-errors.ts';
import { HandshakeQueue } from '../../limits/handshake-queue.ts';
import { coveredHosts } from './covered-hosts.ts';
import type { HostEntry } from '../host-entry.ts';
import { HeadsForTarget } from '../target/head-for-target.ts';
import type { Http2Visitor } from '../request/http2-request.ts';
import { Http2Session, type Http2Timing } from '../request/http2-session.ts';
import type { VhostContext } from '../vhost-context.ts';
import type { TargetPool } from '../target/target-pool.ts';
import type { UnreadAccount } from '../unread-account.ts';
import { readTlsStart, type TlsHello } from './tls-start.ts';

/** Timeout of hello and handshake together, in ms. */
export const HANDSHAKE_MS = 10_000;
/** Maximum connections with an unfinished handshake. */
export const UNFINISHED: ShareLimits = { total: 4096, perAddress: 512 };
/** The limits for starting HTTP/2 requests. A connection may have 128 open: one with more waiting has just canceled some of them. */
const REQUESTS: TurnLimits = { ms: 4, waiting: 200 };
/** As for plain sockets (wire/net-socket.ts). */
const TUNED = { ALPNProtocols: ['h2', 'http/1.1'], highWaterMark: 64 * 1024, allowHalfOpen: true };
/** A fatal alert: the name is unknown (RFC 6066, 3). */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);
/** A fatal alert: the handshake failed. */
const HANDSHAKE_FAILURE = Buffer.from([21, 3, 3, 0, 2, 2, 40]);

/** What the front needs of the engine. */
export interface HttpsContext {
  readonly log: Logger;
  readonly sockets: Pick<SocketBackend, 'secured'>;
  /** Half-close timeout: how long a connection may be idle after one direction has ended, in ms. */
  readonly halfClosedMs: number;
  readonly http2Timing: Http2Timing;
  readonly trace: VhostContext['trace'];
  /** Whether the address is that of a trusted proxy, which may send the client's address (PROXY protocol). */
  trusts(address: string): boolean;
  /** A proxy's header is malformed: the connection is closed. */
  refused(address: string): void;
  /** The host for a name; "" = the visitor sent none; undefined = no such host. */
  named(serverName: string): HostEntry | undefined;
  /** The server's own name or address, which is used for visitors without a server name; "" = unknown. */
  ownName(): string;
  /** Admits a visitor. @returns a function to call when it disconnects; undefined = there are too many */
  enter(address: string): (() => void) | undefined;
  /** The account of a new HTTP/2 connection, and a function to call when the connection has ended. */
  openAccount(address: string): { readonly account: UnreadAccount; readonly close: () => void };
  /** Takes over a visitor's HTTP/1.x connection. */
  serve(socket: ByteSocket): void;
  /** The connections to targets that the requests of one HTTP/2 session share. */
  newPool(): TargetPool;
  /**
   * Takes over one request of an HTTP/2 session.
   * @param ended it has no body
   * @returns a function to call when the stream is closed, with whether the visitor canceled the request; undefined = it was refused
   */
  serveStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: boolean, visitor: Http2Visitor): (() => boolean) | undefined;
  /** Takes over a connection whose TLS is passed through to the target. */
  passThrough(entry: HostEntry, socket: ByteSocket): void;
}

/** What a visitor asked for before the handshake. */
interface Asked {
  /** The server name that the visitor sent; without one, the server's own. */
  readonly asked: string;
  /** The client for which a trusted proxy forwards the connection; undefined = the peer itself. */
  readonly origin: PairOrigin | undefined;
}

/** Listens for HTTPS: the name in the hello picks the certificate, or the target that has it. */
export class HttpsFront {
  readonly #context: HttpsContext;
  readonly #server: net.Server;
  readonly #sessions = new Set<Http2Session>();
  readonly #requests = new Turns(REQUESTS);
  /** Each handshake takes a signature of 0.1 to 5 ms. */
  readonly #handshakes = new HandshakeQueue();
  /** Connections with an unfinished handshake, and the visitor's address; undefined = a trusted proxy's. */
  readonly #unfinished = new Map<net.Socket, string | undefined>();
  readonly #shares = new ConnectionShares(UNFINISHED);

  constructor(context: HttpsContext) {
    this.#context = context;
    this.#server = net.createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 }, (socket) => this.#onSocket(socket));
  }

  /** Resolves to the port. @param share as for `ListenOptions` @throws the system's error */
  async listen(host: string, port: number, share: SharePort | undefined): Promise<number> {
    await listenOn(this.#server, { host, port, backlog: 4096, share });
    this.#server.on('error', logAcceptErrors(this.#context.log, port));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP listener has an address');
    return address.port;
  }

  /** HTTP/2 sessions, idle ones included. */
  get sessions(): ReadonlySet<Http2Session> {
    return this.#sessions;
  }

  /** Ends the HTTP/2 sessions: immediately, or after the requests in progress. */
  endSessions(atOnce: boolean): void {
    for (const session of this.#sessions) {
      if (atOnce) session.cutOff();
      else session.end();
    }
  }

  /** Frees the port; connections with a finished handshake stay open. */
  close(): void {
    for (const socket of this.#unfinished.keys()) socket.destroy();
    this.#server.close();
  }

  #onSocket(socket: net.Socket): void {
    socket.on('error', () => socket.destroy());
    const peer = originOf(socket);
    const { remoteAddress } = peer;
    this.#context.trace?.accepted(peer, { scheme: 'https' });
    this.#context.trace?.same(peer, socket);
    const trusted = this.#context.trusts(remoteAddress);
    if (!this.#begin(socket, trusted ? undefined : remoteAddress)) return;
    const timer = setTimeout(() => {
      if (this.#unfinished.has(socket)) socket.destroy();
    }, HANDSHAKE_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#finish(socket);
      this.#context.trace?.say(socket, 'visitor gone');
    });
    let first: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      first = Buffer.concat([first, chunk]);
      const start = readTlsStart(first, trusted);
      if (start.kind === 'incomplete') return;
      socket.off('data', onData);
      socket.pause();
      if (start.kind !== 'hello') {
        if (start.kind === 'invalidHeader') this.#context.refused(remoteAddress);
        socket.destroy();
        return;
      }
      socket.unshift(first.subarray(start.length));
      this.#onHello(socket, start).catch((error: unknown) => {
        this.#context.log.error({ err: error }, 'a TLS connection could not be served');
        socket.destroy();
      });
    };
    socket.on('data', onData);
    socket.on('end', () => this.#dropUnfinished(socket));
  }

  /** @returns false = there are too many: it is closed */
  #begin(socket: net.Socket, address: string | undefined): boolean {
    if (!this.#shares.enter(address)) {
      this.#context.trace?.say(socket, 'refused', { cause: 'capacity' });
      socket.destroy();
      return false;
    }
    this.#unfinished.set(socket, address);
    return true;
  }

  /** The visitor closed the connection in the middle of the handshake. */
  #dropUnfinished(socket: net.Socket): void {
    if (this.#unfinished.has(socket)) socket.destroy();
  }

  #finish(socket: net.Socket): void {
    if (!this.#unfinished.has(socket)) return;
    this.#shares.leave(this.#unfinished.get(socket));
    this.#unfinished.delete(socket);
  }

  async #onHello(socket: net.Socket, { serverName, origin }: TlsHello): Promise<void> {
    if (origin) {
      // From here on it is the visitor's, no longer the proxy's.
      this.#finish(socket);
      if (!this.#begin(socket, origin.remoteAddress)) return;
    }
    const entry = this.#context.named(serverName);
    if (!entry) {
      this.#context.trace?.say(socket, 'refused', { cause: 'no host has the name in the TLS handshake' });
      socket.end(UNRECOGNIZED_NAME, () => socket.destroy());
      return;
    }
    if (!entry.certificate) {
      this.#finish(socket);
      this.#context.passThrough(entry, this.#from(origin, socket, byteSocket(socket, socket, this.#context.halfClosedMs)));
      return;
    }
    const secureContext = await entry.certificate.context();
    if (socket.destroyed) return;
    if (!secureContext) {
      this.#context.trace?.say(socket, 'refused', { cause: 'the host has no certificate', hostId: entry.id });
      socket.end(HANDSHAKE_FAILURE, () => socket.destroy());
      return;
    }
    await this.#handshakes.next('session', (origin ?? originOf(socket)).remoteAddress);
    if (socket.destroyed) return;
    this.#secure(socket, { secureContext, asked: requestedHost(serverName) ?? this.#context.ownName(), origin });
  }

  /** Begins the handshake: Node handles the hello before the next callback. */
  #secure(socket: net.Socket, { secureContext, ...asked }: Asked & { readonly secureContext: tls.SecureContext }): void {
    const secured = new tls.TLSSocket(socket, { ...TUNED, isServer: true, secureContext });
    secured.on('error', () => secured.destroy());
    // Without a tls.Server, nothing else closes a connection that was tampered with after its handshake.
    secured.on('_tlsError', () => secured.destroy());
    secured.once('end', () => this.#dropUnfinished(socket));
    secured.once('secure', () => {
      this.#finish(socket);
      // As tls.Server does: until then HTTP/2 waits for the handshake.
      Reflect.set(secured, 'secureConnecting', false);
      this.#onSecure(secured, socket, asked);
    });
  }

  /** @param carrier the socket below TLS */
  #onSecure(socket: tls.TLSSocket, carrier: net.Socket, { asked, origin }: Asked): void {
    if (socket.alpnProtocol !== 'h2') {
      this.#context.serve(this.#from(origin, carrier, this.#context.sockets.secured(socket, carrier, this.#context.halfClosedMs)));
      return;
    }
    const visitor = origin ?? originOf(socket);
    this.#context.trace?.same(carrier, visitor);
    const leave = this.#context.enter(visitor.remoteAddress);
    if (!leave) {
      socket.destroy();
      return;
    }
    const pool = this.#context.newPool();
    const covers = coveredHosts(asked, socket);
    // A host whose target terminates TLS itself must not be reachable through another host's TLS.
    const serves = (host: string): boolean => covers(host) && (host === asked || !this.#passesThrough(host));
    const { account: unread, close } = this.#context.openAccount(visitor.remoteAddress);
    const session = new Http2Session(socket, carrier, {
      onStream: (stream, headers, ended) => this.#context.serveStream(stream, headers, ended, requests),
      timing: this.#context.http2Timing,
      unread,
      queue: this.#requests,
    });
    const requests: Http2Visitor = { origin: visitor, pool, covers: serves, outbound: session.outbound, unread, heads: new HeadsForTarget() };
    this.#sessions.add(session);
    socket.once('close', () => {
      this.#sessions.delete(session);
      leave();
      close();
      pool.close();
    });
  }

  #passesThrough(host: string): boolean {
    const entry = this.#context.named(host);
    return entry !== undefined && entry.certificate === undefined;
  }

  #from(origin: PairOrigin | undefined, carrier: net.Socket, socket: ByteSocket): ByteSocket {
    const said = origin ? withOrigin(socket, origin) : socket;
    this.#context.trace?.same(carrier, said);
    return said;
  }
}

function originOf({ remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 }: net.Socket): PairOrigin {
  return { remoteAddress: unmapped(remoteAddress), remotePort, local: { address: unmapped(localAddress), port: localPort } };
}
