import http2 from 'node:http2';
import type { PairOrigin } from '../../../wire/socket-pair.ts';
import type { UnreadHolder } from '../../../wire/unread-budget.ts';
import { type Framing, passedTrailer, requestFraming } from '../../http/body.ts';
import type { Field } from '../../http/field.ts';
import { formatTrailer, type RequestHead, type ResponseHead } from '../../http/head.ts';
import { HttpSyntaxError } from '../../http/syntax-error.ts';
import type { HeadsForTarget } from '../target/head-for-target.ts';
import { checkRequestHead, receivedFields } from './http2-head.ts';
import type { Http2Outbound } from '../response/http2-outbound.ts';
import { Http2Response } from '../response/http2-response.ts';
import { BODY_WINDOW } from './http2-session.ts';
import type { OwnResponse } from '../response/own-response.ts';
import { WaitState } from '../wait-state.ts';
import { RequestHandler } from './request-handler.ts';
import type { TargetPool } from '../target/target-pool.ts';
import type { UnreadAccount } from '../unread-account.ts';
import type { VhostContext } from '../vhost-context.ts';
import type { VisitorSide } from './visitor-side.ts';

/** What all requests of an HTTP/2 session have in common. */
export interface Http2Visitor {
  readonly origin: PairOrigin;
  /** The connections to targets that all requests of the session share. */
  readonly pool: TargetPool;
  /** Whether the session may request a host: its certificate has to cover it. */
  readonly covers: (host: string) => boolean;
  readonly outbound: Http2Outbound;
  /** Counts what the server holds for it. */
  readonly unread: UnreadAccount;
  readonly heads: HeadsForTarget;
}

const { NGHTTP2_NO_ERROR, NGHTTP2_PROTOCOL_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;
const LAST_CHUNK = Buffer.from('0\r\n');
const CRLF = Buffer.from('\r\n');

/** A request over HTTP/2: a stream, with the body of the request toward the target and the response on its way back. */
export class Http2Request implements VisitorSide, UnreadHolder {
  readonly scheme = 'https';
  readonly waitState = new WaitState();
  requestOver: boolean;
  readonly #stream: http2.ServerHttp2Stream;
  readonly #visitor: Http2Visitor;
  readonly #context: VhostContext;
  readonly #handler: RequestHandler;
  readonly #response: Http2Response;
  /** Bytes of the body that have not arrived; undefined = the length is unknown, and the target gets the body in chunks. */
  #missing: number | undefined;
  #trailer: readonly Field[] = [];
  /** The stream is read: its request has a body. */
  #reads = false;
  #answered = false;
  #cut = false;
  /** Cancels the wait until less is held for the visitor; undefined = not waiting. */
  #stopWaiting: (() => void) | undefined;
  /** Held bytes, as last reported to the visitor's account. */
  #reported = 0;
  #closed = false;

  /** @param ended the request has no body */
  constructor(stream: http2.ServerHttp2Stream, visitor: Http2Visitor, context: VhostContext, ended: boolean) {
    this.#stream = stream;
    this.#visitor = visitor;
    this.#context = context;
    this.requestOver = ended;
    this.#handler = new RequestHandler(this, context);
    this.#response = new Http2Response(stream, visitor.outbound, () => {
      this.waitState.drained();
      this.recount();
      this.#handler.resume();
    });
    visitor.unread.open(this);
  }

  /** The head is complete: handles the request, now or when the visitor has read enough of the data that the server holds for it. */
  begin(head: RequestHead): void {
    const { unread } = this.#visitor;
    if (unread.hasRoom) return this.#begin(head);
    // The server would have to hold its body, too.
    if (!this.requestOver) return this.#stream.close(NGHTTP2_REFUSED_STREAM);
    this.#stopWaiting = unread.wait(() => {
      this.#stopWaiting = undefined;
      this.#begin(head);
    });
  }

  #begin(head: RequestHead): void {
    try {
      checkRequestHead(head, this.#context.policy.headLimits);
      this.#expect(requestFraming(head));
      this.#handler.begin(head);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    if (!(error instanceof HttpSyntaxError)) throw error;
    this.#handler.refuseMalformed(error);
  }

  // The request's body

  #expect(framing: Framing): void {
    if (framing.kind === 'length') {
      this.#missing = framing.bytes;
      if (this.requestOver && framing.bytes > 0) throw new HttpSyntaxError('the request has a Content-Length, but no body');
      this.requestOver = framing.bytes === 0;
    }
    if (this.requestOver) return;
    this.#reads = true;
    this.#stream.on('data', (chunk: Buffer) => this.#onData(chunk));
    // The trailers arrive before the `end` event.
    this.#stream.on('trailers', (headers) => this.#onTrailers(headers));
    this.#stream.on('end', () => this.#onEnd());
  }

  #onData(chunk: Buffer): void {
    if (this.#answered) return;
    if (this.#missing === undefined) return this.#handler.body(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'), chunk, CRLF]));
    this.#missing -= chunk.length;
    if (this.#missing < 0) return this.#fail();
    this.requestOver = this.#missing === 0;
    this.#handler.body(chunk);
    if (this.requestOver) this.#handler.bodyOver();
  }

  #onTrailers(headers: http2.IncomingHttpHeaders): void {
    if (this.#answered) return;
    const fields = receivedFields(headers);
    if (!fields) return this.#fail();
    try {
      this.#trailer = passedTrailer(fields);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #onEnd(): void {
    if (this.#answered || this.requestOver) return;
    // Node reports a stream that the visitor canceled (RST_STREAM without an error) like the end of a body.
    if (this.#missing !== undefined || this.#stream.closed) return this.#fail();
    this.requestOver = true;
    this.#handler.body(Buffer.concat([LAST_CHUNK, formatTrailer(this.#trailer)]));
    this.#handler.bodyOver();
  }

  /** The body does not match the head. */
  #fail(): void {
    this.#handler.close();
    this.#stream.close(NGHTTP2_PROTOCOL_ERROR);
  }

  /** The stream is closed. @returns whether the visitor canceled the request */
  onClosed(): boolean {
    this.#stopWaiting?.();
    this.#handler.close();
    this.#closed = true;
    this.recount();
    this.#visitor.unread.close(this);
    return !this.#cut && (!this.#answered || this.#stream.rstCode !== NGHTTP2_NO_ERROR);
  }

  // UnreadHolder

  get peer(): string {
    return this.remoteAddress;
  }

  recount(): number {
    // A visitor that has to wait may still send a whole window.
    const body = this.waitState.held ? Math.min(this.#missing ?? BODY_WINDOW, BODY_WINDOW) : 0;
    const held = this.#closed ? 0 : this.#response.pending + body;
    const more = held - this.#reported;
    this.#reported = held;
    if (more !== 0) this.#visitor.unread.add(more);
    return held;
  }

  reset(): void {
    this.cutOff();
  }

  // VisitorSide

  get unread(): UnreadAccount {
    return this.#visitor.unread;
  }

  get remoteAddress(): string {
    return this.#visitor.origin.remoteAddress;
  }

  get remotePort(): number {
    return this.#visitor.origin.remotePort;
  }

  get heads(): HeadsForTarget {
    return this.#visitor.heads;
  }

  get covers(): (host: string) => boolean {
    return this.#visitor.covers;
  }

  get pool(): TargetPool {
    return this.#visitor.pool;
  }

  /** Bytes of the response that wait for the visitor. */
  get pending(): number {
    return this.#response.pending;
  }

  pauseVisitor(): void {
    this.waitState.held = true;
    this.#stream.pause();
    this.recount();
  }

  resumeVisitor(): void {
    this.waitState.held = false;
    this.recount();
    if (this.#reads) this.#stream.resume();
  }

  interim(head: ResponseHead): boolean {
    this.#response.interim(head);
    return true;
  }

  head(head: ResponseHead, body: Framing): void {
    this.#response.head(head, body);
  }

  body(piece: Buffer, last: boolean): boolean {
    const more = this.#response.body(piece, last);
    this.recount();
    return more;
  }

  flush(): boolean {
    const more = this.#response.flush();
    this.recount();
    return more;
  }

  end(): void {
    // Only after 101, which HTTP/2 doesn't have.
  }

  upgraded(): void {
    // HTTP/2 has no such request.
  }

  answer(response: OwnResponse): void {
    this.#response.own(response);
    this.#over();
  }

  answered(): void {
    this.#response.finish();
    this.#over();
  }

  /** Nothing reads the rest of the request, and a response of the target can no longer be delivered. */
  #over(): void {
    this.#answered = true;
    this.waitState.held = false;
    this.#handler.close();
    this.recount();
    // A paused stream would never end.
    if (this.#reads) this.#stream.resume();
    if (this.requestOver) return;
    if (this.#stream.writableFinished) this.#stream.close(NGHTTP2_NO_ERROR);
    else this.#stream.once('finish', () => this.#stream.close(NGHTTP2_NO_ERROR));
  }

  /** `close` with an error code would end the body cleanly first, so that a truncated body would look complete. */
  cutOff(): void {
    this.#cut = true;
    this.#stream.destroy(new Error('the answer was cut off'));
  }

  /** A timeout has expired. The session supervises the rest of a complete response. */
  expire(): void {
    if (this.#answered) return;
    if (!this.#stopWaiting) return this.#handler.expire();
    this.#stopWaiting();
    this.#stopWaiting = undefined;
    this.#handler.refuse('unread', 'the visitor has not read the responses that wait');
  }
}
