import type { Logger } from 'pino';
import { MessageSocket } from '../wire/message-socket.ts';
import type { Stream } from '../wire/mux.ts';
import { decodeOpen } from '../wire/open.ts';
import { type AgentInfo, serverMessageSchema, welcomeSchema, type Welcome } from '../wire/session-messages.ts';
import { messageOf } from '../wire/system-error.ts';
import { dial } from './dial.ts';
import type { BridgeDialler } from './dial-bridge.ts';
import { agreeOnSession, type AgreedSession, ServerSession, type SessionEnd } from './server-session.ts';

/** Targets being dialled at once: what a flood of visitors may cost here. */
const MAX_DIALS = 4096;
/** One line at most in this many ms says that targets don't answer. */
const DIAL_WARNING_MS = 10_000;

/** With whom and as whom the agent speaks. */
export interface LinkOptions extends BridgeDialler {
  readonly vkey: string;
  readonly info: AgentInfo;
  readonly log: Logger;
}

/** The agent's session with the server: carries the streams that the server opens to their targets. */
export class Link {
  readonly clientId: number;
  readonly #options: LinkOptions;
  readonly #session: ServerSession;
  #dials = 0;
  #lastDialWarning = 0;

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
    if (!request || this.#dials >= MAX_DIALS) {
      this.#warn(request ? 'too many targets are being dialled' : 'the server asked for something that this agent does not know');
      stream.reset();
      return;
    }
    this.#dials++;
    try {
      if (request.kind === 'probe') {
        stream.join(new MessageSocket(await this.#probe(request.target, request.timeoutMs)));
        return;
      }
      const socket = await dial(this.#options.sockets, request.targets);
      const release = this.#session.hold();
      stream.join(socket, { onClose: release });
    } catch (error) {
      this.#warn(`no target answers: ${messageOf(error)}`);
      stream.reset();
    } finally {
      this.#dials--;
    }
  }

  /** Why a target can't be dialled; "" = it can. */
  async #probe(target: string, timeoutMs: number): Promise<string> {
    try {
      (await dial(this.#options.sockets, [target], timeoutMs)).destroy();
      return '';
    } catch (error) {
      return messageOf(error);
    }
  }

  #warn(text: string): void {
    const now = Date.now();
    if (now - this.#lastDialWarning < DIAL_WARNING_MS) return;
    this.#lastDialWarning = now;
    this.#options.log.warn(text);
  }
}
