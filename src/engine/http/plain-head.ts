import type { Framing } from './body.ts';
import type { Field } from './field.ts';
import { HEAD_LIMITS, type HeadLimits, parseRequestHead, parseResponseHead, type RequestHead, type ResponseHead } from './head.ts';
import { isExactly, plainLines, type PlainLines } from './plain-lines.ts';

/**
 * The fast path for common heads, which are recognized by their bytes and passed on as ranges of them. Heads that these functions don't accept go to the strict
 * parser (head.ts), which alone decides what is refused. It accepts everything that they accept, and the bytes that are passed on are the same.
 */

const EMPTY: Framing = { kind: 'length', bytes: 0 };
const CHUNKED: Framing = { kind: 'chunked' };
const CLOSE: Framing = { kind: 'close' };
const SPACE = 0x20;
const [CR, LF] = [0x0d, 0x0a];
const VERSION = Buffer.from('HTTP/1.1');
const methods = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
/** How requests of each form of target begin (RFC 9112, 3.2): `origin` is what servers get, `absolute` what forward proxies get. */
const beginnings = { origin: beginningsWith('/'), absolute: beginningsWith('http://') };

interface Beginning {
  readonly method: string;
  readonly start: Buffer;
}

function beginningsWith(target: string): readonly Beginning[] {
  return methods.map((method) => ({ method, start: Buffer.from(`${method} ${target}`) }));
}

/** A plain head of HTTP/1.1, with its lines as byte ranges. Its fields are created on demand. */
abstract class PlainHead {
  readonly minor = 1;
  readonly #bytes: Buffer;
  readonly #lines: PlainLines;

  constructor(bytes: Buffer, lines: PlainLines) {
    this.#bytes = bytes;
    this.#lines = lines;
  }

  /** In bytes, its empty line included. */
  get length(): number {
    return this.#lines.length;
  }

  /** The message has `Connection: close`. */
  get closes(): boolean {
    return this.#lines.closes;
  }

  protected get bytes(): Buffer {
    return this.#bytes;
  }

  protected get lines(): PlainLines {
    return this.#lines;
  }

  /**
   * The head as it is passed on, without Host and hop-by-hop fields.
   * @param before lines that come first
   * @param after lines that come last, with the empty line
   * @param body what is sent with it
   */
  passedOn(before: Buffer, after: Buffer, body?: Buffer): Buffer {
    return this.#passedOn(0, before, after, body);
  }

  /** The same with another first line, which `before` begins with. */
  passedOnBehind(before: Buffer, after: Buffer, body?: Buffer): Buffer {
    return this.#passedOn(this.#lines.start, before, after, body);
  }

  #passedOn(first: number, before: Buffer, after: Buffer, body: Buffer | undefined): Buffer {
    const { start, length, cut, afterCut, secondCut, afterSecondCut } = this.#lines;
    const from = this.#bytes;
    const out = Buffer.allocUnsafe(length - first + before.length + after.length + (body?.length ?? 0));
    let at = start > first ? from.copy(out, 0, first, start) : 0;
    at += before.copy(out, at);
    if (cut > start) at += from.copy(out, at, start, cut);
    if (secondCut > afterCut) at += from.copy(out, at, afterCut, secondCut);
    if (length - 2 > afterSecondCut) at += from.copy(out, at, afterSecondCut, length - 2);
    at += after.copy(out, at);
    if (body) at += body.copy(out, at);
    return out.subarray(0, at);
  }
}

/** A plain request: a usual method, a path or an `http` URL, one Host. */
export class PlainRequestHead extends PlainHead implements RequestHead {
  readonly method: string;
  readonly target: string;
  #fields: readonly Field[] | undefined;

  constructor(bytes: Buffer, lines: PlainLines, method: string) {
    super(bytes, lines);
    this.method = method;
    this.target = bytes.toString('latin1', method.length + 1, lines.start - ' HTTP/1.1'.length - 2);
  }

  get fields(): readonly Field[] {
    return this.#fields ??= parseRequestHead(this.bytes.subarray(0, this.length), { bytes: this.length, fields: Number.POSITIVE_INFINITY })?.fields ?? [];
  }

  /** The value of Host: letters, digits, and what else is in a name or an address with a port. */
  get host(): string {
    return this.bytes.toString('latin1', this.lines.hostFrom, this.lines.hostTo);
  }

  /** The same as `requestFraming` returns. */
  get framing(): Framing {
    return this.lines.chunked ? CHUNKED : ofLength(this.lines.contentLength) ?? EMPTY;
  }
}

/** A plain response, with a status that allows a body. */
export class PlainResponseHead extends PlainHead implements ResponseHead {
  readonly status: number;
  #parsed: ResponseHead | undefined;

  constructor(bytes: Buffer, lines: PlainLines, status: number) {
    super(bytes, lines);
    this.status = status;
  }

  get reason(): string {
    return this.#strict?.reason ?? '';
  }

  get fields(): readonly Field[] {
    return this.#strict?.fields ?? [];
  }

  get #strict(): ResponseHead | undefined {
    return this.#parsed ??= parseResponseHead(this.bytes.subarray(0, this.length));
  }

  /** The same as `responseFraming` returns. @param method of the request */
  framing(method: string): Framing {
    if (method === 'HEAD') return EMPTY;
    return this.lines.chunked ? CHUNKED : ofLength(this.lines.contentLength) ?? CLOSE;
  }
}

function ofLength(bytes: number): Framing | undefined {
  if (bytes < 0) return undefined;
  return bytes === 0 ? EMPTY : { kind: 'length', bytes };
}

/** Reads the head of a request at the beginning of `bytes`; undefined = it is not plain, has another form of target, or is not complete. */
export function plainRequestHead(bytes: Buffer, limits: HeadLimits = HEAD_LIMITS, form: keyof typeof beginnings = 'origin'): PlainRequestHead | undefined {
  const known = beginningOf(bytes, beginnings[form]);
  if (!known) return undefined;
  let at = known.start.length;
  const most = Math.min(bytes.length, limits.bytes);
  while (at < most && isVisible(bytes[at] ?? 0)) at++;
  const version = at + 1;
  const end = version + VERSION.length;
  if (bytes[at] !== SPACE || !isExactly(bytes, version, VERSION) || bytes[end] !== CR || bytes[end + 1] !== LF) return undefined;
  const lines = plainLines(bytes, end + 2, limits);
  return lines && lines.hostTo > 0 ? new PlainRequestHead(bytes, lines, known.method) : undefined;
}

/** The same of a response. */
export function plainResponseHead(bytes: Buffer): PlainResponseHead | undefined {
  if (!isExactly(bytes, 0, VERSION) || bytes[8] !== SPACE || bytes[12] !== SPACE) return undefined;
  const status = digit(bytes[9]) * 100 + digit(bytes[10]) * 10 + digit(bytes[11]);
  // This also rejects NaN.
  if (!(status >= 200 && status < 600) || status === 204 || status === 304) return undefined;
  let at = 13;
  while (at < bytes.length && isOfReason(bytes[at] ?? 0)) at++;
  if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
  const lines = plainLines(bytes, at + 2, HEAD_LIMITS);
  return lines && lines.hostTo === 0 ? new PlainResponseHead(bytes, lines, status) : undefined;
}

function beginningOf(bytes: Buffer, known: readonly Beginning[]): Beginning | undefined {
  for (const beginning of known) if (isExactly(bytes, 0, beginning.start)) return beginning;
  return undefined;
}

function isVisible(code: number): boolean {
  return code > SPACE && code < 0x7f;
}

function isOfReason(code: number): boolean {
  return code >= SPACE && code < 0x7f;
}

function digit(code: number | undefined): number {
  return code !== undefined && code >= 0x30 && code <= 0x39 ? code - 0x30 : Number.NaN;
}
