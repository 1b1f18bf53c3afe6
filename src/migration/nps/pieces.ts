import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { TextDecoder } from 'node:util';
import { jsonFaults, stringEnd } from './json-check.ts';

/** A record of a file, or why it can't be read. */
export interface Piece {
  /** Its place in the file, counted from 1. */
  readonly number: number;
  /** The id of a record that can't be read, as far as it can be recognized. */
  readonly id: string | undefined;
  /** undefined = it can't be read */
  readonly value: unknown;
  readonly faults: readonly { readonly field: string; readonly text: string }[];
}

const separator = Buffer.from('\n*#*');
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Why a file can't be read as a text, by its beginning; undefined = it may be one. */
function encodingFault(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xEF && bytes[1] === 0xBB && bytes[2] === 0xBF) return 'begins with a byte order mark: save it as UTF-8 without one';
  if ((bytes[0] === 0xFF && bytes[1] === 0xFE) || (bytes[0] === 0xFE && bytes[1] === 0xFF)) return 'is UTF-16: save it as UTF-8';
  return bytes.subarray(0, 200).includes(0) ? 'holds NUL bytes: it is not a text in UTF-8' : undefined;
}

/** Maximum size of a record, and of a file that is not a list of records, in bytes: the longest list of addresses has 1 MB. */
const mostBytes = 8 * 1024 * 1024;
const tooLong = `is longer than ${mostBytes / 1024 ** 2} MB`;

/** Why a file has no records, by its beginning; undefined = it may have. @throws the system's error */
export function fileFault(file: string): string | undefined {
  // To open a pipe would wait for somebody who writes to it.
  if (!statSync(file).isFile()) return 'is not a file';
  const descriptor = openSync(file, 'r');
  try {
    const start = Buffer.alloc(200);
    const bytes = start.subarray(0, readSync(descriptor, start));
    return encodingFault(bytes) ?? (bytes.toString('latin1').trimStart().startsWith('[') ? 'is a JSON array, not records that end with *#*' : undefined);
  } finally {
    closeSync(descriptor);
  }
}

/** A file as a whole. @throws {Error} with the problem, or the system's error */
export function readWhole(file: string): Buffer {
  const stats = statSync(file);
  if (!stats.isFile()) throw new Error('is not a file');
  if (stats.size > mostBytes) throw new Error(tooLong);
  const bytes = readFileSync(file);
  const fault = encodingFault(bytes);
  if (fault !== undefined) throw new Error(fault);
  return bytes;
}

/** Bytes that are read at once: a folder of a large server has files of 100 MB. */
const chunkSize = 1024 * 1024;

/** The records of a file: each is one JSON object, followed by a line feed and `*#*`. @throws the system's error */
export function* piecesOf(file: string): Generator<Piece> {
  const descriptor = openSync(file, 'r');
  try {
    yield* split(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function* split(descriptor: number): Generator<Piece> {
  let rest: Buffer = Buffer.alloc(0);
  /** The beginning of a record that is too long; its other bytes are skipped. */
  let long: Buffer | undefined;
  for (let number = 1, searched = 0;;) {
    const end = rest.indexOf(separator, searched);
    if (end >= 0) {
      const piece = rest.subarray(0, end);
      rest = rest.subarray(end + separator.length);
      searched = 0;
      if (long !== undefined || piece.length > mostBytes) yield refused(long ?? piece, number, tooLong);
      else if (!isBlank(piece)) yield pieceOf(piece, number);
      long = undefined;
      number++;
      continue;
    }
    if (rest.length > mostBytes) {
      long ??= rest.subarray(0, chunkSize);
      rest = rest.subarray(rest.length - separator.length);
    }
    searched = Math.max(0, rest.length - separator.length);
    const chunk = Buffer.allocUnsafe(chunkSize);
    const length = readSync(descriptor, chunk);
    if (length === 0) {
      if (long !== undefined) yield refused(long, number, tooLong);
      else if (!isBlank(rest)) yield truncated(pieceOf(rest, number), recognizedId(rest));
      return;
    }
    rest = Buffer.concat([rest, chunk.subarray(0, length)]);
  }
}

function refused(bytes: Buffer, number: number, text: string): Piece {
  return { number, id: recognizedId(bytes), value: undefined, faults: [{ field: '', text }] };
}

/** A complete file ends with the separator: what follows the last one is a write that never finished. */
function truncated(piece: Piece, id: string | undefined): Piece {
  return piece.faults.length === 0
    ? { ...piece, id, value: undefined, faults: [{ field: '', text: 'the file ends without *#* after this record: it is truncated' }] }
    : { ...piece, faults: piece.faults.map(({ field, text }) => ({ field, text: `${text}; the file is truncated here` })) };
}

function isBlank(piece: Buffer): boolean {
  return piece.every((byte) => byte === 0x20 || byte === 0x0A || byte === 0x0D || byte === 0x09);
}

/** Reads one record. */
export function pieceOf(bytes: Buffer, number: number): Piece {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return refused(bytes, number, `is not UTF-8 (${fieldOfBadByte(bytes)})`);
  }
  try {
    const value: unknown = JSON.parse(text);
    const faults = jsonFaults(text);
    return faults.length > 0 ? { number, id: recognizedId(bytes), value: undefined, faults } : { number, id: undefined, value, faults };
  } catch {
    return refused(bytes, number, 'is not JSON');
  }
}

/** The `Id` at the beginning of a record: objects inside it may have one, too, but NPS writes its own first or after `{`. */
function recognizedId(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1');
  let depth = 0;
  const token = /["{}]/g;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '{') depth++;
    else if (found[0] === '}') depth--;
    else {
      token.lastIndex = stringEnd(text, found.index);
      if (depth !== 1 || !/^"Id"$/i.test(text.slice(found.index, Math.min(token.lastIndex, found.index + 5)))) continue;
      const [, id] = /^\s{0,20}:\s{0,20}(-?\d{1,20})/.exec(text.slice(token.lastIndex, token.lastIndex + 64)) ?? [];
      if (id !== undefined) return id;
    }
  }
  return undefined;
}

/** Names the last key before the first byte that is not UTF-8. */
function fieldOfBadByte(bytes: Buffer): string {
  const shown = new TextDecoder('utf-8').decode(bytes);
  const before = shown.slice(0, shown.indexOf('\uFFFD'));
  const keys = Array.from(before.matchAll(/"([A-Za-z]+)"\s*:/g), ([, key]) => key);
  return keys.at(-1) ?? 'before its first field';
}
