import type { ByteSocket, SocketSink } from '../../../wire/socket.ts';
import { closeSoon } from '../../../wire/delayed-close.ts';
import type { Framing } from '../../http/body.ts';
import { listOf } from '../../http/field.ts';
import type { RequestHead, ResponseHead } from '../../http/head.ts';
import { PlainRequestHead } from '../../http/plain-head.ts';
import { RequestReader, type RequestSink } from '../../http/request-reader.ts';
import { HttpSyntaxError } from '../../http/syntax-error.ts';
import { HeadsForTarget } from '../target/head-for-target.ts';
import { Http1Response } from '../response/http1-response.ts';
import { formatOwnResponse, type OwnResponse } from '../response/own-response.ts';
import { WaitState } from '../wait-state.ts';
import { RequestHandler } from './request-handler.ts';
import type { TargetPool } from '../target/target-pool.ts';
import type { VhostContext } from '../vhost-context.ts';
import type { VisitorSide } from './visitor-side.ts';

/** Bytes of responses that may wait for a visitor before its next request has to wait. */
const MOST_UNREAD = 64 * 1024;

/** The dependencies of a visitor's connection. */
export interface VhostConnectionOptions {
  readonly scheme: 'http' | 'https';
  readonly context: VhostContext;
  /** The visitor's. */
  readonly pool: TargetPool;
  /** Called once, when no request follows any more. */
  readonly onOver: () => void;
  /** Called once, when its socket is closed. */
  readonly onGone: () => void;
}

/**
 * One visitor's HTTP/1.x connection: reads the requests, writes the responses, and moves the bodies between visitor and target
 * unchanged. One request at a time; pipelined requests wait unread.
 */
export class VhostConnection implements SocketSink, RequestSink, VisitorSide {
  readonly covers = undefined;
  readonly unread = undefined;
  readonly waitState = new WaitState();
  readonly heads = new HeadsForTarget();
  readonly #visitor: ByteSocket;
  readonly #options: VhostConnectionOptions;
  readonly #requests: RequestReader;
  /** The current request, or the previous one. */
  #handler: RequestHandler;
  #response: Http1Response;
  /** Another request may follow. */
  #keepsOpen = true;
  /** The visitor's bytes are passed to the target unchanged. */
  #upgraded = false;
  /** The visitor has to read the waiting responses before its next request is read. */
  #unread = false;
  #over = false;
  #gone = false;
  #visitorEnded = false;

  constructor(visitor: ByteSocket, options: VhostConnectionOptions) {
    this.#visitor = visitor;
    this.#options = options;
    this.#requests = new RequestReader(this, options.context.policy.headLimits);
    this.#handler = new RequestHandler(this, options.context);
    this.#response = new Http1Response(visitor, 1);
    visitor.attach(this);
  }

  onData(chunk: Buffer): void {
    if (this.#over) return;
    if (this.#upgraded) this.#handler.pass(chunk);
    else this.#read(chunk);
  }

  onEnd(): void {
    this.#visitorEnded = true;
    if (this.#over) return;
    if (this.#upgraded) this.#handler.finish();
    else this.#noMore();
  }

  /** The visitor has ended its direction: complete requests are still answered. */
  #noMore(): void {
    if (this.#requests.over) this.#keepsOpen &&= this.#requests.ahead;
    else if (!this.#requests.unread) this.#close();
  }

  onDrain(): void {
    this.waitState.drained();
    if (this.#unread) this.#awaitRequest();
    else this.#handler.resume();
  }

  onClose(): void {
    this.#end();
    this.#leave();
  }

  #read(chunk?: Buffer): void {
    try {
      this.#requests.read(chunk);
    } catch (error) {
      if (!(error instanceof HttpSyntaxError)) throw error;
      this.#handler.refuseMalformed(error);
    }
  }

  // Requests

  onHeadBegun(): void {
    this.waitState.begin('head');
    this.#handler = new RequestHandler(this, this.#options.context);
  }

  onHead(head: RequestHead): void {
    if (saysClose(head)) this.#keepsOpen = false;
    this.#response = new Http1Response(this.#visitor, head.minor);
    this.#handler.begin(head);
  }

  onBody(piece: Buffer): void {
    this.#handler.body(piece);
  }

  onBodyOver(): void {
    this.#handler.bodyOver();
  }

  onAhead(): void {
    this.#visitor.pause();
  }

  // VisitorSide

  get scheme(): 'http' | 'https' {
    return this.#options.scheme;
  }

  get remoteAddress(): string {
    return this.#visitor.remoteAddress;
  }

  get remotePort(): number {
    return this.#visitor.remotePort;
  }

  get pool(): TargetPool {
    return this.#options.pool;
  }

  get requestOver(): boolean {
    return this.#requests.over;
  }

  /** Bytes of responses that wait for the visitor. */
  get pending(): number {
    return this.#visitor.pending;
  }

  pauseVisitor(): void {
    this.waitState.held = true;
    this.#visitor.pause();
  }

  resumeVisitor(): void {
    this.waitState.held = false;
    if (this.#upgraded || this.#requests.inBody) this.#visitor.resume();
  }

  interim(head: ResponseHead): boolean {
    return this.#response.interim(head);
  }

  head(head: ResponseHead, body: Framing, requestOver: boolean): void {
    this.#response.head(head, body, !this.#keepsOpen || !requestOver);
  }

  body(piece: Buffer): boolean {
    return this.#response.body(piece);
  }

  flush(): boolean {
    return this.#response.flush();
  }

  end(): void {
    this.#visitor.end();
  }

  upgraded(): void {
    this.#upgraded = true;
    const rest = this.#requests.stop();
    if (rest.length > 0) this.#handler.pass(rest);
    this.#visitor.resume();
    if (this.#visitorEnded) this.#handler.finish();
  }

  answer(response: OwnResponse, last: boolean): void {
    const closes = last || !this.#keepsOpen;
    this.#visitor.write(formatOwnResponse(response, closes));
    if (closes) this.#close();
    else this.#next();
  }

  answered(whole: boolean): void {
    if (whole && !this.#response.closes && this.#keepsOpen && this.#requests.over) this.#next();
    else this.#close();
  }

  #next(): void {
    if (this.pending <= MOST_UNREAD) return this.#awaitRequest();
    // A visitor that sends requests and doesn't read gets no more responses: they would pile up here.
    this.#unread = true;
    this.#visitor.pause();
    this.waitState.begin('nothing');
  }

  #awaitRequest(): void {
    this.#unread = false;
    if (!this.#keepsOpen) return this.#close();
    this.#requests.next();
    this.waitState.begin('idle');
    if (this.#requests.ahead) setImmediate(() => this.#readAhead());
    else if (this.#visitorEnded) this.#close();
    else this.#visitor.resume();
  }

  /** Parses pipelined bytes. More is read from the visitor only when they are used up, so that they can't accumulate. */
  #readAhead(): void {
    this.#read();
    if (this.#over || this.#upgraded || this.#unread) return;
    const waits = this.#requests.over && this.#requests.ahead;
    if (this.#visitorEnded) this.#noMore();
    else if (!waits && !this.waitState.held) this.#visitor.resume();
  }

  cutOff(): void {
    this.#visitor.destroy(true);
    this.#end();
  }

  /** A timeout has expired. */
  expire(): void {
    if (this.#over) return;
    const { waiting } = this.waitState;
    if (waiting === 'first' || waiting === 'idle') this.#close();
    else this.#handler.expire();
  }

  /** The server is shutting down: no further request. */
  drain(): void {
    const { waiting } = this.waitState;
    this.#keepsOpen = false;
    if (waiting === 'first' || waiting === 'idle') this.#close();
  }

  #close(): void {
    if (this.#over) return;
    this.#end();
    closeSoon(this.#visitor, () => this.#leave());
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#handler.close();
    this.#requests.stop();
    this.#options.onOver();
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#options.onGone();
  }
}

/** No further request follows. */
function saysClose(head: RequestHead): boolean {
  if (head instanceof PlainRequestHead) return head.closes;
  return head.minor === 0 || listOf(head.fields, 'connection').includes('close');
}
