import http2 from 'node:http2';
import type { TLSSocket } from 'node:tls';

/** What one visitor's connection may hold. */
const SETTINGS: http2.Settings = { maxConcurrentStreams: 128, maxHeaderListSize: 32 * 1024, initialWindowSize: 256 * 1024, enablePush: false };
/** What all streams of a session together may send before some of it was taken. */
const SESSION_WINDOW = 1024 * 1024;

/** How long an HTTP/2 session may take, in ms. */
export interface Http2Timing {
  /** Without a stream, whatever else the visitor says. */
  readonly idleMs: number;
  /** From its end in good order until the visitor closes the connection. */
  readonly lingerMs: number;
}

/** The times in use. */
export const HTTP2_TIMING: Http2Timing = { idleMs: 60_000, lingerMs: 30_000 };

/** Takes a request. */
export type OnHttp2Stream = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders, ended: boolean) => void;

/** A visitor's HTTP/2 connection, from the handshake to the end of its socket. */
export class Http2Session {
  readonly #session: http2.ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #timing: Http2Timing;
  /** Ends it when it was idle for so long, or the visitor doesn't go though it has ended. */
  #timer: NodeJS.Timeout | undefined;
  #streams = 0;

  /** @param onStream called for each request */
  constructor(socket: TLSSocket, onStream: OnHttp2Stream, timing: Http2Timing) {
    this.#socket = socket;
    this.#timing = timing;
    this.#session = http2.performServerHandshake(socket, { settings: SETTINGS, maxSessionMemory: 4, unknownProtocolTimeout: 5000 });
    this.#session.setLocalWindowSize(SESSION_WINDOW);
    this.#session.on('error', () => this.cutOff());
    // Node lets the socket be half open, and would keep session and streams. Nobody reads answers any more.
    socket.once('end', () => this.cutOff());
    socket.once('close', () => clearTimeout(this.#timer));
    this.#session.on('stream', (stream, headers, flags) => {
      this.#begun(stream);
      onStream(stream, headers, (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0);
    });
    this.#rest();
  }

  #begun(stream: http2.ServerHttp2Stream): void {
    this.#streams++;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    stream.on('error', () => stream.destroy());
    stream.once('close', () => {
      if (--this.#streams === 0) this.#rest();
    });
  }

  /** Nothing is under way. */
  #rest(): void {
    if (this.#socket.destroyed) return;
    clearTimeout(this.#timer);
    this.#timer = this.#session.closed ? setTimeout(() => this.cutOff(), this.#timing.lingerMs) : setTimeout(() => this.end(), this.#timing.idleMs);
    this.#timer.unref();
  }

  /** Takes no more requests; the connection is closed after those that are under way. */
  end(): void {
    this.#session.close();
    if (this.#streams === 0) this.#rest();
  }

  /** Ends at once. A destroyed session alone leaves the socket open while something waits to be written, which is for ever when the visitor is gone. */
  cutOff(): void {
    this.#session.destroy();
    this.#socket.destroy();
  }
}
