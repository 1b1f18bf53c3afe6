import type { ByteSocket } from './socket.ts';

/** What a socket that carries much reads at once. */
const LARGE_BYTES = 256 * 1024;
/** The same while others wait for it. */
const PART_BYTES = 64 * 1024;
/** Maximum large buffers of the process, including those that pending writes hold. Without one, a socket reads less at once, and the bytes are copied. */
const MOST = 64;
/** A read of this much gets its socket a large buffer, one of less than that little takes it back. */
const MUCH = 32 * 1024;
const LITTLE = 4 * 1024;
/** Less than this is copied: a write that has to wait would keep the whole buffer. */
const WORTH_KEEPING = 64 * 1024;

/**
 * A read buffer for a single bulk socket. Its bytes can be written without a copy: a write that has to wait
 * keeps the buffer, and the reader continues with another one.
 */
export class LargeBuffer {
  static readonly #spare: LargeBuffer[] = [];
  static #made = 0;
  /** Writes of a connection that was lost may never say that they are done with theirs. */
  static readonly #lost = new FinalizationRegistry<undefined>(() => { LargeBuffer.#made--; });
  static #lent: LargeBuffer | undefined;

  /** What is read into. */
  readonly bytes: Buffer = Buffer.allocUnsafeSlow(LARGE_BYTES);
  /** Its beginning, to be read into while others wait. */
  readonly part: Buffer = this.bytes.subarray(0, PART_BYTES);
  #writes = 0;
  #left = false;

  /**
   * The buffer for the next read of a socket.
   * @param current the buffer of the last read
   * @param length bytes that were read last
   * @returns undefined = the buffer that all sockets share
   */
  static next(current: LargeBuffer | undefined, length: number): LargeBuffer | undefined {
    const much = length >= (current ? LITTLE : MUCH);
    if (current && much && current.#writes === 0) return current;
    current?.leave();
    return much ? LargeBuffer.#take() : undefined;
  }

  static #take(): LargeBuffer | undefined {
    const spare = LargeBuffer.#spare.pop();
    if (spare) {
      spare.#left = false;
      return spare;
    }
    if (LargeBuffer.#made >= MOST) return undefined;
    LargeBuffer.#made++;
    const made = new LargeBuffer();
    LargeBuffer.#lost.register(made, undefined);
    return made;
  }

  /** Sets the buffer that the following bytes are in; undefined = none of these. */
  static lend(buffer: LargeBuffer | undefined): void {
    LargeBuffer.#lent = buffer;
  }

  /** The buffer that is lent and holds these bytes, if keeping it for them is worth it. */
  static of(bytes: Buffer): LargeBuffer | undefined {
    const lent = LargeBuffer.#lent;
    return bytes.length >= WORTH_KEEPING && lent?.bytes.buffer === bytes.buffer ? lent : undefined;
  }

  /** Its socket reads into it no more. */
  leave(): void {
    this.#left = true;
    this.#recycle();
  }

  /** Writes a part of it, and keeps it for as long as that takes. @returns as `ByteSocket.write` */
  write(socket: ByteSocket, part: Buffer): boolean {
    let taken = false;
    let kept = false;
    const more = socket.write(part, () => {
      taken = true;
      if (!kept) return;
      this.#writes--;
      this.#recycle();
    });
    // Node reports bytes as taken later than the kernel took them.
    if (!taken && socket.pending > 0) {
      kept = true;
      this.#writes++;
    }
    return more;
  }

  #recycle(): void {
    if (this.#left && this.#writes === 0) LargeBuffer.#spare.push(this);
  }
}
