import type { Logger } from 'pino';
import { Mux, type MuxOptions, type Stream } from '../../wire/mux.ts';
import { type AgentInfo, agentMessageSchema, type ServerMessage } from '../../wire/session-messages.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { type Reason, reasons } from './reasons.ts';

/**
 * Most streams of one session. With the credit of 1 MB a stream, agents and visitors that stop reading could make the server hold
 * that much for each; beyond this one client's visitors are turned away, and the others are not affected.
 */
export const MAX_STREAMS = 20_000;

/** How a session begins. */
export interface SessionStart {
  readonly id: string;
  /** Proves that a data connection belongs to it. */
  readonly key: Buffer;
  readonly clientId: number;
  readonly info: AgentInfo;
  readonly socket: ByteSocket;
  readonly log: Logger;
  readonly mux: MuxOptions;
  /** The session is over; called once. */
  readonly onGone: (session: AgentSession) => void;
}

/** One connected agent. */
export class AgentSession {
  readonly id: string;
  readonly key: Buffer;
  readonly clientId: number;
  readonly info: AgentInfo;
  /** The agent's address as the bridge sees it. */
  readonly address: string;
  readonly port: number;
  /** It runs over TLS. */
  readonly secure: boolean;
  readonly #mux: Mux;
  readonly #log: Logger;
  /** No new streams: the agent is about to stop. */
  #leaving = false;
  #ending = false;

  constructor({ id, key, clientId, info, socket, log, mux, onGone }: SessionStart) {
    this.id = id;
    this.key = key;
    this.clientId = clientId;
    this.info = info;
    this.address = socket.remoteAddress;
    this.port = socket.remotePort;
    this.secure = socket.channelSecret !== undefined;
    this.#log = log.child({ clientId, address: this.address, port: this.port });
    this.#mux = new Mux(socket, 'server', {
      // No tunnel mode lets agents open streams.
      onOpen: (stream) => stream.reset(),
      onControl: (message) => this.#onControl(message),
      onClose: (reason) => {
        this.#log.info({ reason }, 'agent disconnected');
        onGone(this);
      },
    }, mux);
    this.#log.info({ version: info.version, tls: this.secure }, 'agent connected');
  }

  get streamCount(): number {
    return this.#mux.streamCount;
  }

  /** Opens a stream at once, without waiting for the agent; undefined = the session ends or has too many streams. */
  open(payload: Buffer): Stream | undefined {
    return this.#leaving || this.#mux.streamCount >= MAX_STREAMS ? undefined : this.#mux.open(payload);
  }

  addDataConnection(socket: ByteSocket, id: number): void {
    this.#mux.addDataConnection(socket, id);
  }

  /** Both sides compress what they send from now on, or no longer do. */
  compress(on: boolean): void {
    if (this.#mux.compress === on) return;
    this.#mux.compress = on;
    this.#send({ type: 'compress', on });
  }

  /** Tells the agent that no new streams come. */
  drain(): void {
    this.#send({ type: 'drain' });
  }

  /** Ends the session and all its streams at once, telling the agent why. */
  close(reason: Reason, text: string = reasons[reason]): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#send({ type: 'bye', code: reason, text });
    this.#mux.close(text);
  }

  #send(message: ServerMessage): void {
    this.#mux.sendControl(message);
  }

  #onControl(message: unknown): void {
    const known = agentMessageSchema.safeParse(message);
    if (known.data?.type === 'bye') this.#mux.close(`the agent says: ${known.data.text}`);
    else if (known.data?.type === 'drain') {
      this.#leaving = true;
      this.#log.info('the agent is about to stop: its open connections may end, new ones are refused');
    } else this.#log.debug('the agent sent a control message that this server does not know');
  }
}
