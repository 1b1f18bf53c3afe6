/** A FIFO queue of bytes. */
export class ByteQueue {
  #chunks: Buffer[] = [];
  #length = 0;

  /** Bytes in it. */
  get length(): number {
    return this.#length;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Removes the first bytes, at most `most`, from one chunk; the queue must not be empty. */
  take(most: number): Buffer {
    const [first] = this.#chunks;
    if (first === undefined) throw new Error('nothing is queued');
    const taken = first.subarray(0, most);
    if (taken.length === first.length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(taken.length);
    this.#length -= taken.length;
    return taken;
  }

  clear(): void {
    this.#chunks = [];
    this.#length = 0;
  }
}
