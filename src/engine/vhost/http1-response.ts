import type { ByteSocket } from '../../wire/socket.ts';
import type { Framing } from '../http/body.ts';
import { Dechunker } from '../http/dechunk.ts';
import { Field } from '../http/field.ts';
import { formatHead, type ResponseHead } from '../http/head.ts';
import { fieldsForVisitor } from './request-fields.ts';

const NOTHING = Buffer.alloc(0);

/** Writes the response to one request to a visitor over HTTP/1.x. */
export class Http1Response {
  /** The visitor was told that the connection closes after it. */
  closes = false;
  readonly #visitor: ByteSocket;
  readonly #minor: 0 | 1;
  /** Not yet sent: what comes of the body at once goes with it, which saves a write for each small response. */
  #head: { readonly start: string; readonly fields: readonly Field[] } | undefined;
  /** The visitor gets the content of the chunks only. */
  #dechunker: Dechunker | undefined;

  /** @param minor the y of HTTP/1.y that the visitor speaks */
  constructor(visitor: ByteSocket, minor: 0 | 1) {
    this.#visitor = visitor;
    this.#minor = minor;
  }

  /** 1xx. False = wait for onDrain. */
  interim({ status, reason, fields }: ResponseHead): boolean {
    // HTTP/1.0 knows no interim responses.
    if (this.#minor === 0) return true;
    return this.#write(formatHead(`HTTP/1.1 ${status} ${reason}`, fieldsForVisitor(fields, { status, minor: this.#minor })));
  }

  /** @param close the connection ends with the response */
  head({ status, reason, fields }: ResponseHead, body: Framing, close: boolean): void {
    const out = fieldsForVisitor(fields, { status, minor: this.#minor });
    // HTTP/1.0 knows no chunks: for this visitor the body ends with the connection.
    if (body.kind === 'chunked' && this.#minor === 0) this.#dechunker = new Dechunker();
    this.closes = close || body.kind === 'close';
    if (this.closes) out.push(Field.of('Connection', 'close'));
    this.#head = { start: `HTTP/1.1 ${status} ${reason}`, fields: out };
  }

  /** False = wait for onDrain. */
  body(piece: Buffer): boolean {
    if (!this.#dechunker) return this.#write(piece);
    let more = true;
    this.#dechunker.push(piece, (data) => { more = this.#write(data) && more; });
    return more;
  }

  /** False = wait for onDrain. */
  flush(): boolean {
    return this.#head === undefined || this.#write(NOTHING);
  }

  #write(bytes: Buffer): boolean {
    const head = this.#head;
    this.#head = undefined;
    return this.#visitor.write(head === undefined ? bytes : formatHead(head.start, head.fields, bytes));
  }
}
