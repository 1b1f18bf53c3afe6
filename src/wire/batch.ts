import { HEADER_BYTES, type FrameType } from './frames.ts';
import { BUFFER_BYTES, spareBuffer } from './spare-buffers.ts';

/** Frames of one iteration of the event loop, copied into few large buffers that are written at once. */
export class Batch {
  #full: Buffer[] = [];
  #current: Buffer | undefined;
  #used = 0;
  #fullBytes = 0;

  /** Bytes waiting, headers included. */
  get size(): number {
    return this.#fullBytes + this.#used;
  }

  /** Appends a frame; the payload is copied. */
  frame(type: FrameType, stream: number, payload?: Uint8Array): void {
    const length = payload?.length ?? 0;
    const buffer = this.#space(HEADER_BYTES + length);
    const at = this.#used;
    buffer[at] = type;
    buffer.writeUInt32BE(stream, at + 1);
    buffer.writeUInt32BE(length, at + 5);
    if (payload) buffer.set(payload, at + HEADER_BYTES);
    this.#used = at + HEADER_BYTES + length;
  }

  /** Appends a frame whose payload is one u32. */
  frameU32(type: FrameType, stream: number, value: number): void {
    const buffer = this.#space(HEADER_BYTES + 4);
    const at = this.#used;
    buffer[at] = type;
    buffer.writeUInt32BE(stream, at + 1);
    buffer.writeUInt32BE(4, at + 5);
    buffer.writeUInt32BE(value, at + HEADER_BYTES);
    this.#used = at + HEADER_BYTES + 4;
  }

  /** Passes every waiting buffer to `write`, oldest first, and empties the batch. */
  drainTo(write: (bytes: Buffer) => void): void {
    for (const buffer of this.#full) write(buffer);
    if (this.#full.length > 0) this.#full = [];
    this.#fullBytes = 0;
    if (this.#current) {
      const bytes = this.#current.subarray(0, this.#used);
      this.#current = undefined;
      this.#used = 0;
      write(bytes);
    }
  }

  #space(bytes: number): Buffer {
    if (this.#current && this.#used + bytes <= BUFFER_BYTES) return this.#current;
    if (this.#current) {
      this.#full.push(this.#current.subarray(0, this.#used));
      this.#fullBytes += this.#used;
    }
    this.#used = 0;
    this.#current = spareBuffer();
    return this.#current;
  }
}
