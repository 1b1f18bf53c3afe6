import { Field, lineText } from './field.ts';
import { HttpSyntaxError } from './syntax-error.ts';

/** How much a head may hold. */
export interface HeadLimits {
  /** In bytes, its empty line included. */
  readonly bytes: number;
  readonly fields: number;
}

/** Longest head in bytes, its empty line included. */
export const MAX_HEAD = 32 * 1024;
/** Most fields of a head, and of a trailer. */
export const MAX_FIELDS = 128;

/** The limits of every head, unless the settings specify others. */
export const HEAD_LIMITS: HeadLimits = { bytes: MAX_HEAD, fields: MAX_FIELDS };

interface Head {
  /** The y of HTTP/1.y. */
  readonly minor: 0 | 1;
  readonly fields: readonly Field[];
  /** Bytes of it, its empty line included. */
  readonly length: number;
}

/** The head of a request. */
export interface RequestHead extends Head {
  readonly method: string;
  /** As it was sent: origin, absolute, authority or asterisk form. */
  readonly target: string;
}

/** The head of a response. */
export interface ResponseHead extends Head {
  readonly status: number;
  readonly reason: string;
}

const END = Buffer.from('\r\n\r\n');
const CR = 0x0d;
/** A CR or LF outside a line end, or a NUL. A CR as the last byte is allowed: its LF may not have arrived yet. */
const stray = /(?<!\r)\n|\r(?!\n|$)|\0/;
const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e\x80-\xff]+) HTTP\/(\d)\.(\d)$/;
const statusLine = /^HTTP\/(\d)\.(\d) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;

/**
 * Parses the head of a request at the beginning of `bytes` (RFC 9112, without the leniency that it permits).
 * @returns undefined while its end is missing
 * @throws {HttpSyntaxError}
 */
export function parseRequestHead(bytes: Buffer, limits = HEAD_LIMITS): RequestHead | undefined {
  const head = split(bytes, limits);
  if (!head) return undefined;
  const match = requestLine.exec(head.start);
  if (!match) throw new HttpSyntaxError('the request line is malformed');
  const [, method = '', target = ''] = match;
  return { method, target, minor: minorOf(match[3], match[4]), fields: head.fields, length: head.length };
}

/**
 * Reads the head of a response at the beginning of `bytes`.
 * @returns undefined while its end is missing
 * @throws {HttpSyntaxError}
 */
export function parseResponseHead(bytes: Buffer): ResponseHead | undefined {
  const head = split(bytes, HEAD_LIMITS);
  if (!head) return undefined;
  const match = statusLine.exec(head.start);
  if (!match) throw new HttpSyntaxError('the status line is malformed');
  return { status: Number(match[3]), reason: match[4] ?? '', minor: minorOf(match[1], match[2]), fields: head.fields, length: head.length };
}

/**
 * Whether to parse a head again of which the first `looked` bytes were incomplete: its end has arrived, or it is too long or
 * malformed. Otherwise, a head that arrives byte by byte would be parsed again for every byte.
 */
export function isWorthReading(bytes: Buffer, looked: number, limits = HEAD_LIMITS): boolean {
  if (looked === 0 || bytes.length >= limits.bytes || bytes.includes(END, Math.max(0, looked - END.length + 1))) return true;
  // The last byte may have been a CR, or the LF of one.
  const from = bytes[looked - 1] === CR ? looked - 1 : looked;
  return stray.test(bytes.toString('latin1', from));
}

/** A parser of heads for bytes that grow from call to call: it parses only when {@link isWorthReading} says so. */
export function asItGrows<Parsed>(parse: (bytes: Buffer) => Parsed | undefined): (bytes: Buffer) => Parsed | undefined {
  let looked = 0;
  return (bytes) => {
    const parsed = isWorthReading(bytes, looked) ? parse(bytes) : undefined;
    looked = bytes.length;
    return parsed;
  };
}

/**
 * The bytes of a head: its first line, its fields and its empty line, followed by those of a body. All heads are written here.
 * @param start the first line
 */
export function formatHead(start: string, fields: readonly Field[], body?: Buffer): Buffer {
  return written(`${lineText(start)}\r\n${fieldLines(fields)}\r\n`, body);
}

/** The bytes of a trailer, or of the end of a head: its fields and its empty line. */
export function formatTrailer(fields: readonly Field[]): Buffer {
  return written(`${fieldLines(fields)}\r\n`);
}

/** The bytes of the first line of a head and of the fields behind it; others follow. */
export function formatStart(start: string, fields: readonly Field[]): Buffer {
  return written(`${lineText(start)}\r\n${fieldLines(fields)}`);
}

/** The bytes of some lines of a head. */
export function formatFields(fields: readonly Field[]): Buffer {
  return written(fieldLines(fields));
}

function fieldLines(fields: readonly Field[]): string {
  let text = '';
  for (const { name, value } of fields) text += `${name}: ${value}\r\n`;
  return text;
}

function written(head: string, body?: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + (body?.length ?? 0));
  bytes.write(head, 'latin1');
  if (body) bytes.set(body, head.length);
  return bytes;
}

function split(bytes: Buffer, limits: HeadLimits): { readonly start: string; readonly fields: Field[]; readonly length: number } | undefined {
  const end = bytes.indexOf(END);
  const at = end + END.length > limits.bytes ? -1 : end;
  const text = bytes.toString('latin1', 0, at < 0 ? Math.min(bytes.length, limits.bytes) : at);
  if (at < 0) {
    // Complete heads are checked line by line.
    if (stray.test(text)) throw new HttpSyntaxError('a line ends in another way than by CR LF, or holds a NUL');
    if (bytes.length >= limits.bytes) throw new HttpSyntaxError(`the head is longer than ${limits.bytes} bytes`, 431);
    return undefined;
  }
  const fields: Field[] = [];
  let line = text.indexOf('\r\n');
  const start = line < 0 ? text : text.slice(0, line);
  while (line >= 0) {
    const next = text.indexOf('\r\n', line + 2);
    if (fields.length === limits.fields) throw new HttpSyntaxError(`there are more than ${limits.fields} header fields`, 431);
    fields.push(Field.parse(next < 0 ? text.slice(line + 2) : text.slice(line + 2, next)));
    line = next;
  }
  return { start, fields, length: at + END.length };
}

function minorOf(major: string | undefined, minor: string | undefined): 0 | 1 {
  if (major !== '1') throw new HttpSyntaxError('only HTTP/1.0 and HTTP/1.1 are supported', 505);
  return minor === '0' ? 0 : 1;
}
