import { mentionsSession } from '../../rules/session-cookie.ts';
import type { HeadLimits } from './head.ts';

/** The result of one pass over the lines of a plain head. Positions are offsets in its bytes. */
export interface PlainLines {
  /** Where the first line ends, its line end included. */
  start: number;
  /** Bytes of the head, its empty line included. */
  length: number;
  /** Where the value of Host begins and ends; 0 = there is none. */
  hostFrom: number;
  hostTo: number;
  /** The value of Content-Length; -1 = there is none. */
  contentLength: number;
  /** Transfer-Encoding is `chunked`. */
  chunked: boolean;
  /** Connection is `close`. */
  closes: boolean;
  /** Start and end of the first line that is not passed on; both are the end of the fields if there is none. */
  cut: number;
  afterCut: number;
  /** The second such line. */
  secondCut: number;
  afterSecondCut: number;
}

const [CR, LF, COLON, SPACE, TAB, ZERO, NINE] = [0x0d, 0x0a, 0x3a, 0x20, 0x09, 0x30, 0x39];
/** Makes an ASCII letter lower-case, and leaves digits and hyphens as they are. */
const SMALL = 0x20;

/** By code, 1 = allowed: in a name (without `_`, which some programs treat as `-`), a value, a host. */
const NAME = tableOf(/[A-Za-z0-9-]/);
const VALUE = tableOf(/[\t\x20-\x7e\x80-\xff]/);
const HOST = tableOf(/[A-Za-z0-9.:[\]-]/);

function tableOf(allowed: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (allowed.test(String.fromCharCode(code)) ? 1 : 0));
}

/** What a field means to this server. Fields of all other names are passed on as they are. */
type Meaning = 'host' | 'connection' | 'keepAlive' | 'length' | 'coding' | 'cookie' | 'unusual';

/**
 * Contains every name that the strict path changes, omits or reads (end-to-end.ts, vhost/target/request-fields.ts, body.ts). `close` is included,
 * since `Connection: close` removes a field of that name.
 */
const meanings: ReadonlyArray<readonly [Meaning, readonly string[]]> = [
  ['host', ['host']],
  ['connection', ['connection']],
  ['keepAlive', ['keep-alive']],
  ['length', ['content-length']],
  ['coding', ['transfer-encoding']],
  ['cookie', ['cookie', 'set-cookie']],
  ['unusual', [
    'close',
    'proxy-connection',
    'proxy-authorization',
    'proxy-authenticate',
    'te',
    'upgrade',
    'http2-settings',
    'proxy',
    'expect',
    'trailer',
    'x-forwarded-for',
    'x-real-ip',
    'x-forwarded-proto',
    'x-forwarded-host',
    'forwarded',
  ]],
];

interface Known {
  readonly meaning: Meaning;
  /** In lower case. */
  readonly name: Uint8Array;
}

const LONGEST = 31;
/** By `slotOf`: no two of the names have the same first letter and length. */
const known: Array<Known | undefined> = Array.from({ length: 32 * (LONGEST + 1) });
for (const [meaning, names] of meanings) {
  for (const name of names) {
    const slot = slotOf(name.charCodeAt(0), name.length);
    if (known[slot] || name.length > LONGEST) throw new Error(`${name} needs another table`);
    known[slot] = { meaning, name: Buffer.from(name) };
  }
}

function slotOf(first: number, length: number): number {
  return (first & 31) * (LONGEST + 1) + length;
}

const CONTENT_LENGTH = Buffer.from('Content-Length');
const CHUNKED = Buffer.from('Transfer-Encoding: chunked');
const KEEP_ALIVE = Buffer.from('keep-alive');
const CLOSE = Buffer.from('close');

/**
 * Finds the lines of a head in one pass over its bytes, if it is plain: each field is `Name: value` with only one interpretation, and all lines but
 * at most two are passed on unchanged. undefined = it is not plain, or not complete, and is left to the strict
 * parser (head.ts), which also accepts all these heads and reads them identically (test/fuzz/plain-heads.test.ts).
 * @param at where the first field begins
 */
export function plainLines(bytes: Buffer, at: number, limits: HeadLimits): PlainLines | undefined {
  const most = Math.min(bytes.length, limits.bytes);
  const lines: PlainLines = {
    start: at,
    length: 0,
    hostFrom: 0,
    hostTo: 0,
    contentLength: -1,
    chunked: false,
    closes: false,
    cut: 0,
    afterCut: 0,
    secondCut: 0,
    afterSecondCut: 0,
  };
  /** Whether the fields that may occur only once were seen. */
  let connection = false;
  let keepAlive = false;
  for (let count = 0; at + 1 < most; count++) {
    const line = at;
    let code = bytes[at] ?? 0;
    if (code === CR) return bytes[at + 1] === LF ? ended(lines, at) : undefined;
    if (count === limits.fields) return undefined;
    while (NAME[code] === 1 && ++at < most) code = bytes[at] ?? 0;
    const nameTo = at;
    const from = nameTo + 2;
    if (code !== COLON || nameTo === line || from >= most || bytes[nameTo + 1] !== SPACE || isBlank(bytes[from])) return undefined;
    at = from;
    while (at < most && VALUE[bytes[at] ?? 0] === 1) at++;
    const to = at;
    if (to === from || isBlank(bytes[to - 1]) || at + 1 >= most || bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
    at += 2;
    const length = nameTo - line;
    const candidate = length > LONGEST ? undefined : known[slotOf(bytes[line] ?? 0, length)];
    if (!candidate || !isSmall(bytes, line, candidate.name)) continue;
    switch (candidate.meaning) {
      case 'host':
        if (lines.hostTo > 0 || !cut(lines, line, at)) return undefined;
        for (let i = from; i < to; i++) if (HOST[bytes[i] ?? 0] !== 1) return undefined;
        lines.hostFrom = from;
        lines.hostTo = to;
        break;
      case 'connection':
        if (connection || !cut(lines, line, at)) return undefined;
        connection = true;
        lines.closes = isText(bytes, from, to, CLOSE);
        if (!lines.closes && !isText(bytes, from, to, KEEP_ALIVE)) return undefined;
        break;
      case 'keepAlive':
        if (keepAlive || !cut(lines, line, at)) return undefined;
        keepAlive = true;
        break;
      case 'length':
        if (lines.contentLength >= 0 || lines.chunked || !isExactly(bytes, line, CONTENT_LENGTH)) return undefined;
        lines.contentLength = canonicalNumber(bytes, from, to);
        if (lines.contentLength < 0) return undefined;
        break;
      case 'coding':
        if (lines.contentLength >= 0 || lines.chunked || to - line !== CHUNKED.length || !isExactly(bytes, line, CHUNKED)) return undefined;
        lines.chunked = true;
        break;
      case 'cookie':
        if (mentionsSession(bytes.toString('latin1', from, to))) return undefined;
        break;
      case 'unusual':
        return undefined;
    }
  }
  return undefined;
}

function ended(lines: PlainLines, at: number): PlainLines {
  lines.length = at + 2;
  if (lines.cut === 0) lines.cut = lines.afterCut = at;
  if (lines.secondCut === 0) lines.secondCut = lines.afterSecondCut = at;
  return lines;
}

/** Omits a line. @returns false = two are omitted already */
function cut(lines: PlainLines, from: number, to: number): boolean {
  if (lines.secondCut > 0) return false;
  if (lines.cut === 0) {
    lines.cut = from;
    lines.afterCut = to;
  } else {
    lines.secondCut = from;
    lines.afterSecondCut = to;
  }
  return true;
}

function isBlank(code: number | undefined): boolean {
  return code === SPACE || code === TAB;
}

/** @param name in lower case, with the same length as the bytes */
function isSmall(bytes: Buffer, at: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (((bytes[at + i] ?? 0) | SMALL) !== name[i]) return false;
  return true;
}

/** @param text in lower case */
function isText(bytes: Buffer, from: number, to: number, text: Uint8Array): boolean {
  // A CR would compare equal to a hyphen, but no value contains one.
  return to - from === text.length && isSmall(bytes, from, text);
}

/** Whether these exact bytes are at an offset. */
export function isExactly(bytes: Buffer, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

/** A decimal number without leading zeros, of at most 15 digits; -1 = not such a number. */
function canonicalNumber(bytes: Buffer, from: number, to: number): number {
  if (to - from > 15 || (bytes[from] === ZERO && to - from > 1)) return -1;
  let number = 0;
  for (let i = from; i < to; i++) {
    const code = bytes[i] ?? 0;
    if (code < ZERO || code > NINE) return -1;
    number = number * 10 + code - ZERO;
  }
  return number;
}
