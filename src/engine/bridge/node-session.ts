import type { Stream } from '../../wire/mux.ts';
import { type NodeInfo, type NodeMessage, nodeMessageSchema } from '../../wire/node-messages.ts';
import { BridgeSession, type SessionStart } from './bridge-session.ts';

/** What the sessions of other nodes are for. */
export interface NodeHandlers {
  /** A node has connected, and can be dialed where it says. */
  onNode(info: NodeInfo): void;
  /** It opened a stream: join it with a socket or reset it. */
  onStream(stream: Stream, payload: Buffer): void;
  onMessage(node: string, message: NodeMessage): void;
}

/** How the session of another node begins. */
export interface NodeSessionStart extends SessionStart {
  readonly info: NodeInfo;
  readonly handlers: NodeHandlers;
  /** The session is over; called once. */
  readonly onGone: () => void;
}

/** A session that another node has dialed. */
export class NodeSession extends BridgeSession {
  readonly #node: string;
  readonly #handlers: NodeHandlers;
  readonly #onGone: () => void;

  constructor(start: NodeSessionStart) {
    super({ ...start, log: start.log.child({ node: start.info.name }) }, 'node');
    this.#node = start.info.name;
    this.#handlers = start.handlers;
    this.#onGone = start.onGone;
    this.log.info({ version: start.info.version }, 'node connected');
    start.handlers.onNode(start.info);
  }

  protected override onOpen(stream: Stream, payload: Buffer): void {
    this.#handlers.onStream(stream, payload);
  }

  protected override onControl(message: unknown): void {
    const { data } = nodeMessageSchema.safeParse(message);
    if (data) this.#handlers.onMessage(this.#node, data);
    else this.log.debug('the node sent a message that this server does not know');
  }

  protected override onGone(): void {
    this.#onGone();
  }
}
