import type { Logger } from 'pino';
import { Answerer } from '../stream-handlers/answerer.ts';
import type { StreamContext } from '../stream-handlers/stream-handler.ts';
import { DatagramBudget } from '../wire/datagram-socket.ts';
import type { Declared } from '../wire/declared.ts';
import type { OtherServers } from '../wire/other-servers.ts';
import type { OverviewPart } from '../wire/overview.ts';
import type { AgentInfo, AgentMessage } from '../wire/agent-messages.ts';
import { serverMessageSchema, welcomeSchema, type Welcome } from '../wire/session-messages.ts';
import { releaseYoungGeneration } from '../young-generation.ts';
import type { BridgeDialler } from './dial-bridge.ts';
import { DirectHost } from './direct/direct-host.ts';
import { agreeOnSession, type AgreedSession, ServerSession, type SessionEnd } from './server-session.ts';

/** The server that the agent connects to, and the identity that it connects with. */
export interface LinkOptions extends BridgeDialler {
  readonly vkey: string;
  readonly info: AgentInfo;
  readonly files: NonNullable<StreamContext['files']>;
  /** The server's answer to a declaration. */
  readonly onDeclared: (answer: Declared) => void;
  /** A part of the server's list of this client's tunnels and hosts. */
  readonly onOverview: (part: OverviewPart) => void;
  /** The other servers of the installation. */
  readonly onServers: (servers: OtherServers) => void;
  /** The server will end. */
  readonly onDrain: () => void;
  readonly dataAfterMs: number;
  readonly log: Logger;
}

/** The agent's session with the server: answers the server's requests on the streams that the server opens. */
export class Link {
  readonly clientId: number;
  /** Its server answers pings. */
  readonly answersPings: boolean;
  readonly #options: LinkOptions;
  readonly #session: ServerSession;
  readonly #direct: DirectHost;

  /**
   * Connects, and authenticates with the key.
   * @throws the system's error when the server can't be reached
   * @throws {HandshakeError} when the server refuses the agent
   */
  static async open(options: LinkOptions): Promise<Link> {
    return new Link(options, await agreeOnSession({ ...options, role: 'mux', key: options.vkey, welcome: welcomeSchema }));
  }

  private constructor(options: LinkOptions, agreed: AgreedSession<Welcome>) {
    this.clientId = agreed.welcome.clientId;
    this.answersPings = agreed.welcome.answersPings;
    this.#options = options;
    const { sockets, files, log, onServers } = options;
    const answerer = new Answerer({
      sockets,
      files,
      datagrams: new DatagramBudget(),
      hold: () => this.#session.hold(),
      direct: { accept: (request, stream) => this.#direct.accept(request, stream) },
    }, log);
    this.#session = new ServerSession(agreed, {
      onOpen: (stream, payload) => {
        releaseYoungGeneration();
        answerer.answer(stream, payload);
      },
      onControl: (message) => this.#onControl(message),
      onServers,
    });
    const session = this.#session;
    this.#direct = new DirectHost({ sockets, log, server: session.address, send: (message) => session.send(message), hold: () => session.hold() });
    void session.ended.then(() => this.#direct.close());
  }

  /** It runs over TLS. */
  get secure(): boolean {
    return this.#session.secure;
  }

  /** Resolves when the session is over. */
  get ended(): Promise<SessionEnd> {
    return this.#session.ended;
  }

  /** @see ServerSession.answers */
  answers(ms: number): Promise<boolean> {
    return this.#session.answers(ms);
  }

  /** @see ServerSession.giveUp */
  giveUp(why: string): void {
    this.#session.giveUp(why);
  }

  /** Sends the server a message, unless the session is over. */
  send(message: AgentMessage): void {
    this.#session.send(message);
  }

  /** Takes no new streams, gives the open ones `ms` to end, and ends the session. */
  close(ms: number): Promise<void> {
    return this.#session.close(ms, 'the agent was stopped');
  }

  /** Ends the session when its last connection has ended: another one takes its place. */
  leave(): Promise<void> {
    return this.#session.leave('the agent has moved to another server');
  }

  #onControl(message: unknown): void {
    const { data } = serverMessageSchema.safeParse(message);
    if (data?.type === 'drain') {
      this.#options.log.info('the server is shutting down: open connections continue for a while');
      this.#options.onDrain();
    } else if (data?.type === 'targets') this.#direct.retarget(data.tunnelId, data.targets);
    else if (data?.type === 'declared') this.#options.onDeclared(data);
    else if (data?.type === 'overview') this.#options.onOverview(data);
    else this.#options.log.debug('the server sent a control message that this agent does not know');
  }
}
