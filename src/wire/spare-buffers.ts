import { LargeBuffer } from './large-buffer.ts';
import type { ByteSocket } from './socket.ts';

/** Holds at least one frame of the maximum size, and one read of a socket. */
export const BUFFER_BYTES = 128 * 1024;
/** Shared by all sessions: an idle session holds none. Further buffers are left to the garbage collector. */
const MAX_SPARE = 32;
/** Copies up to this size come from Node's own pool. */
const SMALL = 4096;
const spare: Buffer[] = [];
const NOTHING_HELD = (): void => undefined;

/** A buffer of BUFFER_BYTES with arbitrary contents, recycled if possible: allocating memory costs more than using it. */
export function spareBuffer(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
}

/** Returns a spare buffer, or any part of it, when its bytes are no longer needed. */
function recycle(bytes: Buffer): void {
  if (spare.length < MAX_SPARE) spare.push(Buffer.from(bytes.buffer, 0, BUFFER_BYTES));
}

/** Writes a part of a spare buffer, which is reused when the socket has taken it. @returns as `ByteSocket.write` */
export function writeSpare(socket: ByteSocket, bytes: Buffer): boolean {
  return socket.write(bytes, () => recycle(bytes));
}

/** Writes bytes that may change afterwards: copies them, or keeps the buffer that they were read into. @returns as `ByteSocket.write` */
export function writeLent(socket: ByteSocket, bytes: Buffer): boolean {
  if (socket.takesAtOnce) return socket.write(bytes, NOTHING_HELD);
  const large = LargeBuffer.of(bytes);
  if (large) return large.write(socket, bytes);
  if (bytes.length <= SMALL || bytes.length > BUFFER_BYTES) return socket.write(Buffer.from(bytes));
  const copy = spareBuffer().subarray(0, bytes.length);
  copy.set(bytes);
  return writeSpare(socket, copy);
}
