import { Field } from './field.ts';

/** Takes the chunked coding off a body whose form was checked before (BodyEnd): what is left are its bytes. */
export class Dechunker {
  #state: 'size' | 'data' | 'dataEnd' | 'trailer' = 'size';
  #missing = 0;
  #line = '';
  readonly #trailers: Field[] = [];

  /** The fields after the content, as far as they have come. */
  get trailers(): readonly Field[] {
    return this.#trailers;
  }

  /** Calls `onData` with each piece of the content. */
  push(bytes: Buffer, onData: (piece: Buffer) => void): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'data') {
        const piece = bytes.subarray(at, at + this.#missing);
        at += piece.length;
        this.#missing -= piece.length;
        onData(piece);
        if (this.#missing === 0) this.#state = 'dataEnd';
        continue;
      }
      const newline = bytes.indexOf(0x0a, at);
      const end = newline < 0 ? bytes.length : newline + 1;
      this.#line += bytes.toString('latin1', at, end);
      at = end;
      if (newline >= 0) this.#onLine();
    }
  }

  #onLine(): void {
    const line = this.#line;
    this.#line = '';
    if (this.#state === 'dataEnd') this.#state = 'size';
    else if (this.#state === 'size') {
      this.#missing = Number.parseInt(line, 16);
      this.#state = this.#missing === 0 ? 'trailer' : 'data';
    } else if (line !== '\r\n') {
      this.#trailers.push(Field.parse(line.slice(0, -2)));
    }
  }
}
