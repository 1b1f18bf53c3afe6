import type { Logger } from 'pino';
import * as z from 'zod';
import { Mux, type MuxOptions, type Stream } from '../../wire/mux.ts';
import type { OtherServers, OtherServersMessage } from '../../wire/other-servers.ts';
import { byeSchema } from '../../wire/session-messages.ts';
import { pingSchema, type Pong } from '../../wire/standby-messages.ts';
import type { ByteSocket, SocketAddress } from '../../wire/socket.ts';
import type { SessionEnd } from '../face.ts';
import { type Reason, reasons, sessionEndOf } from './reasons.ts';

/**
 * Maximum streams of one session. Each has 1 MB of credit, which the server may have to buffer when agents or visitors stop reading. Beyond this limit,
 * the visitors of this client are refused; other clients are not affected.
 */
export const MAX_STREAMS = 20_000;

/** Control messages of every peer. */
const peerMessageSchema = z.discriminatedUnion('type', [byeSchema, pingSchema]);

const PONG: Pong = { type: 'pong' };

/** How a session begins. */
export interface SessionStart {
  readonly id: string;
  /** Proves that a data connection belongs to the session. */
  readonly key: Buffer;
  readonly socket: ByteSocket;
  readonly log: Logger;
  readonly mux: MuxOptions;
}

/** One connected agent or visitor. */
export abstract class BridgeSession {
  readonly id: string;
  readonly key: Buffer;
  /** The address of the agent or visitor as the bridge sees it. */
  readonly address: string;
  readonly port: number;
  /** The server's address that the peer connected to. */
  readonly local: SocketAddress | undefined;
  /** It runs over TLS. */
  readonly secure: boolean;
  protected readonly mux: Mux;
  protected readonly log: Logger;
  #ending = false;
  #end: SessionEnd = 'lost';
  #endText = '';

  /** @param who the peer's name in the log: "agent" */
  protected constructor({ id, key, socket, log, mux }: SessionStart, who: string) {
    this.id = id;
    this.key = key;
    this.address = socket.remoteAddress;
    this.port = socket.remotePort;
    this.local = socket.local;
    this.secure = socket.channelSecret !== undefined;
    this.log = log.child({ address: this.address, port: this.port });
    this.mux = new Mux(socket, 'server', {
      onOpen: (stream, payload) => this.onOpen(stream, payload),
      onControl: (message) => {
        const { data } = peerMessageSchema.safeParse(message);
        if (data?.type === 'bye') {
          this.#end = 'agentStopped';
          this.mux.close(`the ${who} says: ${data.text}`);
        } else if (data?.type === 'ping') this.mux.sendControl(PONG);
        else this.onControl(message);
      },
      onClose: (reason, _cut, atFault) => {
        if (atFault) this.#end = 'protocol';
        this.#endText = reason;
        this.log.info({ reason }, `${who} disconnected`);
        this.onGone(atFault);
      },
    }, mux);
  }

  /** The peer opened a stream: join it with a socket or reset it. */
  protected abstract onOpen(stream: Stream, payload: Buffer): void;

  /** A control message other than those of every session, not yet validated. */
  protected abstract onControl(message: unknown): void;

  /** The session is over; called once. @param atFault as for `MuxHandlers.onClose` */
  protected abstract onGone(atFault: boolean): void;

  /** Why it ended. */
  get end(): SessionEnd {
    return this.#end;
  }

  /** Why it ended, for people. */
  get endText(): string {
    return this.#endText;
  }

  /** How long the peer was not heard, in ms. */
  get silence(): number {
    return this.mux.silence;
  }

  get streamCount(): number {
    return this.mux.streamCount;
  }

  /** Data connections may belong to it. An attacker can truncate raw bytes over TLS unnoticed, so streams stay on the mux there, where a frame marks their end. */
  get takesDataConnections(): boolean {
    return !this.secure;
  }

  addDataConnection(socket: ByteSocket, id: number): void {
    this.mux.addDataConnection(socket, id);
  }

  /** Both sides compress what they send from now on, or no longer do. */
  compress(on: boolean): void {
    if (this.mux.compress === on) return;
    this.mux.compress = on;
    this.mux.sendControl({ type: 'compress', on });
  }

  /** Tells the peer of the other servers that it can go to. */
  tellServers({ servers, here }: OtherServers): void {
    const message: OtherServersMessage = { type: 'servers', servers: [...servers], here };
    this.mux.sendControl(message);
  }

  /** Notifies the peer that no new streams are opened or accepted. */
  drain(): void {
    this.mux.sendControl({ type: 'drain' });
  }

  /** Ends the session and all its streams immediately, and sends the peer the reason. */
  close(reason: Reason, text: string = reasons[reason]): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#end = sessionEndOf[reason] ?? 'lost';
    this.mux.close(text, { type: 'bye', code: reason, text });
  }
}
