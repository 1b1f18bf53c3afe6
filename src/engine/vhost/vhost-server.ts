import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Logger } from 'pino';
import type { HostRequest } from '../../rules/host-route.ts';
import type { ByteSocket, SocketBackend, SocketServer } from '../../wire/socket.ts';
import type { SharedPorts } from '../../wire/shared-ports.ts';
import { splice } from '../../wire/splice.ts';
import { ConnectionShares, type ShareLimits } from '../../rules/connection-shares.ts';
import { logAcceptErrors } from '../limits/accept-errors.ts';
import { VhostConnection } from './request/connection.ts';
import type { HostEntry } from './host-entry.ts';
import type { Hosts } from './hosts.ts';
import { requestHead } from './request/http2-head.ts';
import { Http2Request, type Http2Visitor } from './request/http2-request.ts';
import { HTTP2_TIMING, type Http2Timing } from './request/http2-session.ts';
import { HttpsFront } from './tls/https-front.ts';
import { ProxiedSockets } from './proxied-sockets.ts';
import { RefusalLog } from './response/refusal-log.ts';
import { SlowVisitors, type TimedVisitor, type VhostTiming } from './slow-visitors.ts';
import { TargetPool } from './target/target-pool.ts';
import { UnreadAccounts } from './unread-account.ts';
import type { GateRefusal, VhostContext, VhostPolicy, Visit } from './vhost-context.ts';

/** The dependencies of the listeners. */
export interface VhostOptions {
  readonly log: Logger;
  /** For visitors: its listeners apply the half-close timeout `halfClosedMs`. */
  readonly sockets: SocketBackend;
  /** The half-close timeout of HTTPS, in ms. */
  readonly halfClosedMs: number;
  readonly hosts: Hosts;
  readonly timing: VhostTiming;
  readonly http2Timing?: Http2Timing;
  /** Maximum connections of visitors, including idle ones. Each HTTP/2 session counts, and each of its requests. */
  readonly shares: ShareLimits;
  readonly trace?: VhostContext['trace'];
  /** Counts what is held for the visitors over HTTP/2. */
  readonly unread?: UnreadAccounts;
}

/** The addresses and ports of the listeners; 0 = any free port. */
export interface VhostPlaces {
  readonly host: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** The ports that other processes listen on, too; absent = there are no others. */
  readonly shared?: SharedPorts | undefined;
}

/** Most connections of visitors to hosts. */
export const VHOST_SHARES: ShareLimits = { total: 50_000, perAddress: 6250 };
/** Connections to targets that wait for the next requests of one HTTP/2 session. */
const IDLE_OF_SESSION = 16;

/** Serves the hosts: listens for HTTP and HTTPS, and holds the visitors' connections. */
export class VhostServer implements VhostContext {
  readonly policy: VhostPolicy;
  readonly refusals: RefusalLog;
  readonly trace: VhostContext['trace'];
  readonly #options: VhostOptions;
  readonly #connections = new Set<VhostConnection>();
  /** Connections, and HTTP/2 requests in progress. */
  readonly #timed = new Set<TimedVisitor>();
  readonly #shares: ConnectionShares;
  readonly #unread: UnreadAccounts;
  readonly #slow: SlowVisitors;
  readonly #https: HttpsFront;
  readonly #proxied: ProxiedSockets;
  #http: SocketServer | undefined;
  #httpsPort = 443;
  #closing = false;

  constructor(options: VhostOptions, policy: VhostPolicy) {
    const trusts = (address: string): boolean => policy.trusts(address);
    this.policy = policy;
    this.refusals = new RefusalLog(options.log);
    this.#options = options;
    this.trace = options.trace;
    this.#shares = new ConnectionShares(options.shares);
    this.#unread = options.unread ?? new UnreadAccounts();
    const refused = (address: string): void => {
      this.refusals.note({ refusal: 'malformed', reason: 'the header of the PROXY protocol is malformed', hostId: undefined, address });
    };
    this.#proxied = new ProxiedSockets({ trusts, headMs: options.timing.headMs, refused, serve: (socket) => this.#serve(socket, 'http') });
    this.#https = new HttpsFront({
      log: options.log,
      sockets: options.sockets,
      halfClosedMs: options.halfClosedMs,
      http2Timing: options.http2Timing ?? HTTP2_TIMING,
      trace: options.trace,
      trusts,
      refused,
      named: (name) => options.hosts.named(name),
      ownName: () => options.hosts.serverName,
      enter: (address) => this.#enter(address),
      openAccount: (address) => this.#unread.open(trusts(address) ? undefined : address),
      serve: (socket) => this.#serve(socket, 'https'),
      newPool: () => new TargetPool(IDLE_OF_SESSION, options.timing.targetIdleMs),
      serveStream: (stream, headers, ended, visitor) => this.#serveStream(stream, headers, ended, visitor),
      passThrough: (entry, socket) => this.#passThrough(entry, socket),
    });
    this.#slow = new SlowVisitors(this.#timed, this.#https.sessions, options.timing);
  }

  /** Resolves to the ports. @throws the system's error when one can't be bound */
  async listen({ host, httpPort, httpsPort, shared }: VhostPlaces): Promise<{ readonly httpPort: number; readonly httpsPort: number }> {
    this.#http = await this.#options.sockets.listen({
      host,
      port: httpPort,
      share: shared?.of('hosts'),
      onSocket: (socket) => this.#proxied.accept(socket),
      onError: logAcceptErrors(this.#options.log, httpPort),
    });
    this.#httpsPort = await this.#https.listen(host, httpsPort, shared?.of('https hosts'));
    this.#slow.start();
    return { httpPort: this.#http.port, httpsPort: this.#httpsPort };
  }

  /** Admits a visitor. @returns a function to call when it disconnects; undefined = there are too many */
  #enter(address: string): (() => void) | undefined {
    // A trusted proxy that doesn't send the client's address.
    const counted = this.policy.trusts(address) ? undefined : address;
    if (this.#closing || !this.#shares.enter(counted)) return undefined;
    return () => this.#shares.leave(counted);
  }

  #serve(socket: ByteSocket, scheme: 'http' | 'https'): void {
    if (scheme === 'http') this.trace?.accepted(socket, { scheme });
    const leave = this.#enter(socket.remoteAddress);
    if (!leave) {
      this.trace?.say(socket, 'refused', { cause: 'capacity' });
      socket.destroy(true);
      return;
    }
    const pool = new TargetPool(1, this.#options.timing.targetIdleMs);
    const connection = new VhostConnection(socket, {
      scheme,
      pool,
      context: this,
      onOver: () => pool.close(),
      onGone: () => {
        this.#connections.delete(connection);
        this.#timed.delete(connection);
        if (scheme === 'http') this.trace?.say(socket, 'visitor gone');
        leave();
      },
    });
    this.trace?.same(socket, connection);
    this.#connections.add(connection);
    this.#timed.add(connection);
  }

  /** @returns a function to call when the stream is closed, with whether the visitor canceled the request; undefined = it was refused */
  #serveStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: boolean, visitor: Http2Visitor): (() => boolean) | undefined {
    const head = requestHead(headers, ended);
    const leave = head && this.#enter(visitor.origin.remoteAddress);
    if (!leave) {
      stream.close(head ? constants.NGHTTP2_REFUSED_STREAM : constants.NGHTTP2_PROTOCOL_ERROR);
      return undefined;
    }
    const request = new Http2Request(stream, visitor, this, ended);
    this.trace?.same(visitor.origin, request);
    this.#timed.add(request);
    request.begin(head);
    return () => {
      this.#timed.delete(request);
      leave();
      return request.onClosed();
    };
  }

  #passThrough(entry: HostEntry, socket: ByteSocket): void {
    const target = this.policy.dialSecure(entry, socket);
    if (target) splice(socket, target);
    else socket.destroy(true);
  }

  /** Connections of visitors to hosts, limited by `shares`. */
  get connections(): number {
    return this.#shares.size;
  }

  /** Takes no new connections; those that are idle end, the others after the request that is under way. */
  async drain(): Promise<void> {
    this.#closing = true;
    this.#proxied.close();
    this.#https.close();
    await this.#http?.close();
    this.#https.endSessions(false);
    for (const connection of this.#connections) connection.drain();
  }

  /** Ends at once. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#slow.stop();
    this.#proxied.close();
    this.#https.close();
    await this.#http?.close();
    this.#https.endSessions(true);
    for (const connection of this.#connections) connection.cutOff();
    this.refusals.flush();
  }

  // VhostContext

  get httpsPort(): number {
    return this.#httpsPort;
  }

  match(request: HostRequest): HostEntry | undefined {
    return this.#options.hosts.match(request);
  }

  gate(entry: HostEntry, visit: Visit): GateRefusal | undefined {
    return this.#closing ? { refusal: 'offline', reason: 'the server is shutting down' } : this.policy.gate(entry, visit);
  }
}
