import type { ByteSocket } from './socket.ts';

/** How much a bulk socket reads at once. */
const LARGE_BYTES = 256 * 1024;
/** The same while other sockets wait. */
const PART_BYTES = 64 * 1024;
/** Maximum large buffers of the process, including those held by pending writes. Sockets without one read less at once, and their bytes are copied. */
const MOST = 64;
/** A read of MUCH bytes gives the socket a large buffer; a read of less than LITTLE takes it away again. */
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
  /** Writes on a lost connection may never report completion. */
  static readonly #lost = new FinalizationRegistry<undefined>(() => {
    LargeBuffer.#made--;
  });
  static #lent: LargeBuffer | undefined;

  /** The buffer for reads. */
  readonly bytes: Buffer = Buffer.allocUnsafeSlow(LARGE_BYTES);
  /** The beginning of the buffer, used for reads while other sockets wait. */
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

  /** Sets the buffer of the bytes delivered next; undefined = none of these. */
  static lend(buffer: LargeBuffer | undefined): void {
    LargeBuffer.#lent = buffer;
  }

  /** The lent buffer, if it contains these bytes and they are worth keeping it. */
  static of(bytes: Buffer): LargeBuffer | undefined {
    const lent = LargeBuffer.#lent;
    return bytes.length >= WORTH_KEEPING && lent?.bytes.buffer === bytes.buffer ? lent : undefined;
  }

  /** The socket no longer reads into this buffer. */
  leave(): void {
    this.#left = true;
    this.#recycle();
  }

  /** Writes a part of the buffer, which is kept until the write is done. @returns as `ByteSocket.write` */
  write(socket: ByteSocket, part: Buffer): boolean {
    let taken = false;
    let kept = false;
    const more = socket.write(part, () => {
      taken = true;
      if (!kept) return;
      this.#writes--;
      this.#recycle();
    });
    // Node reports completion later than the kernel took the bytes.
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
