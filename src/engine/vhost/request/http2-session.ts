import http2 from 'node:http2';
import type net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Pace, type PaceRules } from '../../../rules/pace.ts';
import type { UnreadLedger } from '../../../wire/unread-budget.ts';
import { Http2Outbound } from '../response/http2-outbound.ts';

/** Bytes of a request's body that a visitor may send before some of them were taken. */
export const BODY_WINDOW = 256 * 1024;
/** What one visitor's connection may hold. */
const SETTINGS: http2.Settings = { maxConcurrentStreams: 128, maxHeaderListSize: 32 * 1024, initialWindowSize: BODY_WINDOW, enablePush: false };
/** How long a visitor may take for the end of a response that is complete here, in ms. */
const TAIL_MS = 60_000;
/** What all streams of a session together may send before some of it was taken. */
const SESSION_WINDOW = 1024 * 1024;

/** Requests that a visitor may take back, or make so that they can't be served. nghttp2 bears twice as many at once, and then keeps the connection. */
const TAKEN_BACK: PaceRules = { atOnce: 500, perSecond: 33 };

/** How long an HTTP/2 session may take, in ms. */
export interface Http2Timing {
  /** Without a stream, whatever else the visitor says. */
  readonly idleMs: number;
  /** From its end in good order until the visitor closes the connection. */
  readonly lingerMs: number;
}

/** The times in use. */
export const HTTP2_TIMING: Http2Timing = { idleMs: 60_000, lingerMs: 30_000 };

/**
 * Takes a request.
 * @param ended it has no body
 * @returns what to call when the stream is closed, which says whether the visitor took the request back; undefined = nothing, it was refused
 */
export type OnHttp2Stream = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders, ended: boolean) => (() => boolean) | undefined;

/** What a session is made of. */
export interface Http2SessionOptions {
  /** Called for each request. */
  readonly onStream: OnHttp2Stream;
  readonly timing: Http2Timing;
  /** What is held for the visitor counts there. */
  readonly unread: UnreadLedger;
}

/** A stream that fails is closed by that: there is nothing else to be done. */
function ignored(): void {
  // See above.
}

/** A visitor's HTTP/2 connection, from the handshake to the end of its socket. */
export class Http2Session {
  /** What waits for the visitor beside the bodies of responses. */
  readonly outbound: Http2Outbound;
  readonly #session: http2.ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #carrier: net.Socket;
  readonly #timing: Http2Timing;
  /** Ends it when it was idle for so long, or the visitor doesn't go though it has ended. */
  #timer: NodeJS.Timeout | undefined;
  /** Those that are open, and since when all of their response waits for the visitor; 0 = not yet. */
  readonly #streams = new Map<http2.ServerHttp2Stream, number>();
  readonly #taken = new Pace(TAKEN_BACK);
  #ending = false;
  /** Bytes that had gone to the visitor when he last took some, and when that was seen. */
  #bytes = 0;
  #bytesAt = 0;
  /** Something waited for the visitor when that was looked at, and has not gone out since. */
  #waits = false;

  /** @param carrier the socket below TLS */
  constructor(socket: TLSSocket, carrier: net.Socket, { onStream, timing, unread }: Http2SessionOptions) {
    this.#socket = socket;
    this.#carrier = carrier;
    this.#timing = timing;
    this.#session = http2.performServerHandshake(socket, { settings: SETTINGS, maxSessionMemory: 4, unknownProtocolTimeout: 5000 });
    this.#session.setLocalWindowSize(SESSION_WINDOW);
    this.#session.on('error', () => this.cutOff());
    // Node lets the socket be half open, and would keep session and streams. Nobody reads answers any more.
    socket.once('end', () => this.cutOff());
    socket.once('close', () => {
      clearTimeout(this.#timer);
      this.outbound.close();
      // One that still has something to send would wait for that.
      for (const stream of this.#streams.keys()) stream.destroy();
    });
    this.outbound = new Http2Outbound(this.#session, unread, () => this.cutOff());
    this.#session.on('stream', (stream, headers, flags) => {
      stream.on('error', ignored);
      // Taken back along with the request.
      if (stream.destroyed) return this.#takenBack();
      this.#begin(stream, onStream(stream, headers, (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0));
    });
    this.#rest();
  }

  #begin(stream: http2.ServerHttp2Stream, onClosed: (() => boolean) | undefined): void {
    this.#streams.set(stream, 0);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    stream.once('close', () => {
      if (onClosed?.() !== false) this.#takenBack();
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#rest();
    });
  }

  /** Whoever makes requests only to take them back wants the work done, not the answers. */
  #takenBack(): void {
    if (this.#ending || this.#taken.begin(performance.now())) return;
    this.#ending = true;
    if (!this.#session.destroyed) this.#session.goaway(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // By then that was sent.
    setImmediate(() => this.cutOff());
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
    if (this.#streams.size === 0) this.#rest();
  }

  /**
   * Gives up what the visitor does not take: the session, when nothing of what waits for him has gone out for `stallMs`; a stream, when the end of
   * its response waits for too long.
   * @param now by the monotonic clock
   */
  look(now: number, stallMs: number): void {
    let waits = Boolean(this.#session.state.outboundQueueSize);
    for (const [stream, since] of this.#streams) {
      waits ||= stream.writableLength > 0;
      if (!stream.writableEnded) continue;
      if (since === 0) this.#streams.set(stream, now);
      else if (now - since > TAIL_MS) stream.destroy();
    }
    const bytes = this.#carrier.bytesWritten;
    // What is on its way to the system is no longer seen to wait: only when it has gone does the session wait for nothing.
    this.#waits = waits || (this.#waits && bytes === this.#bytes);
    if (!this.#waits || bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#bytesAt = now;
    } else if (now - this.#bytesAt > stallMs) {
      this.cutOff();
    } else {
      this.#probe();
    }
  }

  /**
   * A write that fails because the visitor is gone tells the session nothing; an empty one of our own tells us. libuv leaves what was queued behind
   * a write that failed where it is, until there is another one: so none may wait in the socket's own queue for the one before.
   */
  #probe(): void {
    this.#carrier._write('', 'latin1', (error) => { if (error) this.cutOff(); });
  }

  /** Ends at once. A destroyed session alone leaves the socket open while something waits to be written, which is for ever when the visitor is gone. */
  cutOff(): void {
    this.#session.destroy();
    this.#socket.destroy();
  }
}
