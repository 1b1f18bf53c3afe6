import type { Stream } from '../../wire/mux.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { type NodeInfo, type NodeLinkKind, type NodeMessage, nodeMessageSchema } from '../../wire/node-messages.ts';
import { type LinkKeys, sendKeyProof } from './link-keys.ts';
import { BridgeSession, type SessionStart } from './bridge-session.ts';

/** What the sessions of other nodes are for. */
export interface NodeHandlers {
  /** The secrets of the links. */
  readonly keys: LinkKeys;
  /** Whether data connections in the clear are accepted. */
  readonly linkKind: NodeLinkKind;
  /** A node has connected, and can be dialed where it says. */
  onNode(info: NodeInfo): void;
  /** It opened a stream: join it with a socket or reset it. */
  onStream(stream: Stream, payload: Buffer): void;
  onMessage(node: string, message: Exclude<NodeMessage, { readonly type: 'key' }>): void;
}

/** How the session of another node begins. */
export interface NodeSessionStart extends SessionStart {
  readonly info: NodeInfo;
  /** The secret that the node has proven to have. */
  readonly secret: string;
  readonly handlers: NodeHandlers;
  /** The session is over; called once. */
  readonly onGone: () => void;
}

/** A session that another node has dialed. */
export class NodeSession extends BridgeSession {
  /** The name of the other node. */
  readonly node: string;
  readonly #handlers: NodeHandlers;
  readonly #onGone: () => void;
  readonly #socket: ByteSocket;
  #secret: string;

  constructor(start: NodeSessionStart) {
    super({ ...start, log: start.log.child({ node: start.info.name }) }, 'node');
    this.node = start.info.name;
    this.#handlers = start.handlers;
    this.#onGone = start.onGone;
    this.#socket = start.socket;
    this.#secret = start.secret;
    this.log.info({ version: start.info.version }, 'node connected');
    start.handlers.onNode(start.info);
  }

  override get takesDataConnections(): boolean {
    return this.#handlers.linkKind === 'plain';
  }

  protected override onOpen(stream: Stream, payload: Buffer): void {
    this.#handlers.onStream(stream, payload);
  }

  protected override onControl(message: unknown): void {
    const { data } = nodeMessageSchema.safeParse(message);
    if (data?.type === 'key') this.#onKey(data.proof);
    else if (data) this.#handlers.onMessage(this.node, data);
    else this.log.debug('the node sent a message that this server does not know');
  }

  /** The node uses another secret from now on. */
  #onKey(proof: string): void {
    const secret = this.#handlers.keys.proven(this.#socket, 'dialer', proof);
    if (secret === undefined) return;
    this.#secret = secret;
    sendKeyProof(this.#socket, secret, 'acceptor', (message) => this.mux.sendControl(message));
  }

  /** Ends the session if the secret that the node has is no longer accepted. */
  checkSecret(): void {
    if (!this.#handlers.keys.accepts(this.#secret)) this.close('key-changed', 'the key of the installation was changed without this server');
  }

  protected override onGone(): void {
    this.#onGone();
  }
}
