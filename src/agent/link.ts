import type { Logger } from 'pino';
import { keyIdOf, proveHandshake } from '../wire/handshake.ts';
import { MessageSocket } from '../wire/message-socket.ts';
import { Mux, type Stream } from '../wire/mux.ts';
import { decodeOpen } from '../wire/open.ts';
import { type AgentInfo, type AgentMessage, serverMessageSchema, welcomeSchema, type Welcome } from '../wire/session-messages.ts';
import type { ByteSocket, SocketBackend } from '../wire/socket.ts';
import { messageOf } from '../wire/system-error.ts';
import { dial } from './dial.ts';

/** ms for the connection to the server and for each handshake; longer than the server delays an address that offered wrong keys. */
const CONNECT_MS = 10_000;
/** Targets being dialled at once: what a flood of visitors may cost here. */
const MAX_DIALS = 4096;
/** One line at most in this many ms says that targets don't answer. */
const DIAL_WARNING_MS = 10_000;

/** With whom and as whom the agent speaks. */
export interface LinkOptions {
  readonly server: { readonly host: string; readonly port: number };
  readonly vkey: string;
  readonly info: AgentInfo;
  readonly sockets: SocketBackend;
  readonly log: Logger;
}

/** Why a session ended. */
export interface LinkEnd {
  /** The server's code when it said why; "" = it didn't. */
  readonly code: string;
  /** For people. */
  readonly text: string;
}

/** One session with the server: carries the streams that the server opens to their targets. */
export class Link {
  readonly clientId: number;
  /** Resolves when the session is over. */
  readonly ended: Promise<LinkEnd>;
  readonly #options: LinkOptions;
  readonly #welcome: Welcome;
  readonly #sessionKey: Buffer;
  /** Where this very server is: another address of its name may belong to another machine. */
  readonly #address: string;
  readonly #mux: Mux;
  #over = false;
  #said: LinkEnd | undefined;
  #dials = 0;
  #streams = 0;
  #onIdle: (() => void) | undefined;
  #lastDialWarning = 0;

  /**
   * Connects and proves the key.
   * @throws the system's error when the server can't be reached
   * @throws {HandshakeError} when it doesn't let the agent in
   */
  static async open(options: LinkOptions): Promise<Link> {
    const { sockets, server, vkey, info } = options;
    const socket = await sockets.connect({ ...server, timeoutMs: CONNECT_MS });
    const { body, sessionKey } = await proveHandshake(socket, {
      timeoutMs: CONNECT_MS, role: 'mux', keyId: keyIdOf(vkey), key: vkey, connection: 0, info,
    });
    const welcome = welcomeSchema.safeParse(body);
    if (welcome.success) return new Link(options, socket, welcome.data, sessionKey);
    socket.destroy(true);
    throw new Error('the server let the agent in with words that it does not understand');
  }

  private constructor(options: LinkOptions, socket: ByteSocket, welcome: Welcome, sessionKey: Buffer) {
    this.clientId = welcome.clientId;
    this.#options = options;
    this.#welcome = welcome;
    this.#sessionKey = sessionKey;
    this.#address = socket.remoteAddress;
    let resolve: (end: LinkEnd) => void = () => undefined;
    this.ended = new Promise((done) => { resolve = done; });
    this.#mux = new Mux(socket, 'agent', {
      onOpen: (stream, payload) => void this.#onOpen(stream, payload),
      onControl: (message) => this.#onControl(message),
      onClose: (reason) => {
        this.#over = true;
        this.#onIdle?.();
        resolve(this.#said ?? { code: '', text: reason });
      },
      onDataConnectionsWanted: (ids) => ids.forEach((id) => void this.#dialData(id)),
    }, { heartbeatMs: welcome.heartbeatMs });
  }

  /** Takes no new streams, gives the open ones `ms` to end, and ends the session. */
  async close(ms: number): Promise<void> {
    this.#send({ type: 'drain' });
    if (this.#streams > 0 && !this.#over) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#send({ type: 'bye', code: 'stopped', text: 'the agent was stopped' });
    this.#mux.close('the agent was stopped');
  }

  #send(message: AgentMessage): void {
    this.#mux.sendControl(message);
  }

  #onControl(message: unknown): void {
    const { data } = serverMessageSchema.safeParse(message);
    if (data?.type === 'bye') this.#said = { code: data.code, text: data.text };
    else if (data?.type === 'drain') this.#options.log.info('the server is about to stop: open connections go on for a while, new ones do not come');
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
      this.#streams++;
      stream.join(socket, { onClose: () => this.#onStreamClosed() });
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

  #onStreamClosed(): void {
    this.#streams--;
    if (this.#streams === 0) this.#onIdle?.();
  }

  #warn(text: string): void {
    const now = Date.now();
    if (now - this.#lastDialWarning < DIAL_WARNING_MS) return;
    this.#lastDialWarning = now;
    this.#options.log.warn(text);
  }

  async #dialData(id: number): Promise<void> {
    const { sockets, server, log } = this.#options;
    try {
      const socket = await sockets.connect({ host: this.#address, port: server.port, timeoutMs: CONNECT_MS });
      await proveHandshake(socket, {
        timeoutMs: CONNECT_MS, role: 'data', keyId: this.#welcome.sessionId, key: this.#sessionKey, connection: id, info: {},
      });
      if (this.#over) socket.destroy(true);
      else this.#mux.addDataConnection(socket, id);
    } catch (error) {
      if (this.#over) return;
      log.debug({ connection: id }, `a data connection could not be had: ${messageOf(error)}`);
      this.#mux.dataConnectionFailed(id);
    }
  }
}
