import type { Logger } from 'pino';
import type { OtherServers } from '../wire/other-servers.ts';
import type { ByteSocket } from '../wire/socket.ts';
import { toVisitorSchema, type VisitPath, type VisitorInfo, type VisitWelcome, visitWelcomeSchema } from '../wire/visit-messages.ts';
import { releaseYoungGeneration } from '../young-generation.ts';
import type { BridgeDialler } from './dial-bridge.ts';
import { DirectPaths, type DirectRetry } from './direct/direct-paths.ts';
import { agreeOnSession, type AgreedSession, ServerSession, type SessionEnd } from './server-session.ts';

/** The server that the visitor connects to, and the password that it authenticates with. */
export interface VisitorLinkOptions extends BridgeDialler {
  /** The tunnel's password. It is never sent. */
  readonly password: string;
  readonly info: VisitorInfo;
  readonly log: Logger;
  readonly dataAfterMs: number;
  /** The other servers of the installation. */
  readonly onServers: (servers: OtherServers) => void;
  /** The server will end. */
  readonly onDrain: () => void;
  /** When direct paths are tried again. */
  readonly directRetry?: DirectRetry | undefined;
}

const NO_PAYLOAD = Buffer.alloc(0);

/** The visitor's session with the server: carries local connections to the tunnel's targets. */
export class VisitorLink {
  readonly tunnelId: number;
  readonly #log: Logger;
  readonly #session: ServerSession;
  /** Of a p2p tunnel. */
  readonly #direct: DirectPaths | undefined;
  readonly #onDrain: () => void;
  #agentOnline = true;
  #path: VisitPath = 'relay';

  /**
   * Connects, and authenticates with the password.
   * @throws the system's error when the server can't be reached
   * @throws {HandshakeError} when the server refuses the visitor
   */
  static async open(options: VisitorLinkOptions): Promise<VisitorLink> {
    return new VisitorLink(options, await agreeOnSession({ ...options, role: 'visit', key: options.password, welcome: visitWelcomeSchema }));
  }

  private constructor({ log, password, info, directRetry, onServers, onDrain }: VisitorLinkOptions, agreed: AgreedSession<VisitWelcome>) {
    this.tunnelId = agreed.welcome.tunnelId;
    this.#log = log;
    this.#onDrain = onDrain;
    this.#session = new ServerSession(agreed, {
      // The server opens no streams to a visitor.
      onOpen: (stream) => stream.reset(),
      onControl: (message) => this.#onControl(message),
      onServers,
    });
    const session = this.#session;
    if (info.type === 'p2p') {
      this.#direct = new DirectPaths({
        password,
        log,
        server: session.address,
        open: (payload) => session.open(payload),
        retry: directRetry,
        send: (message) => {
          if (message.type === 'path') this.#path = message.path;
          session.send(message);
        },
      });
      void session.ended.then(() => this.#direct?.close());
    }
    // After the log line about the connection.
    setImmediate(() => {
      this.#agentIs(agreed.welcome.agentOnline);
      if (this.#agentOnline) this.#direct?.start();
    });
  }

  /** The path of new connections. */
  get path(): VisitPath {
    return this.#path;
  }

  /** It runs over TLS. */
  get secure(): boolean {
    return this.#session.secure;
  }

  /** Resolves when the session is over. */
  get ended(): Promise<SessionEnd> {
    return this.#session.ended;
  }

  /** Carries a local connection by the best available path; resets it when the session accepts no more. */
  carry(socket: ByteSocket): void {
    releaseYoungGeneration();
    if (this.#direct?.carry(socket, () => this.#session.hold())) return;
    const stream = this.#session.open(NO_PAYLOAD);
    if (stream) stream.join(socket, { onClose: this.#session.hold() });
    else socket.destroy(true);
  }

  /** Gives the open connections `ms` to end, and ends the session. */
  close(ms: number): Promise<void> {
    return this.#session.close(ms, 'the visitor was stopped');
  }

  /** Ends the session when its last connection has ended: another one takes its place. */
  leave(): Promise<void> {
    return this.#session.leave('the visitor has moved to another server');
  }

  #onControl(message: unknown): void {
    const { data } = toVisitorSchema.safeParse(message);
    if (data?.type === 'agent') this.#agentIs(data.online);
    else if (data?.type === 'drain') {
      this.#direct?.drain();
      this.#log.info('the server is shutting down: open connections continue for a while');
      this.#onDrain();
    } else this.#log.debug('the server sent a control message that this visitor does not know');
  }

  #agentIs(online: boolean): void {
    if (online === this.#agentOnline) return;
    this.#agentOnline = online;
    if (online) {
      this.#log.info('the agent is connected again');
      this.#direct?.start();
    } else {
      this.#log.warn('the agent is not connected: connections are refused until it is');
      this.#direct?.stop();
    }
  }
}
