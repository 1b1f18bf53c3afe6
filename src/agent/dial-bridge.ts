import { type Proven, type ProveOptions, proveHandshake } from '../wire/handshake.ts';
import type { ByteSocket, SocketBackend, TlsTrust } from '../wire/socket.ts';

/** Timeout for connecting to the server, in ms: an agent soon dials again if the server was down. */
const CONNECT_MS = 5_000;
/** Timeout of each handshake, in ms: longer than the server delays an address that offered wrong keys, and than it needs for many parallel handshakes. */
const HANDSHAKE_MS = 15_000;

/** The address of a server's bridge and how to connect to it. */
export interface BridgeDialler {
  readonly sockets: SocketBackend;
  readonly server: { readonly host: string; readonly port: number };
  /** `server` is the bridge's TLS port. */
  readonly tls?: TlsTrust | undefined;
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
export async function dialBridge({ sockets, server, tls }: BridgeDialler, proof: Omit<ProveOptions, 'timeoutMs'>): Promise<BridgeConnection> {
  const socket = await sockets.connect({ ...server, trust: tls, timeoutMs: CONNECT_MS });
  return { socket, ...await proveHandshake(socket, { timeoutMs: HANDSHAKE_MS, ...proof }) };
}
