import type { Logger } from 'pino';
import { proveHandshake, keyIdOf } from '../../wire/handshake.ts';
import { HandshakeError } from '../../wire/handshake-error.ts';
import { Mux, type Stream } from '../../wire/mux.ts';
import { keyMessageSchema, NODE_SESSION, type NodeInfo, type NodeLinkKind, type NodeMessage, nodeWelcomeSchema } from '../../wire/node-messages.ts';
import type { ByteSocket, SocketBackend } from '../../wire/socket.ts';
import { messageOf } from '../../wire/system-error.ts';
import { type LinkKeys, sendKeyProof } from '../bridge/link-keys.ts';

/** Timeouts for connecting to another node, in ms. */
const CONNECT_MS = 2000;
const HANDSHAKE_MS = 5000;

/**
 * Most bytes of requests for one client that wait until the connection takes them: a thousand visitors, but a request that names thousands of targets has 60 KB. Beyond a megabyte
 * of all clients, a session takes no requests at all (outbox.ts).
 */
const MOST_REQUESTED = 256 * 1024;

/** Where a node is dialed: by others on a TLS port, by agents on the ports of its bridge. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
  readonly bridgePort: number;
  /** Absent = the same as for others. */
  readonly tlsPort?: number | undefined;
}

/** A node among others. */
export interface NodePeer extends NodeAddress {
  readonly name: string;
}

/** How to dial a node. */
export interface NodeLinkStart {
  readonly peer: NodePeer;
  readonly sockets: SocketBackend;
  /** The secrets of the links, one of which both sides prove to have. */
  readonly keys: LinkKeys;
  readonly info: NodeInfo;
  readonly linkKind: NodeLinkKind;
  readonly log: Logger;
}

/** What a data connection proves: that it belongs to a session. */
interface DataProof {
  readonly keyId: string;
  readonly key: Buffer;
}

/** The session with another node that this one has dialed: brings visitors and messages to it. */
export class NodeLink {
  readonly peer: NodePeer;
  /** Resolves to the reason when the session has ended. */
  readonly ended: Promise<string>;
  /** The node knows visitors' requests in their short form. */
  readonly shortRequests: boolean;
  readonly #mux: Mux;
  readonly #socket: ByteSocket;
  readonly #keys: LinkKeys;
  /** The secret that the other side has proven to have. */
  #secret: string;
  #closed = false;
  /** The bytes of requests for visitors that wait, by client. */
  readonly #requested = new Map<number, number>();
  /** The log does not warn yet that data connections cannot be opened. */
  #warns = true;

  /** @param data absent = all bytes go over TLS */
  private constructor({ peer, keys, sockets, log }: NodeLinkStart, socket: ByteSocket, secret: string, shortRequests: boolean, data: DataProof | undefined) {
    this.peer = peer;
    this.shortRequests = shortRequests;
    this.#socket = socket;
    this.#keys = keys;
    this.#secret = secret;
    let end: (reason: string) => void = () => undefined;
    this.ended = new Promise<string>((resolve) => {
      end = resolve;
    });
    this.#mux = new Mux(socket, 'agent', {
      // The other node uses the session that it has dialed itself.
      onOpen: (stream) => stream.reset(),
      onControl: (message) => this.#onControl(message),
      onClose: (reason) => {
        this.#closed = true;
        end(reason);
      },
      ...data && { onDataConnectionsWanted: (ids: number[]) => ids.forEach((id) => void this.#dialData(id, data, sockets, log)) },
    }, NODE_SESSION);
  }

  /**
   * Dials a node over TLS. Certificates count for nothing: both sides prove, over this very channel, that they have the secret.
   * @throws the system's error when it can't be reached
   * @throws {HandshakeError} when it refuses, or does not have the secret
   */
  static async open(start: NodeLinkStart): Promise<NodeLink> {
    const { peer, sockets, keys, info, linkKind } = start;
    const key = keys.current;
    const socket = await sockets.connect({ host: peer.host, port: peer.port, trust: { fingerprint: '' }, timeoutMs: CONNECT_MS });
    const { body, sessionKey } = await proveHandshake(socket, { timeoutMs: HANDSHAKE_MS, role: 'node', keyId: keyIdOf(key), key, connection: 0, info });
    const welcome = nodeWelcomeSchema.safeParse(body);
    if (welcome.data?.name !== peer.name) {
      socket.destroy(true);
      throw new HandshakeError('garbage', `the node at ${peer.host}:${peer.port} is ${welcome.data?.name ?? 'unknown'}, not ${peer.name}`);
    }
    const { dataSession, shortRequests } = welcome.data;
    const data = linkKind === 'plain' && dataSession !== undefined ? { keyId: dataSession, key: sessionKey } : undefined;
    const link = new NodeLink(start, socket, key, shortRequests, data);
    // The secret was changed during the handshake.
    if (key !== keys.current) link.proveKey();
    return link;
  }

  /**
   * Both sides prove that they have the session's key, which only those at the ends of the TLS connection can derive: knowing the secret of the installation is not enough.
   * While this fails, all bytes go over TLS.
   */
  async #dialData(id: number, proof: DataProof, sockets: SocketBackend, log: Logger): Promise<void> {
    try {
      // Another address of the node's name may be another machine.
      const socket = await sockets.connect({ host: this.#socket.remoteAddress, port: this.peer.bridgePort, timeoutMs: CONNECT_MS });
      await proveHandshake(socket, { timeoutMs: HANDSHAKE_MS, role: 'data', ...proof, connection: id, info: {} });
      this.#mux.addDataConnection(socket, id);
    } catch (error) {
      if (this.#closed) return;
      log[this.#warns ? 'warn' : 'debug'](
        { node: this.peer.name, port: this.peer.bridgePort },
        `no data connection to another node can be opened, so that all bytes go over TLS: ${messageOf(error)}`,
      );
      this.#warns = false;
      this.#mux.dataConnectionFailed(id);
    }
  }

  /** Proves that this node has the secret that it uses from now on. The other one answers by proving the same. */
  proveKey(): void {
    sendKeyProof(this.#socket, this.#keys.current, 'dialer', (message) => this.#mux.sendControl(message));
  }

  /** Ends the session if the secret that the other side has is no longer accepted. */
  checkSecret(): void {
    if (!this.#keys.accepts(this.#secret)) this.#mux.close('the key of the installation was changed, and the other server lacks it');
  }

  /** Messages that this server does not know are ignored: a newer node may send more. */
  #onControl(message: unknown): void {
    const { data } = keyMessageSchema.safeParse(message);
    if (data) this.#secret = this.#keys.proven(this.#socket, 'acceptor', data.proof) ?? this.#secret;
  }

  /** Opens a stream without waiting for the node; undefined = the session has ended or has too many. */
  open(payload: Buffer, dataFollows = false, credit?: number): Stream | undefined {
    return this.#mux.open(payload, dataFollows, credit);
  }

  /** The same for a visitor of a client, which must not keep those of other clients out. */
  openFor(clientId: number, payload: Buffer, dataFollows = false, credit?: number): Stream | undefined {
    const bytes = (this.#requested.get(clientId) ?? 0) + payload.length;
    const stream = bytes > MOST_REQUESTED ? undefined : this.open(payload, dataFollows, credit);
    if (!stream) return undefined;
    if (this.#requested.size === 0) this.#mux.whenTaken(() => this.#requested.clear());
    this.#requested.set(clientId, bytes);
    return stream;
  }

  /** For how long nothing was heard of the node, in ms. What has arrived while this process was late is not read yet. */
  get silence(): number {
    return this.#mux.silence;
  }

  send(message: NodeMessage): void {
    this.#mux.sendControl(message);
  }

  /** @see Mux.whenTaken */
  whenTaken(next: () => void): void {
    this.#mux.whenTaken(next);
  }

  close(): void {
    this.#mux.close('the server is shutting down');
  }
}
