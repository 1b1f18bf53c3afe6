import http2 from 'node:http2';
import { type PairOrigin, socketPair } from '../../wire/socket-pair.ts';
import type { ByteSocket, SocketSink } from '../../wire/socket.ts';
import type { Framing } from '../http/body.ts';
import { Dechunker } from '../http/dechunk.ts';
import { Field } from '../http/field.ts';
import { formatHead, formatTrailer, type ResponseHead } from '../http/head.ts';
import { ResponseReader, type ResponseSink } from '../http/response-reader.ts';
import type { Http2Outbound } from './http2-outbound.ts';
import type { OnHttp2Stream } from './http2-session.ts';

/** Fields that HTTP/2 has no place for (RFC 9113, 8.2.2); a request that has one is malformed. */
const connectionSpecific = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings']);

/**
 * Takes requests over HTTP/2. Each becomes an HTTP/1.1 request on a connection of its own, inside this process, which is routed like any
 * other.
 * @param origin whose they are
 * @param serve takes the connection of one request
 */
export function bridgeHttp2(origin: PairOrigin, serve: (connection: ByteSocket) => void): OnHttp2Stream {
  return (stream, headers, { ended, outbound }) => {
    const request = requestOf(headers, ended);
    if (!request) {
      stream.close(http2.constants.NGHTTP2_PROTOCOL_ERROR);
      return;
    }
    const [near, far] = socketPair(origin);
    serve(far);
    near.write(request.head);
    Http2Request.begin(stream, near, request, outbound);
  };
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
  // Only chunks can be followed by the trailers that are announced.
  const chunked = !ended && (length === undefined || headers.trailer !== undefined);
  const [named, came] = [Field.received('Host', name), fieldsOf(headers)];
  // A method is made of what names are, a path of what values are.
  if (!named || !came || !Field.received(method, path)) return undefined;
  const fields: Field[] = [named];
  for (const field of came) {
    if (field.name === 'host' || (chunked && field.name === 'content-length')) continue;
    if (connectionSpecific.has(field.name)) return undefined;
    fields.push(field);
  }
  if (chunked) fields.push(Field.of('Transfer-Encoding', 'chunked'));
  const body: Framing = chunked ? { kind: 'chunked' } : { kind: 'length', bytes: Number(length ?? 0) };
  return { method, head: formatHead(`${method} ${path} HTTP/1.1`, fields), body };
}

/** Without the pseudo-headers; undefined = one of them is none. */
function fieldsOf(headers: http2.IncomingHttpHeaders): Field[] | undefined {
  const fields: Field[] = [];
  for (const [name, values = []] of Object.entries(headers)) {
    if (name.startsWith(':')) continue;
    for (const value of [values].flat()) {
      const field = Field.received(name, value);
      if (!field) return undefined;
      fields.push(field);
    }
  }
  return fields;
}

const LAST_CHUNK = Buffer.from('0\r\n');

/** One stream and the HTTP/1.1 connection that answers it. */
class Http2Request implements SocketSink, ResponseSink {
  readonly #stream: http2.ServerHttp2Stream;
  readonly #near: ByteSocket;
  readonly #outbound: Http2Outbound;
  readonly #response: ResponseReader;
  #dechunker: Dechunker | undefined;
  #answered = false;
  #waits = false;
  /** The visitor's. */
  #trailers: readonly Field[] = [];

  /** Moves the request's body, and the response when it comes. */
  static begin(stream: http2.ServerHttp2Stream, near: ByteSocket, request: BridgedRequest, outbound: Http2Outbound): void {
    near.attach(new Http2Request(stream, near, request, outbound));
  }

  private constructor(stream: http2.ServerHttp2Stream, near: ByteSocket, { method, body }: BridgedRequest, outbound: Http2Outbound) {
    this.#stream = stream;
    this.#near = near;
    this.#outbound = outbound;
    this.#response = new ResponseReader(method, this);
    stream.on('data', (chunk: Buffer) => {
      const sized = body.kind === 'chunked' ? [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')] : [chunk];
      if (!near.write(Buffer.concat(sized))) stream.pause();
    });
    // They come before the end does.
    stream.on('trailers', (headers) => this.#onTrailers(fieldsOf(headers)));
    stream.on('end', () => {
      if (body.kind === 'chunked') near.write(Buffer.concat([LAST_CHUNK, formatTrailer(this.#trailers)]));
    });
    stream.on('drain', () => { if (!this.#waits) near.resume(); });
    stream.on('close', () => near.destroy(true));
  }

  #onTrailers(fields: readonly Field[] | undefined): void {
    if (fields) this.#trailers = fields;
    else this.#cutOff();
  }

  onData(chunk: Buffer): void {
    if (this.#answered) return;
    if (!this.#response.begun && this.#outbound.full) {
      this.#near.unread(chunk);
      this.#waitToSend();
      return;
    }
    this.#response.push(chunk);
    if (this.#response.over) this.#finish();
  }

  /** The visitor does not read what the session has for him already. */
  #waitToSend(): void {
    this.#waits = true;
    this.#near.pause();
    this.#outbound.wait(() => {
      this.#waits = false;
      this.#near.resume();
    });
  }

  onInterim({ status, fields, length }: ResponseHead): void {
    if (status === 101 || this.#stream.closed) return;
    this.#outbound.add(length);
    this.#stream.additionalHeaders(headersOf(status, fields));
  }

  onHead({ status, fields, length }: ResponseHead, body: Framing): void {
    if (this.#stream.closed) return;
    this.#outbound.add(length);
    const waitForTrailers = body.kind === 'chunked';
    if (waitForTrailers) {
      const dechunker = this.#dechunker = new Dechunker();
      this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(regularHeaders(dechunker.trailers)));
    }
    this.#stream.respond(headersOf(status, fields), { endStream: body.kind === 'length' && body.bytes === 0, waitForTrailers });
  }

  onBody(piece: Buffer): void {
    if (this.#dechunker) this.#dechunker.push(piece, (data) => this.#write(data));
    // The end goes along with the last piece.
    else if (this.#response.over) this.#stream.end(piece);
    else this.#write(piece);
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
  return { ':status': status, ...regularHeaders(fields) };
}

/** Node refuses to send some fields twice. These two are not to be joined: their values hold commas. */
const repeated = new Set(['set-cookie', 'www-authenticate']);

function regularHeaders(fields: readonly Field[]): http2.OutgoingHttpHeaders {
  const headers = new Map<string, string | string[]>();
  for (const { lower, value } of fields) {
    if (connectionSpecific.has(lower)) continue;
    const before = headers.get(lower);
    if (before === undefined) headers.set(lower, repeated.has(lower) ? [value] : value);
    else headers.set(lower, Array.isArray(before) ? [...before, value] : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
