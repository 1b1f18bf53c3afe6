import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type net from 'node:net';

const BLOCK = 64 * 1024;

/** Bytes that differ at every position and for every seed, made as fast as they can be sent. */
export function* payload(bytes: number, seed: number): Generator<Buffer> {
  for (let sent = 0; sent < bytes; sent += BLOCK) {
    const block = Buffer.alloc(Math.min(BLOCK, bytes - sent));
    let state = (seed * 2654435761 + sent) >>> 0 || 1;
    for (let i = 0; i < block.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      block[i] = state;
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

/** Sends a payload at the receiver's pace and ends the direction. */
export async function sendPayload(socket: net.Socket, bytes: number, seed: number): Promise<void> {
  for (const block of payload(bytes, seed)) {
    if (!socket.write(block)) await once(socket, 'drain');
  }
  socket.end();
}

/** Reads until the peer ends; hash and length of what came. A slow reader lets the event loop turn a few times after each chunk. */
export async function receive(socket: net.Socket, slow = false): Promise<{ readonly bytes: number; readonly hash: string }> {
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
