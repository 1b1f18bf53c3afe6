import { setImmediate as nextIteration, setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { HandshakeError } from '../wire/handshake-error.ts';
import { keyIdOf, type Role } from '../wire/handshake.ts';
import { Mux, type Stream } from '../wire/mux.ts';
import type { OtherServers } from '../wire/other-servers.ts';
import { sessionMessageSchema, type SessionWelcome } from '../wire/session-messages.ts';
import { messageOf } from '../wire/system-error.ts';
import { type BridgeConnection, type BridgeDialler, dialBridge } from './dial-bridge.ts';

/** Streams of a session that is left arrive for at most this long, in ms. */
const ON_THE_WAY_MS = 3000;
/** How often a data connection is dialed again that came to another server at the same address. */
const MOST_MISSES = 20;
/** How long they may stay open, in ms. */
const LONGEST_MS = 86_400_000;

/** The identity that a session is opened with. */
export interface SessionStart<W extends SessionWelcome> extends BridgeDialler {
  readonly role: Exclude<Role, 'data'>;
  /** The key, used to authenticate. It is never sent. */
  readonly key: string;
  /** This side's information about itself. */
  readonly info: object;
  /** The schema of the server's answer. */
  readonly welcome: z.ZodType<W>;
  readonly log: Logger;
  /** Data connections are dialed after this many ms; undefined = never. */
  readonly dataAfterMs?: number;
}

/** A session that the server has accepted and that has not begun. */
export interface AgreedSession<W extends SessionWelcome> {
  readonly start: SessionStart<W>;
  readonly connection: BridgeConnection;
  readonly welcome: W;
}

/** Callbacks of a session's owner. */
export interface SessionHandlers {
  /** The server opened a stream: join it with a socket or reset it. */
  onOpen(stream: Stream, payload: Buffer): void;
  /** A control message other than those of every session, not yet validated. */
  onControl(message: unknown): void;
  /** The other servers of the installation, all that there are now. */
  onServers(servers: OtherServers): void;
}

/** Why a session ended. */
export interface SessionEnd {
  /** The reason code that the server sent; "" = it sent none. */
  readonly code: string;
  /** The reason as text. */
  readonly text: string;
}

/**
 * Connects to the server, and authenticates with the key; again over TLS if the server demands it. Create a `ServerSession` from the
 * result synchronously.
 * @throws the system's error when the server can't be reached
 * @throws {HandshakeError} when the server refuses
 */
export async function agreeOnSession<W extends SessionWelcome>(start: SessionStart<W>): Promise<AgreedSession<W>> {
  try {
    return await agree(start);
  } catch (error) {
    const tls = error instanceof HandshakeError ? error.refusal?.tls : undefined;
    if (!tls) throw error;
    return agree({ ...start, server: { host: start.server.host, port: tls.port }, tls });
  }
}

async function agree<W extends SessionWelcome>(start: SessionStart<W>): Promise<AgreedSession<W>> {
  const { role, key, info } = start;
  const connection = await dialBridge(start, { role, keyId: keyIdOf(key), key, connection: 0, info });
  const welcome = start.welcome.safeParse(connection.body);
  if (welcome.success) return { start, connection, welcome: welcome.data };
  connection.socket.destroy(true);
  throw new Error('the server accepted the session with an answer that this version does not understand');
}

/** A session of an agent or visitor with the server: the multiplexed connection, its data connections, and its orderly end. */
export class ServerSession {
  /** The server's IP address; other addresses of its name may be other machines. */
  readonly address: string;
  /** Whether it runs over TLS. */
  readonly secure: boolean;
  /** Resolves when the session has ended and every stream was reset. */
  readonly ended: Promise<SessionEnd>;
  readonly #id: string;
  readonly #key: Buffer;
  readonly #dialler: BridgeDialler;
  readonly #log: Logger;
  readonly #mux: Mux;
  #over = false;
  /** Other servers take connections at the same address. */
  #sharesAddress = false;
  #said: SessionEnd | undefined;
  #held = 0;
  readonly #onIdle = new Set<() => void>();

  constructor({ start, connection, welcome }: AgreedSession<SessionWelcome>, handlers: SessionHandlers) {
    this.address = connection.socket.remoteAddress;
    this.secure = start.tls !== undefined;
    this.#id = welcome.sessionId;
    this.#key = connection.sessionKey;
    this.#dialler = { sockets: start.sockets, tls: start.tls, server: { host: this.address, port: start.server.port } };
    this.#log = start.log;
    let resolve: (end: SessionEnd) => void = () => undefined;
    this.ended = new Promise((done) => {
      resolve = done;
    });
    this.#mux = new Mux(connection.socket, 'agent', {
      onOpen: (stream, payload) => handlers.onOpen(stream, payload),
      onControl: (message) => {
        const { data } = sessionMessageSchema.safeParse(message);
        if (data?.type === 'bye') this.#said = { code: data.code, text: data.text };
        else if (data?.type === 'compress') this.#mux.compress = data.on;
        else if (data?.type === 'servers') {
          this.#sharesAddress = data.here;
          handlers.onServers(data);
        } else if (data?.type === 'ping') this.send({ type: 'pong' });
        else if (data?.type !== 'pong') handlers.onControl(message);
      },
      onClose: (reason) => {
        this.#over = true;
        this.#idle();
        resolve(this.#said ?? { code: '', text: reason });
      },
      ...(this.secure || start.dataAfterMs === undefined ? {} : { onDataConnectionsWanted: (ids: number[]) => ids.forEach((id) => void this.#dialData(id)) }),
    }, { heartbeatMs: welcome.heartbeatMs, compress: welcome.compress, dataAfterMs: start.dataAfterMs });
  }

  /** Opens a stream without waiting for the server; undefined = the session is over or has too many. */
  open(payload: Uint8Array): Stream | undefined {
    return this.#mux.open(payload);
  }

  /** Sends a control message. */
  send(message: object): void {
    this.#mux.sendControl(message);
  }

  /** Asks the server for a sign of life. @returns whether one came within `ms`; true also when the session is over */
  async answers(ms: number): Promise<boolean> {
    const asked = performance.now();
    this.send({ type: 'ping' });
    await delay(ms, undefined, { ref: false });
    // If this process itself was late, the next read delivers what arrived in the meantime.
    await nextIteration();
    return this.#over || this.#mux.silence < performance.now() - asked;
  }

  /** Ends the session at once, without a word. */
  giveUp(why: string): void {
    this.#mux.close(why);
  }

  /** Delays `close` until the returned function is called, once. */
  hold(): () => void {
    this.#held++;
    return () => {
      this.#held--;
      if (this.#held === 0) this.#idle();
    };
  }

  /** Requests no new streams, gives open work `ms` to finish, and ends the session; the reason is sent to the server. */
  async close(ms: number, why: string): Promise<void> {
    this.send({ type: 'drain' });
    if (this.#held > 0 && !this.#over) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#onIdle.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    this.#mux.close(why, { type: 'bye', code: 'stopped', text: why });
  }

  /** The session is left for one with another server: ends it when its last stream has ended. Some may be on their way while the server learns of it. */
  async leave(why: string): Promise<void> {
    setTimeout(this.hold(), ON_THE_WAY_MS).unref();
    await this.close(LONGEST_MS, why);
  }

  /** Nothing is open any more: each `close` that waits goes on. */
  #idle(): void {
    for (const wake of this.#onIdle) wake();
    this.#onIdle.clear();
  }

  /** @param left how many more times it may come to another server than that of the session */
  async #dialData(id: number, left = MOST_MISSES): Promise<void> {
    try {
      const { socket } = await dialBridge(this.#dialler, { role: 'data', keyId: this.#id, key: this.#key, connection: id, info: {} });
      this.#mux.addDataConnection(socket, id);
    } catch (error) {
      if (this.#over) return;
      if (this.#sharesAddress && left > 0 && error instanceof HandshakeError && error.refusal?.code === 'unknown-key') return this.#dialData(id, left - 1);
      this.#log.debug({ connection: id }, `a data connection could not be opened: ${messageOf(error)}`);
      this.#mux.dataConnectionFailed(id);
    }
  }
}
