import { afterPlainChunks } from './chunk-size.ts';
import type { PullSocket } from '../../wire/pull-socket.ts';
import { Field, listOf, valuesOf } from './field.ts';
import { formatTrailer, MAX_FIELDS, type RequestHead, type ResponseHead } from './head.ts';
import { HttpSyntaxError } from './syntax-error.ts';

/** How the end of a message's body is determined; `close` = by the end of the connection. */
export type Framing = { readonly kind: 'length'; readonly bytes: number } | { readonly kind: 'chunked' } | { readonly kind: 'close' };

const EMPTY: Framing = { kind: 'length', bytes: 0 };

/** How long the body of a request is. @throws {HttpSyntaxError} when the length is ambiguous */
export function requestFraming({ minor, fields }: Pick<RequestHead, 'minor' | 'fields'>): Framing {
  const coded = codings(minor, fields);
  if (coded.length === 0) return declaredLength(fields, canonicalLength) ?? EMPTY;
  if (coded.at(-1) !== 'chunked' || coded.some((coding, index) => index < coded.length - 1 && !unsupported.has(coding))) {
    throw new HttpSyntaxError('the transfer coding leaves open where the body ends');
  }
  if (coded.length > 1) throw new HttpSyntaxError('the only supported transfer coding is chunked', 501);
  return { kind: 'chunked' };
}

/** Known, unsupported transfer codings (RFC 9112, 7). All others are attempts at request smuggling. */
const unsupported = new Set(['gzip', 'x-gzip', 'deflate', 'compress', 'x-compress']);

/** How long the body of a response to a request of that method is. @throws {HttpSyntaxError} when the length is ambiguous */
export function responseFraming({ status, minor, fields }: Pick<ResponseHead, 'status' | 'minor' | 'fields'>, method: string): Framing {
  const coded = codings(minor, fields);
  const length = declaredLength(fields, /^\d{1,15}$/);
  if (coded.length > 0 && (coded.at(-1) !== 'chunked' || coded.indexOf('chunked') < coded.length - 1)) {
    throw new HttpSyntaxError('the last transfer coding is not chunked');
  }
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return EMPTY;
  return coded.length > 0 ? { kind: 'chunked' } : length ?? { kind: 'close' };
}

function codings(minor: 0 | 1, fields: readonly Field[]): string[] {
  const sent = valuesOf(fields, 'transfer-encoding');
  if (sent.length === 0) return [];
  const coded = listOf(fields, 'transfer-encoding');
  // Some programs read `chunked,` as a list of two.
  if (coded.length !== sent.join(',').split(',').length) throw new HttpSyntaxError('Transfer-Encoding has an empty element');
  if (valuesOf(fields, 'content-length').length > 0) throw new HttpSyntaxError('both Content-Length and Transfer-Encoding');
  if (minor === 0) throw new HttpSyntaxError('Transfer-Encoding is not allowed in HTTP/1.0');
  return coded;
}

/** The only accepted form: programs interpret leading zeros differently, some as octal. */
const canonicalLength = /^(?:0|[1-9]\d{0,14})$/;

function declaredLength(fields: readonly Field[], syntax: RegExp): Framing | undefined {
  const [length, ...more] = valuesOf(fields, 'content-length');
  if (length === undefined) return undefined;
  if (more.length > 0 || !syntax.test(length)) throw new HttpSyntaxError('Content-Length is not a single number');
  return { kind: 'length', bytes: Number(length) };
}

/** Longest line of a chunk's size with its extensions, in bytes. */
const MAX_SIZE_LINE = 256;
/** Longest trailer, in bytes. */
const MAX_TRAILER = 8 * 1024;
const LF = 0x0a;

/**
 * Fields that are not allowed in a trailer: routing, framing, authentication, and what the server adds about a visitor
 * (RFC 9110, 6.5.1). A program that merges the trailer into the head would treat them as header fields. In the spelling of `Field.variable`.
 */
const notInTrailers = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'trailer',
  'te',
  'connection',
  'keep-alive',
  'upgrade',
  'http2-settings',
  'expect',
  'proxy',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'authorization',
  'cookie',
  'set-cookie',
  'forwarded',
  'x-forwarded-for',
  'x-real-ip',
  'x-forwarded-proto',
  'x-forwarded-host',
]);

/** The fields to pass on of a trailer that was not received as HTTP/1.1 bytes. @throws {HttpSyntaxError} when it is too long */
export function passedTrailer(fields: readonly Field[]): Field[] {
  if (fields.length > MAX_FIELDS) throw new HttpSyntaxError('the trailer has too many fields');
  let bytes = 0;
  for (const { name, value } of fields) bytes += name.length + value.length + 4;
  if (bytes > MAX_TRAILER) throw new HttpSyntaxError('the trailer is too long');
  return fields.filter(mayTrail);
}

function mayTrail({ variable }: Field): boolean {
  return !notInTrailers.has(variable);
}

/** Some bytes of a body. */
export interface BodyPiece {
  /** How many of the received bytes belong to the body. */
  readonly taken: number;
  /** The bytes to pass on: unchanged, except that the trailer is passed on once it is complete, without forbidden fields. */
  readonly passed: Buffer;
}

const NOTHING = Buffer.alloc(0);

/**
 * Finds the end of a body in the received bytes. Chunks are not changed; sizes, line ends and trailer are checked as strictly as a head
 * before anything is passed on.
 */
export class BodyEnd {
  readonly #framing: Framing;
  #state: 'size' | 'data' | 'dataEnd' | 'trailer' | 'over';
  /** Bytes of the body, or of the current chunk, that have not arrived. */
  #missing = 0;
  /** The line being read: a chunk's size, or one of the trailer. */
  #line = '';
  #trailerBytes = 0;
  #trailerFields = 0;
  /** The trailer's fields to pass on. */
  readonly #trailer: Field[] = [];

  constructor(framing: Framing) {
    this.#framing = framing;
    this.#missing = framing.kind === 'length' ? framing.bytes : 0;
    this.#state = framing.kind === 'chunked' ? 'size' : framing.kind === 'length' && framing.bytes === 0 ? 'over' : 'data';
  }

  /** The whole body was seen. */
  get over(): boolean {
    return this.#state === 'over';
  }

  /** Takes the bytes that come next, as far as they belong to the body. @throws {HttpSyntaxError} */
  take(bytes: Buffer): BodyPiece {
    if (this.over) return { taken: 0, passed: NOTHING };
    if (this.#framing.kind === 'close') return { taken: bytes.length, passed: bytes };
    if (this.#framing.kind === 'chunked') return this.#takeChunks(bytes);
    const taken = Math.min(bytes.length, this.#missing);
    this.#missing -= taken;
    if (this.#missing === 0) this.#state = 'over';
    return { taken, passed: bytes.subarray(0, taken) };
  }

  /** The connection has ended. @throws {HttpSyntaxError} in the middle of the body */
  end(): void {
    if (!this.over && this.#framing.kind !== 'close') throw new HttpSyntaxError('the connection ended in the middle of a body');
    this.#state = 'over';
  }

  #takeChunks(bytes: Buffer): BodyPiece {
    const begun = this.#inTrailer;
    let at = 0;
    let chunks = 0;
    while (at < bytes.length && !this.over) {
      if (this.#state === 'data') {
        const taken = Math.min(bytes.length - at, this.#missing);
        at += taken;
        this.#missing -= taken;
        if (this.#missing === 0) this.#state = 'dataEnd';
      } else {
        const inTrailer = this.#inTrailer;
        at = this.#takeLine(bytes, at);
        if (inTrailer) continue;
      }
      chunks = at;
    }
    // Without a trailer, the end is passed on unchanged.
    if (this.over && this.#trailerFields === 0 && !begun) return { taken: at, passed: bytes.subarray(0, at) };
    const passed = bytes.subarray(0, chunks);
    return { taken: at, passed: this.over ? Buffer.concat([passed, formatTrailer(this.#trailer)]) : passed };
  }

  /** The last chunk was seen. */
  get #inTrailer(): boolean {
    return this.#state === 'trailer';
  }

  /** Continues the current line, and processes it when it is complete. */
  #takeLine(bytes: Buffer, from: number): number {
    if (this.#state === 'size' && this.#line === '') {
      const after = afterPlainChunks(bytes, from);
      if (after > from) return after;
    }
    const newline = bytes.indexOf(LF, from);
    const end = newline < 0 ? bytes.length : newline + 1;
    const longest = this.#state === 'trailer' ? MAX_TRAILER - this.#trailerBytes : MAX_SIZE_LINE;
    if (this.#line.length + end - from > longest) throw new HttpSyntaxError('a line of a chunked body is too long');
    this.#line += bytes.toString('latin1', from, end);
    const whole = newline >= 0;
    const cr = this.#line.indexOf('\r');
    if (whole ? cr < 0 || cr !== this.#line.length - 2 : cr >= 0 && cr !== this.#line.length - 1) {
      throw new HttpSyntaxError('a line of a chunked body does not end with CR LF');
    }
    if (whole) {
      const line = this.#line.slice(0, -2);
      this.#line = '';
      this.#onLine(line);
    } else if (this.#state === 'dataEnd' && !'\r\n'.startsWith(this.#line)) {
      throw new HttpSyntaxError('a chunk is longer than its size');
    }
    return end;
  }

  #onLine(line: string): void {
    if (this.#state === 'dataEnd') {
      if (line !== '') throw new HttpSyntaxError('a chunk is longer than its size');
      this.#state = 'size';
    } else if (this.#state === 'size') {
      const [, digits] = /^([0-9A-Fa-f]{1,12})(?:;[\t\x20-\x7e\x80-\xff]*)?$/.exec(line) ?? [];
      if (digits === undefined) throw new HttpSyntaxError("a chunk's size is not a number");
      this.#missing = Number.parseInt(digits, 16);
      this.#state = this.#missing === 0 ? 'trailer' : 'data';
    } else if (line === '') {
      this.#state = 'over';
    } else {
      this.#trailerBytes += line.length;
      if (++this.#trailerFields > MAX_FIELDS) throw new HttpSyntaxError('the trailer has too many fields');
      const field = Field.parse(line);
      if (mayTrail(field)) this.#trailer.push(field);
    }
  }
}

/**
 * The first bytes of a message for the other connection: its head, with the part of the body that has arrived, since each write costs system calls.
 * @param head as the other connection gets it
 * @throws {HttpSyntaxError} when this part of the body is malformed
 */
export function beginMessage(from: PullSocket, head: Buffer, body: BodyEnd): Buffer {
  const first = body.over ? undefined : from.arrived();
  return first ? Buffer.concat([head, passedOf(first, from, body)]) : head;
}

/**
 * Moves the rest of a body from one connection to the other, and nothing after it, with back-pressure.
 * @throws {HttpSyntaxError} when it is malformed or ends too early
 * @throws {SocketGoneError}
 */
export async function moveBody(from: PullSocket, to: PullSocket, body: BodyEnd): Promise<void> {
  while (!body.over) {
    const chunk = await from.read();
    if (!chunk) {
      body.end();
      return;
    }
    const passed = passedOf(chunk, from, body);
    if (passed.length > 0) await to.write(passed);
  }
}

/** The part of a chunk to pass on; bytes after the body stay unread. @throws {HttpSyntaxError} */
function passedOf(chunk: Buffer, from: PullSocket, body: BodyEnd): Buffer {
  const { taken, passed } = body.take(chunk);
  if (taken < chunk.length) from.unread(chunk.subarray(taken));
  return passed;
}
