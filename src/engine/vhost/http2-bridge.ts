import http2 from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { type PairOrigin, socketPair } from '../../wire/socket-pair.ts';
import type { ByteSocket, SocketSink } from '../../wire/socket.ts';
import type { Framing } from '../http/body.ts';
import { Dechunker } from '../http/dechunk.ts';
import { type Field, formatHead, type ResponseHead } from '../http/head.ts';
import { ResponseReader, type ResponseSink } from '../http/response-reader.ts';

/** What one visitor's connection may hold. */
const SETTINGS: http2.Settings = { maxConcurrentStreams: 128, maxHeaderListSize: 32 * 1024, initialWindowSize: 256 * 1024, enablePush: false };
/** A session without a stream ends after so many ms. */
const IDLE_MS = 60_000;

/** Fields that HTTP/2 has no place for (RFC 9113, 8.2.2); a request that has one is malformed. */
const connectionSpecific = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings']);

/**
 * Speaks HTTP/2 with a visitor over TLS. Every stream becomes an HTTP/1.1 request on a connection of its own, inside this process, which
 * is routed like any other.
 * @param origin whose connection it is
 * @param serve takes the connection of one request
 * @returns the session; whoever stops serving ends it
 */
export function serveHttp2(socket: TLSSocket, origin: PairOrigin, serve: (connection: ByteSocket) => void): http2.ServerHttp2Session {
  const session = http2.performServerHandshake(socket, { settings: SETTINGS, maxSessionMemory: 4, unknownProtocolTimeout: 5000 });
  // A destroyed session leaves the socket open while something waits to be written, which is for ever when the visitor is gone.
  const cutOff = (): void => {
    session.destroy();
    socket.destroy();
  };
  session.on('error', cutOff);
  session.setTimeout(IDLE_MS, () => session.close());
  // Node lets the socket be half open, and would keep session and streams. Nobody reads answers any more.
  socket.once('end', cutOff);
  session.on('stream', (stream, headers, flags) => {
    stream.on('error', () => stream.destroy());
    const request = requestOf(headers, (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0);
    if (!request) {
      stream.close(http2.constants.NGHTTP2_PROTOCOL_ERROR);
      return;
    }
    const [near, far] = socketPair(origin);
    serve(far);
    near.write(request.head);
    Http2Request.begin(stream, near, request);
  });
  return session;
}

interface BridgedRequest {
  readonly method: string;
  readonly head: Buffer;
  /** How the body is to be framed. */
  readonly body: Framing;
}

/** The HTTP/1.1 head of a request; undefined = it can't be one without changing what it means. */
function requestOf(headers: http2.IncomingHttpHeaders, ended: boolean): BridgedRequest | undefined {
  const { ':method': method, ':path': path, ':authority': authority, host, 'content-length': length } = headers;
  const name = authority ?? host;
  if (method === undefined || method === 'CONNECT' || path === undefined || !/^(\/|\*$)/.test(path) || name === undefined) return undefined;
  if (authority !== undefined && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) return undefined;
  const fields: Field[] = [{ name: 'Host', value: name }];
  for (const [field, values] of Object.entries(headers)) {
    if (field.startsWith(':') || field === 'host' || values === undefined) continue;
    if (connectionSpecific.has(field)) return undefined;
    for (const value of Array.isArray(values) ? values : [values]) fields.push({ name: field, value });
  }
  if (!ended && length === undefined) fields.push({ name: 'Transfer-Encoding', value: 'chunked' });
  if (fields.some((field) => !isSound(field)) || !isSound({ name: method, value: path })) return undefined;
  const body: Framing = ended || length !== undefined ? { kind: 'length', bytes: Number(length ?? 0) } : { kind: 'chunked' };
  return { method, head: formatHead(`${method} ${path} HTTP/1.1`, fields), body };
}

function isSound({ name, value }: Field): boolean {
  // oxlint-disable-next-line no-control-regex
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && !/[\0-\x08\x0a-\x1f\x7f]/.test(value);
}

/** One stream and the HTTP/1.1 connection that answers it. */
class Http2Request implements SocketSink, ResponseSink {
  readonly #stream: http2.ServerHttp2Stream;
  readonly #near: ByteSocket;
  readonly #response: ResponseReader;
  #dechunker: Dechunker | undefined;
  #answered = false;

  /** Moves the request's body, and the response when it comes. */
  static begin(stream: http2.ServerHttp2Stream, near: ByteSocket, { method, body }: BridgedRequest): void {
    near.attach(new Http2Request(stream, near, method, body));
  }

  private constructor(stream: http2.ServerHttp2Stream, near: ByteSocket, method: string, body: Framing) {
    this.#stream = stream;
    this.#near = near;
    this.#response = new ResponseReader(method, this);
    stream.on('data', (chunk: Buffer) => {
      const sized = body.kind === 'chunked' ? [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')] : [chunk];
      if (!near.write(Buffer.concat(sized))) stream.pause();
    });
    stream.on('end', () => {
      if (body.kind === 'chunked') near.write(Buffer.from('0\r\n\r\n'));
    });
    stream.on('drain', () => near.resume());
    stream.on('close', () => near.destroy(true));
  }

  onData(chunk: Buffer): void {
    if (this.#answered) return;
    this.#response.push(chunk);
    if (this.#response.over) this.#finish();
  }

  onInterim({ status, fields }: ResponseHead): void {
    if (status !== 101 && !this.#stream.closed) this.#stream.additionalHeaders(headersOf(status, fields));
  }

  onHead({ status, fields }: ResponseHead, body: Framing): void {
    if (body.kind === 'chunked') this.#dechunker = new Dechunker();
    if (!this.#stream.closed) this.#stream.respond(headersOf(status, fields), { endStream: body.kind === 'length' && body.bytes === 0 });
  }

  onBody(piece: Buffer): void {
    if (!this.#dechunker) this.#write(piece);
    else this.#dechunker.push(piece, (data) => this.#write(data));
  }

  #write(piece: Buffer): void {
    if (piece.length > 0 && !this.#stream.closed && !this.#stream.write(piece)) this.#near.pause();
  }

  #finish(): void {
    this.#answered = true;
    this.#stream.end();
    this.#near.end();
  }

  onEnd(): void {
    if (this.#answered) return;
    if (this.#response.begun && this.#isClosedByEnd()) this.#finish();
    else this.#cutOff();
  }

  #isClosedByEnd(): boolean {
    try {
      this.#response.end();
      return true;
    } catch {
      return false; // in the middle of the body
    }
  }

  onDrain(): void {
    this.#stream.resume();
  }

  onClose(): void {
    if (!this.#answered && !this.#stream.closed) this.#cutOff();
  }

  /** `close` with an error code would end the body in good order first, so that a part of it looked like all. */
  #cutOff(): void {
    this.#stream.destroy(new Error('the answer was cut off'));
  }
}

function headersOf(status: number, fields: readonly Field[]): http2.OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (const { name, value } of fields) {
    const lower = name.toLowerCase();
    if (connectionSpecific.has(lower)) continue;
    const before = headers[lower];
    headers[lower] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return { ':status': status, ...headers };
}
