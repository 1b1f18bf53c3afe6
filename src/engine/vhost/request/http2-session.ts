import http2 from 'node:http2';
import type net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Pace, type PaceRules } from '../../../rules/pace.ts';
import type { Turns } from '../../../wire/turns.ts';
import type { UnreadLedger } from '../../../wire/unread-budget.ts';
import { Http2Outbound } from '../response/http2-outbound.ts';

/** Bytes of a request's body that a visitor may send before some of them were taken. */
export const BODY_WINDOW = 256 * 1024;
/** The settings of a visitor's connection. */
const SETTINGS: http2.Settings = { maxConcurrentStreams: 128, maxHeaderListSize: 32 * 1024, initialWindowSize: BODY_WINDOW, enablePush: false };
/** How long a visitor may take to read the rest of a complete response, in ms. */
const TAIL_MS = 60_000;
/** What all streams of a session together may send before some of it was taken. */
const SESSION_WINDOW = 1024 * 1024;

/** The most requests that a visitor may cancel (rapid reset), or send in a form that can't be served. nghttp2 tolerates twice as many at once, and keeps the connection then. */
const TAKEN_BACK: PaceRules = { atOnce: 500, perSecond: 33 };

/** Maximum requests in one iteration of the event loop. Fewer may be open, so a visitor that sends more has canceled some. */
const MOST_AT_ONCE = 200;

/** How long an HTTP/2 session may take, in ms. */
export interface Http2Timing {
  /** The idle timeout: without an open stream, whatever other frames arrive. */
  readonly idleMs: number;
  /** From the graceful end of the session until the visitor closes the connection. */
  readonly drainMs: number;
}

/** The times in use. */
export const HTTP2_TIMING: Http2Timing = { idleMs: 60_000, drainMs: 30_000 };

/**
 * Takes a request.
 * @param ended it has no body
 * @returns a function to call when the stream is closed, with whether the visitor canceled the request; undefined = it was refused
 */
type OnHttp2Stream = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders, ended: boolean) => (() => boolean) | undefined;

/** The dependencies of a session. */
export interface Http2SessionOptions {
  /** Called for each request. */
  readonly onStream: OnHttp2Stream;
  readonly timing: Http2Timing;
  /** Counts what is held for the visitor. */
  readonly unread: UnreadLedger;
  /** The queue of all sessions. */
  readonly queue: Turns;
}

/** Trailers that come before their request has begun. */
class HeldTrailers {
  readonly #stream: http2.ServerHttp2Stream;
  #held: http2.IncomingHttpHeaders | undefined;
  readonly #hold = (headers: http2.IncomingHttpHeaders): void => {
    this.#held = headers;
  };

  constructor(stream: http2.ServerHttp2Stream) {
    this.#stream = stream.once('trailers', this.#hold);
  }

  /** Delivers them to the request now. */
  release(): void {
    this.#stream.off('trailers', this.#hold);
    if (this.#held) this.#stream.emit('trailers', this.#held, 0);
  }
}

/** What the system has not taken yet of the bytes that Node has passed on, as Node's own timeouts of sockets see it; 0 = nothing, or this Node does not tell. */
function unsentBytes(socket: net.Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  const size: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : undefined;
  return typeof size === 'number' ? size : 0;
}

/** A stream closes when it fails: there is nothing else to do. */
function ignored(): void {
  // See above.
}

/**
 * A visitor's HTTP/2 connection, from the handshake to the end of its socket.
 *
 * Close no stream and no session while another stream's `close` is being handled: use `setImmediate`. The visitor's reset is still being read then, and
 * Node would write empty frames of the stream that was reset until no memory is left (nodejs/node#52952; test/e2e/http2-resets.slow.ts).
 */
export class Http2Session {
  /** What waits for the visitor other than the bodies of responses. */
  readonly outbound: Http2Outbound;
  readonly #session: http2.ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #carrier: net.Socket;
  readonly #timing: Http2Timing;
  /** Ends it after the idle timeout, or when the visitor doesn't disconnect after its end. */
  #timer: NodeJS.Timeout | undefined;
  /** Open streams, and since when their complete response waits for the visitor; 0 = not yet. */
  readonly #streams = new Map<http2.ServerHttp2Stream, number>();
  readonly #taken = new Pace(TAKEN_BACK);
  #ending = false;
  /** Requests in this iteration of the event loop. */
  #atOnce = 0;
  /** The number of bytes sent when the visitor last took some, and when that was observed. */
  #bytes = 0;
  #bytesAt = 0;

  /** @param carrier the socket below TLS */
  constructor(socket: TLSSocket, carrier: net.Socket, { onStream, timing, unread, queue }: Http2SessionOptions) {
    this.#socket = socket;
    this.#carrier = carrier;
    this.#timing = timing;
    this.#session = http2.performServerHandshake(socket, { settings: SETTINGS, maxSessionMemory: 4, unknownProtocolTimeout: 5000 });
    this.#session.setLocalWindowSize(SESSION_WINDOW);
    this.#session.on('error', () => this.cutOff());
    // Node leaves the socket half-open, and would keep session and streams, although the visitor reads no more responses.
    socket.once('end', () => this.cutOff());
    socket.once('close', () => {
      clearTimeout(this.#timer);
      this.outbound.close();
      // A stream with unsent data would wait for it.
      for (const stream of this.#streams.keys()) stream.destroy();
    });
    this.outbound = new Http2Outbound(this.#session, unread, () => this.cutOff());
    this.#session.on('stream', (stream, headers, flags) => {
      stream.on('error', ignored);
      if (this.#ending || this.#areTooMany()) {
        stream.destroy();
        return;
      }
      this.#queue(stream, queue, () => onStream(stream, headers, (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0));
    });
    this.#rest();
  }

  /** Begins a request when its turn comes; one that is canceled before counts immediately, and leaves the queue. */
  #queue(stream: http2.ServerHttp2Stream, queue: Turns, serve: () => (() => boolean) | undefined): void {
    const trailers = new HeldTrailers(stream);
    const begin = (): void => {
      // Its `close` event is about to withdraw it.
      if (stream.destroyed) return;
      stream.off('close', withdraw);
      this.#begin(stream, serve());
      trailers.release();
    };
    const withdraw = (): void => {
      queue.withdraw(this, begin);
      this.#takenBack();
    };
    stream.once('close', withdraw);
    if (queue.add(this, begin)) return;
    this.#endFlood();
    stream.destroy();
  }

  #areTooMany(): boolean {
    if (this.#atOnce === 0) {
      setImmediate(() => {
        this.#atOnce = 0;
      });
    }
    if (++this.#atOnce > MOST_AT_ONCE) this.#endFlood();
    return this.#ending;
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

  /** A visitor that cancels its requests causes work without reading the responses (rapid reset). */
  #takenBack(): void {
    if (!this.#ending && !this.#taken.begin(performance.now())) this.#endFlood();
  }

  #endFlood(): void {
    this.#ending = true;
    if (!this.#session.destroyed) this.#session.goaway(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // By then, GOAWAY was sent.
    setImmediate(() => this.cutOff());
  }

  /** Called when no stream is open. */
  #rest(): void {
    if (this.#socket.destroyed) return;
    clearTimeout(this.#timer);
    this.#timer = this.#session.closed ? setTimeout(() => this.cutOff(), this.#timing.drainMs) : setTimeout(() => this.end(), this.#timing.idleMs);
    this.#timer.unref();
  }

  /** Takes no more requests; the connection is closed after those that are under way. */
  end(): void {
    this.#session.close();
    if (this.#streams.size === 0) this.#rest();
  }

  /**
   * Closes what the visitor does not read: the session, if no waiting data has been sent for `stallMs`; a stream, if the end of
   * its response has waited for too long.
   * @param now by the monotonic clock
   */
  look(now: number, stallMs: number): void {
    let waits = Boolean(this.#session.state.outboundQueueSize) || unsentBytes(this.#carrier) > 0;
    for (const [stream, since] of this.#streams) {
      waits ||= stream.writableLength > 0;
      if (!stream.writableEnded) continue;
      if (since === 0) this.#streams.set(stream, now);
      else if (now - since > TAIL_MS) stream.destroy();
    }
    const bytes = this.#carrier.bytesWritten;
    if (!waits || bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#bytesAt = now;
    } else if (now - this.#bytesAt > stallMs) {
      this.cutOff();
    } else {
      this.#probe();
    }
  }

  /**
   * The session does not notice that a write failed because the visitor is gone; an empty write of our own does. After a failed write, libuv keeps what is
   * queued behind it until the next write: so this write must not wait in the socket's own queue for the previous one.
   */
  #probe(): void {
    this.#carrier._write('', 'latin1', (error) => {
      if (error) this.cutOff();
    });
  }

  /** Ends immediately. Destroying only the session keeps the socket open while data waits to be written: forever, if the visitor is gone. */
  cutOff(): void {
    this.#session.destroy();
    this.#socket.destroy();
  }
}
