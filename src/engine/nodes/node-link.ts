import type { Logger } from 'pino';
import { proveHandshake, keyIdOf } from '../../wire/handshake.ts';
import { HandshakeError } from '../../wire/handshake-error.ts';
import { Mux, type Stream } from '../../wire/mux.ts';
import { NODE_BEATS, type NodeInfo, type NodeMessage, nodeWelcomeSchema } from '../../wire/node-messages.ts';
import type { SocketBackend } from '../../wire/socket.ts';

/** Timeouts for connecting to another node, in ms. */
const CONNECT_MS = 2000;
const HANDSHAKE_MS = 5000;

/** Where a node is dialed: by others on the TLS port of its bridge, by agents also on the one without TLS. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
  readonly bridgePort: number;
}

/** A node among others. */
export interface NodePeer extends NodeAddress {
  readonly name: string;
}

/** How to dial a node. */
export interface NodeLinkStart {
  readonly peer: NodePeer;
  readonly sockets: SocketBackend;
  readonly log: Logger;
  /** The secret of the links, which both sides prove to have. */
  readonly key: string;
  readonly info: NodeInfo;
}

/** The session with another node that this one has dialed: brings visitors and messages to it. */
export class NodeLink {
  readonly peer: NodePeer;
  /** Resolves to the reason when the session has ended. */
  readonly ended: Promise<string>;
  readonly #mux: Mux;

  private constructor(peer: NodePeer, mux: Mux, ended: Promise<string>) {
    this.peer = peer;
    this.#mux = mux;
    this.ended = ended;
  }

  /**
   * Dials a node over TLS. Certificates count for nothing: both sides prove, over this very channel, that they have the secret.
   * @throws the system's error when it can't be reached
   * @throws {HandshakeError} when it refuses, or does not have the secret
   */
  static async open({ peer, sockets, log, key, info }: NodeLinkStart): Promise<NodeLink> {
    const socket = await sockets.connect({ host: peer.host, port: peer.port, trust: { fingerprint: '' }, timeoutMs: CONNECT_MS });
    const { body } = await proveHandshake(socket, { timeoutMs: HANDSHAKE_MS, role: 'node', keyId: keyIdOf(key), key, connection: 0, info });
    const welcome = nodeWelcomeSchema.safeParse(body);
    if (welcome.data?.name !== peer.name) {
      socket.destroy(true);
      throw new HandshakeError('garbage', `the node at ${peer.host}:${peer.port} is ${welcome.data?.name ?? 'unknown'}, not ${peer.name}`);
    }
    let end: (reason: string) => void = () => undefined;
    const ended = new Promise<string>((resolve) => {
      end = resolve;
    });
    const mux = new Mux(socket, 'agent', {
      // The other node uses the session that it has dialed itself.
      onOpen: (stream) => stream.reset(),
      onControl: () => log.debug({ node: peer.name }, 'a node sent a message that this server does not know'),
      onClose: end,
    }, NODE_BEATS);
    return new NodeLink(peer, mux, ended);
  }

  /** Opens a stream without waiting for the node; undefined = the session has ended or has too many. */
  open(payload: Buffer, dataFollows = false, credit?: number): Stream | undefined {
    return this.#mux.open(payload, dataFollows, credit);
  }

  send(message: NodeMessage): void {
    this.#mux.sendControl(message);
  }

  close(): void {
    this.#mux.close('the server is shutting down');
  }
}
