import type { Logger } from 'pino';
import { DatagramBudget } from '../wire/datagram-socket.ts';
import type { Stream } from '../wire/mux.ts';
import { decodeOpen } from '../wire/open.ts';
import { type AgentInfo, serverMessageSchema, welcomeSchema, type Welcome } from '../wire/session-messages.ts';
import { messageOf } from '../wire/system-error.ts';
import { NoTargetError } from '../requests/dial-target.ts';
import type { BridgeDialler } from './dial-bridge.ts';
import { answerRequest } from '../requests/registry.ts';
import type { RequestContext } from '../requests/request-handler.ts';
import { agreeOnSession, type AgreedSession, ServerSession, type SessionEnd } from './server-session.ts';

/** Requests being answered at once (targets being dialled, mostly): what a flood of visitors may cost here. */
const MAX_ANSWERING = 4096;
/** One line at most in this many ms says that requests can't be answered. */
const WARNING_MS = 10_000;

/** With whom and as whom the agent speaks. */
export interface LinkOptions extends BridgeDialler {
  readonly vkey: string;
  readonly info: AgentInfo;
  readonly log: Logger;
}

/** The agent's session with the server: answers what the server asks for on the streams that it opens. */
export class Link {
  readonly clientId: number;
  readonly #options: LinkOptions;
  readonly #session: ServerSession;
  readonly #context: RequestContext;
  #answering = 0;
  #lastWarning = 0;

  /**
   * Connects and proves the key.
   * @throws the system's error when the server can't be reached
   * @throws {HandshakeError} when it doesn't let the agent in
   */
  static async open(options: LinkOptions): Promise<Link> {
    return new Link(options, await agreeOnSession({ ...options, role: 'mux', key: options.vkey, welcome: welcomeSchema }));
  }

  private constructor(options: LinkOptions, agreed: AgreedSession<Welcome>) {
    this.clientId = agreed.welcome.clientId;
    this.#options = options;
    this.#session = new ServerSession(agreed, {
      onOpen: (stream, payload) => void this.#onOpen(stream, payload),
      onControl: (message) => this.#onControl(message),
    });
    this.#context = { sockets: options.sockets, datagrams: new DatagramBudget(), hold: () => this.#session.hold() };
  }

  /** It runs over TLS. */
  get secure(): boolean {
    return this.#session.secure;
  }

  /** Resolves when the session is over. */
  get ended(): Promise<SessionEnd> {
    return this.#session.ended;
  }

  /** Takes no new streams, gives the open ones `ms` to end, and ends the session. */
  close(ms: number): Promise<void> {
    return this.#session.close(ms, 'the agent was stopped');
  }

  #onControl(message: unknown): void {
    const { data } = serverMessageSchema.safeParse(message);
    if (data?.type === 'drain') this.#options.log.info('the server is about to stop: open connections go on for a while, new ones do not come');
    else this.#options.log.debug('the server sent a control message that this agent does not know');
  }

  async #onOpen(stream: Stream, payload: Buffer): Promise<void> {
    const request = decodeOpen(payload);
    if (!request || this.#answering >= MAX_ANSWERING) {
      this.#warn(request ? 'too many targets are being dialled' : 'the server asked for something that this agent does not know');
      stream.reset();
      return;
    }
    this.#answering++;
    try {
      await answerRequest(request, stream, this.#context);
    } catch (error) {
      this.#warn(error instanceof NoTargetError ? `no target answers: ${error.message}` : messageOf(error));
      stream.reset();
    } finally {
      this.#answering--;
    }
  }

  #warn(text: string): void {
    const now = Date.now();
    if (now - this.#lastWarning < WARNING_MS) return;
    this.#lastWarning = now;
    this.#options.log.warn(text);
  }
}
