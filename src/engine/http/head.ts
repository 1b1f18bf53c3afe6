import { remember } from '../../rules/remember.ts';
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

/** What every head is held to, unless the settings say otherwise. */
export const HEAD_LIMITS: HeadLimits = { bytes: MAX_HEAD, fields: MAX_FIELDS };

/** A header field as it was sent; the value is Latin-1, without the blanks around it. */
export interface Field {
  readonly name: string;
  readonly value: string;
}

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
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** A CR or LF that is none of a line's end, or a NUL. The last byte may be the CR of an LF that is still to come. */
const stray = /(?<!\r)\n|\r(?!\n|$)|\0/;
/** No control characters but the tab. */
const printable = /^[\t\x20-\x7e\x80-\xff]*$/;
const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e\x80-\xff]+) HTTP\/(\d)\.(\d)$/;
const statusLine = /^HTTP\/(\d)\.(\d) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;

/**
 * Reads the head of a request at the beginning of `bytes` (RFC 9112, and nothing that it only tolerates).
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

/** The name of a field in lower case; "" = it can't be one. */
export const lowerCase = remember((name) => (token.test(name) ? name.toLowerCase() : ''));

/** One line of a head or trailer, without its line end. @throws {HttpSyntaxError} */
export function parseField(line: string): Field {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0));
  // Blanks before the colon, and lines that continue the one before, fail here too.
  if (lowerCase(name) === '') throw new HttpSyntaxError('a header field is malformed');
  const value = trim(line, colon + 1);
  if (!printable.test(value)) throw new HttpSyntaxError('a header field holds control characters');
  return { name, value };
}

/** The values of all fields of that name, in their order. @param name in lower case */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  const values = [];
  for (const field of fields) {
    if (field.name.length === name.length && lowerCase(field.name) === name) values.push(field.value);
  }
  return values;
}

/** The elements of a comma-separated field, in lower case. @param name in lower case */
export function listOf(fields: readonly Field[], name: string): string[] {
  const list = [];
  for (const value of valuesOf(fields, name)) {
    for (const part of value.split(',')) {
      const item = trim(part, 0).toLowerCase();
      if (item !== '') list.push(item);
    }
  }
  return list;
}

/** The bytes of a head: its first line, its fields, its empty line. */
export function formatHead(start: string, fields: readonly Field[]): Buffer {
  return withHead(headText(start, fields));
}

/** A head as text, one character for each byte. */
export function headText(start: string, fields: readonly Field[]): string {
  let text = `${start}\r\n`;
  for (const { name, value } of fields) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}

/** The bytes of a head, and behind it those of a body. */
export function withHead(head: string, body?: Buffer): Buffer {
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
    // Of a whole head the lines tell.
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
    fields.push(parseField(next < 0 ? text.slice(line + 2) : text.slice(line + 2, next)));
    line = next;
  }
  return { start, fields, length: at + END.length };
}

function minorOf(major: string | undefined, minor: string | undefined): 0 | 1 {
  if (major !== '1') throw new HttpSyntaxError('only HTTP/1.0 and HTTP/1.1 are spoken here', 505);
  return minor === '0' ? 0 : 1;
}

/**
 * Cuts spaces and tabs off both ends of the rest of a line: no other blanks, which String.trim knows and other programs don't, and
 * not in quadratic time, as a regular expression may.
 */
function trim(line: string, from: number): string {
  let [start, end] = [from, line.length];
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
