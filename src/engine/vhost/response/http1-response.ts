import type { ByteSocket } from '../../../wire/socket.ts';
import type { Framing } from '../../http/body.ts';
import { Dechunker } from '../../http/dechunk.ts';
import type { ResponseHead } from '../../http/head.ts';
import { headForVisitor } from './head-for-visitor.ts';

const NOTHING = Buffer.alloc(0);

/** Writes the response to one request to a visitor over HTTP/1.x. */
export class Http1Response {
  /** The response announced that the connection closes after it. */
  closes = false;
  readonly #visitor: ByteSocket;
  readonly #minor: 0 | 1;
  /** A head that was not sent yet: it is written together with the part of the body that arrives with it, which saves a write for each small response. */
  #head: ResponseHead | undefined;
  /** The visitor gets the content of the chunks only. */
  #dechunker: Dechunker | undefined;

  /** @param minor the y of HTTP/1.y that the visitor speaks */
  constructor(visitor: ByteSocket, minor: 0 | 1) {
    this.#visitor = visitor;
    this.#minor = minor;
  }

  /** 1xx. False = wait for onDrain. */
  interim(head: ResponseHead): boolean {
    // HTTP/1.0 has no interim responses.
    if (this.#minor === 0) return true;
    return this.#write(headForVisitor(head, { minor: this.#minor, closes: false }));
  }

  /** @param close the connection ends with the response */
  head(head: ResponseHead, body: Framing, close: boolean): void {
    // HTTP/1.0 knows no chunks: for this visitor the body ends with the connection.
    if (body.kind === 'chunked' && this.#minor === 0) this.#dechunker = new Dechunker();
    this.closes = close || body.kind === 'close';
    this.#head = head;
  }

  /** False = wait for onDrain. */
  body(piece: Buffer): boolean {
    if (!this.#dechunker) return this.#write(piece);
    const content = this.#dechunker.push(piece);
    return content.length === 0 || this.#write(content);
  }

  /** False = wait for onDrain. */
  flush(): boolean {
    return this.#head === undefined || this.#write(NOTHING);
  }

  #write(bytes: Buffer): boolean {
    const head = this.#head;
    this.#head = undefined;
    return this.#visitor.write(head === undefined ? bytes : headForVisitor(head, { minor: this.#minor, closes: this.closes, body: bytes }));
  }
}
