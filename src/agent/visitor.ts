import type { Logger } from 'pino';
import { netBackend } from '../wire/net-socket.ts';
import { type ByteSocket, HALF_CLOSED_MS, type SocketBackend, type SocketServer, type TlsTrust } from '../wire/socket.ts';
import type { DirectRetry } from './direct/direct-paths.ts';
import type { VisitPath, VisitType } from '../wire/visit-messages.ts';
import { formatHostPort, type HostPort } from '../rules/host-port.ts';
import { type ConnectionState, KeptConnection, runUntilStopped } from './keep-connected.ts';
import { logState } from './state-change.ts';
import { VisitorLink } from './visitor-link.ts';

/** How a visitor is started. */
export interface VisitorOptions {
  /** The bridges of the servers of one installation: the first is tried first. */
  readonly servers: readonly HostPort[];
  /** `servers` are the TLS ports of the bridges. Absent = without TLS, unless the server demands TLS for the client. */
  readonly tls?: TlsTrust | undefined;
  readonly type: VisitType;
  /** The tunnel's password, used to authenticate. It is never sent. */
  readonly password: string;
  /** The local port to open; port 0 = any free one. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly log: Logger;
  /** The program's version, which is sent to the server. */
  readonly version: string;
  readonly sockets?: SocketBackend;
  /** Yields 0 <= x < 1: the jitter of the reconnect delays. */
  readonly random?: () => number;
  /** When direct paths are tried again; by default as in docs/p2p.md. */
  readonly directRetry?: DirectRetry;
  /** How long a half-closed connection to the local port stays open while no bytes move in the other direction, in ms. */
  readonly halfClosedMs?: number | undefined;
}

/** Opens a local port that leads to the targets of a secret or p2p tunnel, while the server is reachable. */
export class Visitor {
  readonly #options: VisitorOptions;
  readonly #sockets: SocketBackend;
  readonly #kept: KeptConnection<VisitorLink>;
  #listener: SocketServer | undefined;

  constructor(options: VisitorOptions) {
    const { servers, tls, type, password, log, version, sockets = netBackend, random, directRetry } = options;
    this.#options = options;
    this.#sockets = sockets;
    this.#kept = new KeptConnection({
      servers,
      overTls: tls !== undefined,
      log,
      random,
      open: (attempt) => VisitorLink.open({ ...attempt, tls, password, info: { version, type }, sockets, log, directRetry }),
      whoIs: ({ tunnelId, secure }) => `visitor of tunnel ${tunnelId}${secure ? ' over TLS' : ''}`,
    });
  }

  /**
   * Opens the local port. While the server can't be reached, connections to it are reset.
   * @throws the system's error when it can't be opened
   */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { listen, log, halfClosedMs = HALF_CLOSED_MS } = this.#options;
    this.#listener = await this.#sockets.listen({
      ...listen,
      halfClosedMs,
      onSocket: (socket) => this.#onSocket(socket),
      onError: (error) => log.error({ err: error }, 'a connection to the local port could not be accepted'),
    });
    const { host, port } = this.#listener;
    const address = formatHostPort({ host, port });
    logState(log, 'info', { event: 'listening', address }, `listening on ${address}`);
    return { host, port };
  }

  /** The state of its session. */
  get state(): ConnectionState {
    return this.#kept.state;
  }

  /** The path of its new connections; undefined = there is no session. */
  get path(): VisitPath | undefined {
    return this.#kept.current?.path;
  }

  /** Keeps the session. Resolves some time after `stop`; never rejects. */
  run(): Promise<void> {
    return this.#kept.run();
  }

  /** Stops gracefully: the local port is closed, the server is notified, and open connections get a moment to end. */
  async stop(): Promise<void> {
    await this.#listener?.close();
    await this.#kept.stop();
  }

  #onSocket(socket: ByteSocket): void {
    const link = this.#kept.current;
    if (link) link.carry(socket);
    else socket.destroy(true);
  }
}

/**
 * Runs a visitor as the program, until it is stopped by a signal.
 * @throws the system's error when its local port can't be opened
 */
export async function runVisitor(options: VisitorOptions): Promise<void> {
  const visitor = new Visitor(options);
  await visitor.listen();
  await runUntilStopped(visitor, options.log);
}
