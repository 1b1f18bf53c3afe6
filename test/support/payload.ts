import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

const BLOCK = 64 * 1024;

/** Every so many seeds' bytes shrink to about a third when they are compressed; the others' don't. */
const SHRINKING = 4;

/** Bytes that differ for every seed, made as fast as they can be sent. */
export function* payload(bytes: number, seed: number): Generator<Buffer> {
  for (let sent = 0; sent < bytes; sent += BLOCK) {
    const block = Buffer.alloc(Math.min(BLOCK, bytes - sent));
    const mask = seed % SHRINKING === 0 ? 3 : 255;
    let state = (seed * 2654435761 + sent) >>> 0 || 1;
    for (let i = 0; i < block.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      block[i] = state & mask;
    }
    yield block;
  }
}

/** The hash of a whole payload, in hex. */
export function hashOf(bytes: number, seed: number): string {
  const hash = createHash('sha256');
  for (const block of payload(bytes, seed)) hash.update(block);
  return hash.digest('hex');
}

/** Sends a payload at the receiver's pace. */
export async function writePayload(socket: Writable, bytes: number, seed: number): Promise<void> {
  for (const block of payload(bytes, seed)) {
    if (!socket.write(block)) await once(socket, 'drain');
  }
}

/** Sends a payload at the receiver's pace and ends the direction. */
export async function sendPayload(socket: Writable, bytes: number, seed: number): Promise<void> {
  await writePayload(socket, bytes, seed);
  socket.end();
}

/** What came. */
export interface Received {
  readonly bytes: number;
  /** In hex. */
  readonly hash: string;
}

/** Reads until the peer ends; hash and length of what came. A slow reader lets the event loop turn a few times after each chunk. */
export async function receive(socket: Readable, slow = false): Promise<Received> {
  const hash = createHash('sha256');
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    if (!slow) return;
    socket.pause();
    setTimeout(() => socket.resume(), 2);
  });
  socket.resume();
  await once(socket, 'end');
  return { bytes, hash: hash.digest('hex') };
}
