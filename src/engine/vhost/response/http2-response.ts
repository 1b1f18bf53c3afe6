import type http2 from 'node:http2';
import type { Framing } from '../../http/body.ts';
import { Dechunker } from '../../http/dechunk.ts';
import type { ResponseHead } from '../../http/head.ts';
import { bytesOf, responseHeaders, sentHeaders } from '../request/http2-head.ts';
import type { Http2Outbound } from './http2-outbound.ts';
import type { OwnResponse } from './own-response.ts';
import { fieldsForVisitor } from '../target/request-fields.ts';

interface WaitingHead {
  readonly headers: http2.OutgoingHttpHeaders;
  /** What it counts for in the session, in bytes. */
  readonly length: number;
  readonly empty: boolean;
}

/** Sends the response to one request over HTTP/2: the first one that is begun, and nothing after it. Node throws for a second head. */
export class Http2Response {
  readonly #stream: http2.ServerHttp2Stream;
  readonly #outbound: Http2Outbound;
  readonly #onDrain: () => void;
  /** A head that was not sent yet: the part of the body that arrives with it shows whether there is a trailer, and whether the response ends with it. */
  #head: WaitingHead | undefined;
  /** A head was given, sent or not: no other one may follow. */
  #begun = false;
  /** Pieces of the body that wait for the head to be sent. */
  #pieces: Buffer[] = [];
  #dechunker: Dechunker | undefined;
  /** All of the response is here. */
  #whole = false;
  /** The session takes no head until its visitor has read. */
  #waits = false;
  #draining = false;

  /** @param onDrain called when the visitor takes bytes again after a method returned false */
  constructor(stream: http2.ServerHttp2Stream, outbound: Http2Outbound, onDrain: () => void) {
    this.#stream = stream;
    this.#outbound = outbound;
    this.#onDrain = onDrain;
  }

  /** Bytes that wait for the visitor. */
  get pending(): number {
    return this.#stream.writableLength + this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** 1xx. These are only hints: a visitor with too many unread heads gets none. */
  interim({ status, fields, length }: ResponseHead): void {
    if (this.#begun || this.#gone || this.#outbound.full) return;
    this.#outbound.add(length);
    this.#stream.additionalHeaders(responseHeaders(status, fieldsForVisitor(fields, { status, minor: 1 })));
  }

  head({ status, fields, length }: ResponseHead, body: Framing): void {
    if (this.#begun) return;
    if (body.kind === 'chunked') this.#dechunker = new Dechunker();
    this.#begin({
      headers: responseHeaders(status, fieldsForVisitor(fields, { status, minor: 1 })),
      length,
      empty: body.kind === 'length' && body.bytes === 0,
    });
  }

  /** A response of this server itself. */
  own({ status, fields, body }: OwnResponse): void {
    if (this.#begun) return;
    this.#begin({ headers: responseHeaders(status, fields), length: bytesOf(fields), empty: body === undefined });
    if (body) this.body(body, true);
    this.finish();
  }

  #begin(head: WaitingHead): void {
    this.#begun = true;
    this.#head = head;
  }

  /** @param last the body ends with this piece @returns false = wait for `onDrain` */
  body(piece: Buffer, last: boolean): boolean {
    if (this.#whole) return true;
    this.#whole = last;
    const content = this.#dechunker ? this.#dechunker.push(piece) : piece;
    if (content.length > 0) this.#pieces.push(content);
    return this.flush();
  }

  /** Ends the body. */
  finish(): void {
    this.#whole = true;
    this.flush();
  }

  /** Sends what is here. @returns false = wait for `onDrain` */
  flush(): boolean {
    if (this.#gone) return true;
    if (this.#head && !this.#sendHead(this.#head)) return false;
    const pieces = this.#pieces;
    // Node has ended the stream where there is no body: after HEAD, or 204.
    if (this.#stream.writableEnded) return true;
    if (pieces.length > 0) this.#pieces = [];
    // The end is sent with the last piece.
    const last = this.#whole ? pieces.pop() : undefined;
    let more = true;
    for (const piece of pieces) more = this.#stream.write(piece);
    if (this.#whole) this.#stream.end(last);
    else if (!more) this.#awaitDrain();
    return more;
  }

  get #gone(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }

  #sendHead({ headers, length, empty }: WaitingHead): boolean {
    if (this.#waits) return false;
    if (this.#outbound.full) {
      this.#waits = true;
      this.#outbound.wait(() => {
        this.#waits = false;
        if (this.flush()) this.#onDrain();
      });
      return false;
    }
    this.#head = undefined;
    this.#outbound.add(length);
    const dechunker = this.#dechunker;
    const waitForTrailers = dechunker !== undefined && (!this.#whole || dechunker.trailers.length > 0);
    if (waitForTrailers) this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(sentHeaders(dechunker.trailers)));
    this.#stream.respond(headers, { endStream: empty || (this.#whole && !waitForTrailers && this.#pieces.length === 0), waitForTrailers });
    return true;
  }

  #awaitDrain(): void {
    if (this.#draining) return;
    this.#draining = true;
    this.#stream.once('drain', () => {
      this.#draining = false;
      this.#onDrain();
    });
  }
}
