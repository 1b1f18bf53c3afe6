import { type Proven, type ProveOptions, proveHandshake } from '../wire/handshake.ts';
import type { ByteSocket, SocketBackend, TlsTrust } from '../wire/socket.ts';

/** Timeouts for connecting to a server, and for the handshake, in ms. */
export interface DialTimeouts {
  readonly connectMs: number;
  readonly handshakeMs: number;
}

/**
 * The usual timeouts: an agent soon dials again if the server was down. The handshake may take longer than the server delays an address that offered wrong keys,
 * and than it needs for many parallel handshakes.
 */
export const DIAL_TIMEOUTS: DialTimeouts = { connectMs: 5_000, handshakeMs: 15_000 };
/** While there are other servers to try: this one may be frozen, or its machine gone. */
export const SHORT_TIMEOUTS: DialTimeouts = { connectMs: 1_000, handshakeMs: 4_000 };

/** The address of a server's bridge and how to connect to it. */
export interface BridgeDialler {
  readonly sockets: SocketBackend;
  readonly server: { readonly host: string; readonly port: number };
  /** `server` is the bridge's TLS port. */
  readonly tls?: TlsTrust | undefined;
  /** Absent = the usual. */
  readonly timeouts?: DialTimeouts;
}

/** A connection that the server accepted. Hand the socket over by attaching to it. */
export interface BridgeConnection extends Proven {
  readonly socket: ByteSocket;
}

/**
 * Connects to a bridge, and authenticates with a key. Used for all sessions and data connections of agents and visitors.
 * @throws the system's error when the server can't be reached
 * @throws {HandshakeError} if it refuses the connection
 */
export async function dialBridge(
  { sockets, server, tls, timeouts: { connectMs, handshakeMs } = DIAL_TIMEOUTS }: BridgeDialler,
  proof: Omit<ProveOptions, 'timeoutMs'>,
): Promise<BridgeConnection> {
  const socket = await sockets.connect({ ...server, trust: tls, timeoutMs: connectMs });
  return { socket, ...await proveHandshake(socket, { timeoutMs: handshakeMs, ...proof }) };
}
