import { afterEach, expect, test } from '@jest/globals';
import { LargeBuffer } from '../../src/wire/large-buffer.ts';
import { writeLent } from '../../src/wire/spare-buffers.ts';
import { EmptySocket } from '../support/empty-socket.ts';

const KB = 1024;

/** Accepts no written bytes until the test allows it. */
class FullSocket extends EmptySocket {
  override pending = 0;
  readonly written: Buffer[] = [];
  readonly #taken: (() => void)[] = [];

  override write(chunk: Buffer, taken?: () => void): boolean {
    this.written.push(chunk);
    this.pending += chunk.length;
    if (taken) this.#taken.push(taken);
    return false;
  }

  take(): void {
    this.written.length = 0;
    this.pending = 0;
    for (const taken of this.#taken.splice(0)) taken();
  }
}

/** Takes everything at once, and says so later. */
class QuickSocket extends EmptySocket {
  readonly written: Buffer[] = [];
  override write(chunk: Buffer): boolean {
    this.written.push(chunk);
    return true;
  }
}

/** A socket's first large buffer. @throws when there is none left */
function taken(): LargeBuffer {
  const buffer = LargeBuffer.next(undefined, 128 * KB);
  if (!buffer) throw new Error('there is none');
  return buffer;
}

afterEach(() => LargeBuffer.lend(undefined));

test('a socket that reads much has a large buffer until it reads little', () => {
  expect(LargeBuffer.next(undefined, 31 * KB)).toBeUndefined();
  const buffer = taken();
  expect(buffer.bytes.length).toBe(256 * KB);
  expect(LargeBuffer.next(buffer, 5 * KB)).toBe(buffer);
  expect(LargeBuffer.next(buffer, 3 * KB)).toBeUndefined();
});

test('a write that waits keeps what was read, and the reader goes on with another buffer', () => {
  const buffer = taken();
  const socket = new FullSocket();
  LargeBuffer.lend(buffer);
  writeLent(socket, buffer.bytes.subarray(0, 100 * KB));
  expect(socket.written[0]?.buffer).toBe(buffer.bytes.buffer);
  const second = LargeBuffer.next(buffer, 100 * KB);
  expect(second).not.toBe(buffer);
  // Nobody gets it before it was written.
  const third = taken();
  expect(third).not.toBe(buffer);
  socket.take();
  expect(taken()).toBe(buffer);
  for (const each of [buffer, second, third]) each?.leave();
});

test('what a socket took at once, or too little to keep a large buffer for, leaves the buffer to its reader', () => {
  const buffer = taken();
  const [quick, full] = [new QuickSocket(), new FullSocket()];
  LargeBuffer.lend(buffer);
  writeLent(quick, buffer.bytes.subarray(0, 100 * KB));
  expect(quick.written[0]?.buffer).toBe(buffer.bytes.buffer);
  writeLent(full, buffer.bytes.subarray(0, 10 * KB));
  expect(full.written[0]?.buffer).not.toBe(buffer.bytes.buffer);
  expect(LargeBuffer.next(buffer, 100 * KB)).toBe(buffer);
  buffer.leave();
});

test('bytes that were not read into the buffer that is lent are copied', () => {
  const buffer = taken();
  const socket = new FullSocket();
  LargeBuffer.lend(buffer);
  const other = Buffer.alloc(100 * KB, 1);
  writeLent(socket, other);
  LargeBuffer.lend(undefined);
  writeLent(socket, buffer.bytes.subarray(0, 100 * KB));
  other.fill(2);
  expect(socket.written[0]?.[0]).toBe(1);
  expect(socket.written[1]?.buffer).not.toBe(buffer.bytes.buffer);
  expect(LargeBuffer.next(buffer, 100 * KB)).toBe(buffer);
  buffer.leave();
});

test('a process has 64 of them at most, those that writes keep included', () => {
  const socket = new FullSocket();
  const all: LargeBuffer[] = [];
  for (let buffer = taken();; buffer = taken()) {
    all.push(buffer);
    LargeBuffer.lend(buffer);
    writeLent(socket, buffer.bytes.subarray(0, 64 * KB));
    // It is kept; there may be another one.
    const next = LargeBuffer.next(buffer, 100 * KB);
    if (!next) break;
    next.leave();
  }
  expect(all.length).toBeLessThanOrEqual(64);
  expect(LargeBuffer.next(undefined, 128 * KB)).toBeUndefined();
  socket.take();
  expect(all).toContain(taken());
});

test('a copy of lent bytes is kept until they were written, and its memory is used again then', () => {
  const socket = new FullSocket();
  const lend = (bytes: number, value: number): void => {
    const lent = Buffer.alloc(bytes, value);
    writeLent(socket, lent);
    lent.fill(0);
  };
  // Of each way to copy: little, much, and more than a spare buffer holds.
  const sizes = [1, 4096, 4097, 10 * KB, 128 * KB, 128 * KB + 1];
  for (const [index, bytes] of sizes.entries()) lend(bytes, index + 1);
  expect(socket.written.map((bytes) => [bytes.length, bytes[0], bytes.at(-1)])).toEqual(sizes.map((bytes, index) => [bytes, index + 1, index + 1]));
  const memory = socket.written.slice(2, 5).map(({ buffer }) => buffer);
  expect(new Set(memory).size).toBe(3);
  socket.take();
  for (let index = 0; index < 3; index++) lend(10 * KB, 9);
  expect(new Set([...memory, ...socket.written.map(({ buffer }) => buffer)]).size).toBe(3);
  socket.take();
});
