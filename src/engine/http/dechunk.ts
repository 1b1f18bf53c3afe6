import { isLineEnd, plainChunkSize } from './chunk-size.ts';
import { Field } from './field.ts';

const NOTHING = Buffer.alloc(0);

/** Removes the chunked coding from a body whose format was checked before (BodyEnd). */
export class Dechunker {
  #state: 'size' | 'data' | 'dataEnd' | 'trailer' = 'size';
  #missing = 0;
  #line = '';
  readonly #trailers: Field[] = [];

  /** The fields after the content, as far as they have come. */
  get trailers(): readonly Field[] {
    return this.#trailers;
  }

  /** @returns the content in these bytes, as one piece however many chunks it came in: each piece would cost a write */
  push(bytes: Buffer): Buffer {
    let content: Buffer = NOTHING;
    /** The buffer in which chunks are joined, and its fill level. */
    let joined: Buffer | undefined;
    let length = 0;
    for (let at = 0; at < bytes.length;) {
      if (this.#state !== 'data') {
        at = this.#takeLine(bytes, at);
        continue;
      }
      const end = Math.min(bytes.length, at + this.#missing);
      if (content.length === 0) {
        content = bytes.subarray(at, end);
      } else {
        if (!joined) length = content.copy(joined = Buffer.allocUnsafe(bytes.length));
        length += bytes.copy(joined, length, at, end);
      }
      this.#missing -= end - at;
      if (this.#missing === 0) this.#state = 'dataEnd';
      at = end;
    }
    return joined ? joined.subarray(0, length) : content;
  }

  /** @returns the offset at which to continue */
  #takeLine(bytes: Buffer, from: number): number {
    if (this.#line === '') {
      const size = this.#state === 'size' ? plainChunkSize(bytes, from) : undefined;
      if (size) {
        this.#onSize(size.size);
        return size.end;
      }
      if (this.#state === 'dataEnd' && isLineEnd(bytes, from)) {
        this.#state = 'size';
        return from + 2;
      }
    }
    const newline = bytes.indexOf(0x0a, from);
    const end = newline < 0 ? bytes.length : newline + 1;
    this.#line += bytes.toString('latin1', from, end);
    if (newline >= 0) this.#onLine();
    return end;
  }

  #onLine(): void {
    const line = this.#line;
    this.#line = '';
    if (this.#state === 'dataEnd') this.#state = 'size';
    else if (this.#state === 'size') this.#onSize(Number.parseInt(line, 16));
    else if (line !== '\r\n') this.#trailers.push(Field.parse(line.slice(0, -2)));
  }

  #onSize(size: number): void {
    this.#missing = size;
    this.#state = size === 0 ? 'trailer' : 'data';
  }
}
