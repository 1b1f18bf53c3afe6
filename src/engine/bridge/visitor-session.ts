import type { FairQueue } from '../../stream-handlers/fair-queue.ts';
import type { Stream } from '../../wire/mux.ts';
import { socketPair } from '../../wire/socket-pair.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { ASK_DIRECT, fromVisitorSchema, type ToVisitor, type VisitPath, type VisitType } from '../../wire/visit-messages.ts';
import { BridgeSession, MAX_STREAMS, type SessionStart } from './bridge-session.ts';
import type { Reason } from './reasons.ts';

/** Maximum path changes that are logged for one visitor's session. */
const LOGGED_MOVES = 100;

/** Why a visitor is refused. */
export interface VisitRefusal {
  readonly code: Reason;
  readonly text: string;
}

/** A tunnel without a port: visitors reach it through the bridge. */
export interface VisitedTunnel {
  readonly id: number;
  /** Whether its agent is connected, and how its visitors have to connect. */
  readonly client: { readonly online: boolean; readonly crypt: boolean; readonly compress: boolean };
  /** The password that visitors authenticate with. Never logged. */
  readonly password: string;
  /** Why a visitor with the right password is refused; undefined = it is accepted. */
  refusal(type: VisitType): VisitRefusal | undefined;
  /** Adds an accepted visitor, until its session ends. */
  enter(session: VisitorSession): void;
  leave(session: VisitorSession): void;
  /** Called when a visitor's connections switch to another path. */
  moved(): void;
  /** Called when a visitor program's connection is refused because it has too many. */
  tooMany(): void;
  /** Takes over a connection that a visitor opened. */
  onVisitor(socket: ByteSocket): void;
  /** Carries the signaling between a visitor and the agent for a direct path: `socket` leads to the visitor. */
  onDirect(socket: ByteSocket): void;
}

/** How a visitor's session begins. */
export interface VisitorSessionStart extends SessionStart {
  readonly tunnel: VisitedTunnel;
  /** The fair queue of new connections of all visitors' sessions. */
  readonly fairQueue: FairQueue<string>;
  /** ms since the epoch. */
  readonly since: number;
  /** The session is over; called once. */
  readonly onGone: (session: VisitorSession) => void;
}

/** One connected visitor of a tunnel without a port. */
export class VisitorSession extends BridgeSession {
  readonly since: number;
  #path: VisitPath = 'relay';
  #moves = 0;
  #leaving = false;
  readonly #tunnel: VisitedTunnel;
  readonly #fairQueue: FairQueue<string>;
  readonly #onGone: VisitorSessionStart['onGone'];

  constructor(start: VisitorSessionStart) {
    super({ ...start, log: start.log.child({ tunnelId: start.tunnel.id }) }, 'visitor');
    this.since = start.since;
    this.#tunnel = start.tunnel;
    this.#fairQueue = start.fairQueue;
    this.#onGone = start.onGone;
    this.log.info({ tls: this.secure }, 'visitor connected');
    start.tunnel.enter(this);
  }

  /** The path of its new connections, as it reports. */
  get path(): VisitPath {
    return this.#path;
  }

  /** The visitor opens no more connections: its program is shutting down, or has moved to another server. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Sends the visitor a message. */
  tell(message: ToVisitor): void {
    this.mux.sendControl(message);
  }

  /** Every stream is a connection to the visitor's local port, or the signaling of a direct path. */
  protected override onOpen(stream: Stream, payload: Buffer): void {
    if (this.streamCount <= MAX_STREAMS && this.#fairQueue.begin(this.id, () => this.#connect(stream, payload))) return;
    this.#tunnel.tooMany();
    stream.reset();
  }

  #connect(stream: Stream, payload: Buffer): void {
    if (stream.over) return;
    const [near, far] = socketPair({ remoteAddress: this.address, remotePort: this.port, local: this.local });
    stream.join(near);
    if (payload.equals(ASK_DIRECT)) this.#tunnel.onDirect(far);
    else this.#tunnel.onVisitor(far);
  }

  protected override onControl(message: unknown): void {
    const { data } = fromVisitorSchema.safeParse(message);
    if (data?.type === 'drain') {
      this.log.debug('the visitor opens no new connections: it is shutting down, or has moved to another server');
      this.#leaving = true;
    } else if (data?.type === 'path') this.#move(data.path);
    else this.log.debug('the visitor sent a control message that this server does not know');
  }

  #move(path: VisitPath): void {
    if (path === this.#path) return;
    this.#path = path;
    this.#moves++;
    // A visitor that switches constantly would flood the log.
    this.log[this.#moves <= LOGGED_MOVES ? 'info' : 'debug']({ path }, "the visitor's connections take another path");
    this.#tunnel.moved();
  }

  protected override onGone(): void {
    this.#tunnel.leave(this);
    this.#onGone(this);
  }
}
