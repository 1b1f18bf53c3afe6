import { encodeOpen, type OpenRequest } from '../../wire/open.ts';
import { PullSocket } from '../../wire/pull-socket.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { socketPair } from '../../wire/socket-pair.ts';
import { ConnectionShares, type ShareLimits } from '../../rules/connection-shares.ts';
import { dialThrough, type Dialed } from './dial-through.ts';
import type { TunnelContext } from './tunnel-context.ts';

/** Maximum concurrent visitors of one proxy without a stream. */
export const PROXY_SHARES: ShareLimits = { total: 2048, perAddress: 256 };

/**
 * The visitors of one proxy whose connection is not, or no longer, carried by a stream. Connections with a stream are counted and limited elsewhere.
 */
export class ProxyVisitors {
  readonly #context: TunnelContext;
  readonly #shares = new ConnectionShares(PROXY_SHARES);
  readonly #present = new Set<ProxyVisitor>();

  constructor(context: TunnelContext) {
    this.#context = context;
  }

  /** Takes a new connection; undefined = it was refused and is closed. */
  enter(socket: ByteSocket): ProxyVisitor | undefined {
    if (!this.#context.admit(socket.remoteAddress, socket)) {
      socket.destroy(true);
      return undefined;
    }
    const visitor = new ProxyVisitor(socket, this.#context, this.#shares, () => this.#present.delete(visitor));
    if (!visitor.wait()) {
      socket.destroy(true);
      return undefined;
    }
    this.#present.add(visitor);
    return visitor;
  }

  /** Closes the connections without a request in progress. */
  drain(): void {
    for (const visitor of this.#present) visitor.onDrain?.();
  }

  /** Resets them all. */
  closeAll(): void {
    for (const visitor of this.#present) visitor.socket.destroy();
  }
}

/** A visitor of a proxy, while the proxy itself handles its requests. */
export class ProxyVisitor {
  readonly address: string;
  readonly socket: PullSocket;
  /** The socket below `socket`; don't read from it. */
  readonly bytes: ByteSocket;
  readonly #context: TunnelContext;
  readonly #shares: ConnectionShares;
  /** undefined = a trusted proxy's address, which has no share. */
  readonly #counted: string | undefined;
  readonly #onLeave: () => void;
  /** Called to close connections that carry nothing. */
  onDrain: (() => void) | undefined;
  #waiting = false;

  constructor(socket: ByteSocket, context: TunnelContext, shares: ConnectionShares, onLeave: () => void) {
    this.address = socket.remoteAddress;
    this.bytes = socket;
    this.#context = context;
    this.#shares = shares;
    this.#onLeave = onLeave;
    this.#counted = context.environment.trusts(this.address) ? undefined : this.address;
    this.socket = new PullSocket(socket, context.environment.timing.takeMs);
  }

  /** No stream carries the visitor now. @returns false when there are too many such visitors: its connection must be closed */
  wait(): boolean {
    if (this.#waiting) return true;
    this.#waiting = this.#shares.enter(this.#counted);
    if (!this.#waiting) this.#context.refused('capacity', this.bytes);
    return this.#waiting;
  }

  /** Hands the connection over to a stream; false = the visitor is not admitted now. */
  carry(local: ByteSocket, request: OpenRequest<'dial' | 'udpAny'>): boolean {
    this.#context.trace?.same(this.bytes, local);
    const carrier = this.#context.admit(this.address, this.bytes);
    if (!carrier) return false;
    this.#context.connections.carry(local, carrier.session, carrier.client, encodeOpen({ ...request, by: this.#context.by }));
    this.#stopWaiting();
    return true;
  }

  /** Makes the agent dial a target (host:port) for the visitor, and resolve its name; undefined = the visitor is not admitted now. */
  dial(target: string): Dialed | undefined {
    const [near, far] = socketPair(this.bytes);
    const { dialMs } = this.#context.environment.timing;
    return this.carry(far, { kind: 'dial', targets: [target], timeoutMs: dialMs }) ? dialThrough(near, dialMs) : undefined;
  }

  /** The proxy is done with the visitor. */
  leave(): void {
    this.#stopWaiting();
    this.#onLeave();
  }

  #stopWaiting(): void {
    if (this.#waiting) this.#shares.leave(this.#counted);
    this.#waiting = false;
  }
}
