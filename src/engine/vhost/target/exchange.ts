import type { Framing } from '../../http/body.ts';
import type { ResponseHead } from '../../http/head.ts';
import { InterimLimit } from '../../http/interim-limit.ts';
import { ResponseReader, type ResponseSink } from '../../http/response-reader.ts';
import { HttpSyntaxError } from '../../http/syntax-error.ts';
import { staysOpen } from '../response/head-for-visitor.ts';
import type { HostEntry } from '../host-entry.ts';
import type { Refusal } from '../../../rules/visitor-refusals.ts';
import type { Responder } from '../request/responder.ts';
import { TargetConnection, type TargetUser } from './target-connection.ts';
import type { VhostContext } from '../vhost-context.ts';
import type { VisitorSide } from '../request/visitor-side.ts';

/** The owner of the request. */
export interface ExchangeOwner {
  readonly side: VisitorSide;
  /** The visitor's. */
  readonly address: string;
  /** The target agreed to change the protocol. */
  upgraded(): void;
  /** The head of the response has arrived: the response timeout no longer applies. */
  responding(): void;
  /** The response is complete. @param whole the request was also complete */
  answered(whole: boolean): void;
  /** No response has arrived, and none can arrive. */
  refuse(refusal: Refusal, reason: string): void;
}

/** The properties of a request that determine its response. */
export interface Asked {
  readonly method: string;
  readonly upgrade: boolean;
  readonly bodyless: boolean;
}

/** Methods that may be retried when a kept connection to the target turns out to be closed. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS']);

/** One request and its response, on a connection to a target that is kept for the visitor's next requests. */
export class Exchange implements Responder, TargetUser, ResponseSink {
  readonly #owner: ExchangeOwner;
  readonly #entry: HostEntry;
  readonly #context: VhostContext;
  readonly #asked: Asked;
  readonly #response: ResponseReader;
  #target: TargetConnection;
  /** Its connection was idle before, and may have been closed meanwhile. */
  readonly #reused: boolean;
  /** The request's head, as long as it may have to be resent. */
  #repeat: Buffer | undefined;
  #requestSent = false;
  #upgraded = false;
  /** The target's connection is fit for another request. */
  #persistent = false;
  #closed = false;
  #interim: InterimLimit | undefined;

  /** Uses a kept connection, or opens one to the host's next target; undefined = not possible. */
  static open(owner: ExchangeOwner, entry: HostEntry, context: VhostContext, asked: Asked): Exchange | undefined {
    const kept = owner.side.pool.take(entry, owner.address);
    const target = kept ?? dial(owner, entry, context);
    return target && new Exchange({ owner, entry, context, asked, target, reused: kept !== undefined });
  }

  private constructor({ owner, entry, context, asked, target, reused }: {
    readonly owner: ExchangeOwner;
    readonly entry: HostEntry;
    readonly context: VhostContext;
    readonly asked: Asked;
    readonly target: TargetConnection;
    readonly reused: boolean;
  }) {
    this.#owner = owner;
    this.#entry = entry;
    this.#context = context;
    this.#asked = asked;
    this.#response = new ResponseReader(asked.method, this);
    this.#target = target;
    this.#reused = reused;
    target.use(this);
  }

  /** Sends the request's head. */
  request(head: Buffer): void {
    const { bodyless, method } = this.#asked;
    if (this.#reused && bodyless && repeatable.has(method)) this.#repeat = head;
    this.#target.write(head);
  }

  send(piece: Buffer): boolean {
    const more = this.#target.write(piece);
    if (!more && this.#upgraded) this.#owner.side.pauseVisitor();
    return more;
  }

  requestSent(): void {
    this.#requestSent = true;
  }

  finish(): void {
    this.#target.end();
  }

  resume(): void {
    if (!this.#closed) this.#target.resume();
  }

  silent(): void {
    this.#fail('silent', 'the target sent no response in time');
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#target.close();
  }

  #fail(refusal: Refusal, reason: string): void {
    this.close();
    this.#owner.refuse(refusal, reason);
  }

  // The target

  onData(chunk: Buffer): void {
    if (this.#closed) return;
    this.#repeat = undefined;
    if (this.#upgraded) {
      this.#said(this.#owner.side.body(chunk, false));
      return;
    }
    try {
      const rest = this.#response.push(chunk);
      if (!this.#closed) this.#said(this.#owner.side.flush());
      this.#onRest(rest);
    } catch (error) {
      if (!(error instanceof HttpSyntaxError)) throw error;
      this.#break('refused', `the target's response is malformed: ${error.message}`);
    }
  }

  /** @param rest the bytes after the response */
  #onRest(rest: Buffer): void {
    if (this.#closed || !this.#response.over) return;
    if (this.#upgraded) {
      if (rest.length > 0) this.#said(this.#owner.side.body(rest, false));
      return;
    }
    // It can't be known which request a response on this connection would answer.
    if (rest.length > 0) this.#persistent = false;
    this.#bodyOver();
  }

  onInterim(head: ResponseHead): void {
    (this.#interim ??= new InterimLimit()).count(head);
    const { status } = head;
    if (status === 101 && !this.#asked.upgrade) throw new HttpSyntaxError('a switch of protocol without a request for it');
    this.#said(this.#owner.side.interim(head));
    if (status !== 101) return;
    this.#upgraded = true;
    this.#owner.upgraded();
  }

  onHead(head: ResponseHead, body: Framing): void {
    this.#persistent = body.kind !== 'close' && staysOpen(head);
    this.#owner.side.head(head, body, this.#requestSent);
    this.#owner.responding();
  }

  onBody(piece: Buffer): void {
    if (!this.#closed) this.#said(this.#owner.side.body(piece, this.#response.over));
  }

  #bodyOver(): void {
    if (this.#requestSent) {
      this.#complete();
      return;
    }
    // An early response: the rest of the request is not read.
    this.close();
    this.#owner.answered(false);
  }

  #complete(): void {
    this.#closed = true;
    this.#target.rest();
    if (this.#persistent) this.#owner.side.pool.give(this.#target);
    else this.#target.close();
    this.#owner.answered(true);
  }

  /** @param more the visitor takes more */
  #said(more: boolean): void {
    if (!more && !this.#closed) this.#target.pause();
  }

  onEnd(): void {
    if (this.#closed) return;
    if (this.#upgraded) {
      this.#owner.side.end();
      return;
    }
    if (!this.#response.begun) {
      this.onLost('refused', 'the target closed the connection without an answer');
      return;
    }
    try {
      this.#response.end();
    } catch {
      this.#break('refused', '');
      return;
    }
    this.#bodyOver();
  }

  onDrain(): void {
    this.#owner.side.resumeVisitor();
  }

  onLost(refusal: Refusal, reason: string): void {
    if (this.#closed) return;
    const target = this.#repeat && dial(this.#owner, this.#entry, this.#context);
    if (!target || !this.#repeat) {
      this.#break(refusal, reason);
      return;
    }
    // The connection was closed while the request was being sent: it is resent on a new one, once.
    this.#target.close();
    this.#target = target;
    target.use(this);
    target.write(this.#repeat);
    this.#repeat = undefined;
  }

  /** The response failed: a visitor that has a part of it sees a broken connection, not a short response. */
  #break(refusal: Refusal, reason: string): void {
    if (!this.#response.begun) return this.#fail(refusal, reason);
    this.close();
    this.#owner.side.cutOff();
  }
}

function dial(owner: ExchangeOwner, entry: HostEntry, context: VhostContext): TargetConnection | undefined {
  const visitor = { remoteAddress: owner.address, remotePort: owner.side.remotePort };
  context.trace?.same(owner.side, visitor);
  const socket = context.policy.dial(entry, visitor, owner.side.unread);
  return socket && new TargetConnection(socket, entry, owner.address, context.trace);
}
