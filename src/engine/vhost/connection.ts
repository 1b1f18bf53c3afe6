import type { ByteSocket, SocketSink } from '../../wire/socket.ts';
import { closeSoon } from '../../wire/linger.ts';
import { listOf } from '../http/field.ts';
import { formatHead, type RequestHead } from '../http/head.ts';
import { RequestReader, type RequestSink } from '../http/request-reader.ts';
import { HttpSyntaxError } from '../http/syntax-error.ts';
import { decide, type Decision } from './decision.ts';
import { Exchange, type ExchangeOwner } from './exchange.ts';
import type { HostEntry } from './hosts.ts';
import { LetInForm } from './let-in.ts';
import { formFor } from './let-in-page.ts';
import { Patience } from './patience.ts';
import { challengeResponse } from './challenge.ts';
import { httpsRedirect } from './redirect.ts';
import { A_PAGE, prefersJson, type Refusal, type RefusalForm, refusalOf, refusalResponse } from './refusal.ts';
import { fieldsForTarget, upgradeOf } from './request-fields.ts';
import type { Responder } from './responder.ts';
import type { TargetPool } from './target-pool.ts';
import type { VhostContext, Visit } from './vhost-context.ts';

/** Bytes of responses that may wait for a visitor before his next request has to. */
const MOST_UNREAD = 64 * 1024;

type Of<Kind extends Decision['kind']> = Extract<Decision, { readonly kind: Kind }>;

/** What a visitor's connection is made of. */
export interface VhostConnectionOptions {
  readonly scheme: 'http' | 'https';
  readonly context: VhostContext;
  /** The visitor's. */
  readonly pool: TargetPool;
  /** Whether it may ask for a host: the certificate of its HTTP/2 session is for it. Absent = for any. */
  readonly covers?: (host: string) => boolean;
  /** Called once, when no request follows any more. */
  readonly onOver?: (() => void) | undefined;
  /** Called once, when its socket is closed. */
  readonly onGone: (connection: VhostConnection) => void;
}

/**
 * One visitor's HTTP/1.x connection: finds the host of each request, and moves the bodies between visitor and target without touching
 * them. One request at a time; those that are sent ahead wait unread.
 */
export class VhostConnection implements SocketSink, RequestSink, ExchangeOwner {
  readonly visitor: ByteSocket;
  readonly pool: TargetPool;
  readonly patience = new Patience();
  /** Of the visitor whose request is under way: behind a proxy not the other end of the connection. */
  address: string;
  /** Another request may follow. */
  keepsOpen = true;
  readonly #options: VhostConnectionOptions;
  readonly #requests: RequestReader;
  /** Who answers the request that is under way. */
  #responder: Responder | undefined;
  /** How a refusal of the request that is under way has to look, and whose it is. */
  #form: Omit<RefusalForm, 'id' | 'close'> = A_PAGE;
  #entry: HostEntry | undefined;
  /** What was let through the gate; undefined = nothing is under way. */
  #visit: Visit | undefined;
  /** The head of the response was sent. */
  #responding = false;
  /** The visitor's bytes go to the target as they are. */
  #upgraded = false;
  /** The visitor has to take the answers that he has before his next request is read. */
  #unread = false;
  #over = false;
  #gone = false;
  #visitorEnded = false;

  constructor(visitor: ByteSocket, options: VhostConnectionOptions) {
    this.visitor = visitor;
    this.pool = options.pool;
    this.address = visitor.remoteAddress;
    this.#options = options;
    this.#requests = new RequestReader(this, options.context.headLimits);
    visitor.attach(this);
  }

  onData(chunk: Buffer): void {
    if (this.#over) return;
    if (this.#upgraded) this.#responder?.send(chunk);
    else this.#read(chunk);
  }

  onEnd(): void {
    this.#visitorEnded = true;
    if (this.#over) return;
    if (this.#upgraded) this.#responder?.finish();
    else this.#noMore();
  }

  /** The visitor has ended his direction: who has sent whole requests still waits for the answers. */
  #noMore(): void {
    if (this.#requests.over) this.keepsOpen &&= this.#requests.ahead;
    else if (!this.#requests.unread) this.#close();
  }

  onDrain(): void {
    this.patience.drained();
    if (this.#unread) this.#awaitRequest();
    else this.#responder?.resume();
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
      this.refuse(refusalOf(error), error.message);
    }
  }

  // His requests

  onHeadBegun(): void {
    this.patience.begin('head');
    this.#form = A_PAGE;
    this.#entry = undefined;
    this.#visit = undefined;
  }

  onBody(piece: Buffer): void {
    this.patience.received(piece.length);
    if (this.#responder?.send(piece) === false) this.pauseVisitor();
  }

  onBodyOver(): void {
    if (!this.#responding) this.patience.begin('response');
    this.#responder?.requestSent();
  }

  onAhead(): void {
    this.visitor.pause();
  }

  onHead(head: RequestHead): void {
    const { fields, method, minor } = head;
    const { scheme, context, covers } = this.#options;
    this.#form = { json: prefersJson(fields), headOnly: method === 'HEAD' };
    if (minor === 0 || listOf(fields, 'connection').includes('close')) this.keepsOpen = false;
    const decision = decide(context, head, { scheme, peer: this.visitor.remoteAddress, covers, isKept: (entry, address) => this.pool.has(entry, address) });
    this.address = decision.address;
    switch (decision.kind) {
      case 'refuse':
        if (decision.refusal === 'notListed') this.#form = { ...this.#form, form: formFor(head, decision.place) };
        return this.#refuseRequest(decision.refusal, decision.reason, decision.entry);
      case 'challenge': return this.#answer((close) => challengeResponse(decision.answer, close));
      case 'redirect': return this.#answer((close) => httpsRedirect(decision.place, context.httpsPort, close));
      case 'letIn': return this.#letIn(head, decision);
      case 'forward': this.#forward(head, decision);
    }
  }

  #letIn(head: RequestHead, { place, entry, address }: Of<'letIn'>): void {
    const form = new LetInForm({ head, place, say: (password) => this.#options.context.letIn(entry, address, password) }, (answer) => {
      if ('response' in answer) return this.#answer(answer.response);
      this.#form = answer.form;
      this.#refuseRequest(answer.refusal, 'the visitor did not say the password of the whitelist', entry);
    });
    this.#begin(form);
    if (this.#requests.over) form.requestSent();
  }

  /** From now on the request's body is for `responder`. */
  #begin(responder: Responder): void {
    this.#responder = responder;
    this.patience.begin(this.#requests.over ? 'response' : 'body');
  }

  #forward(head: RequestHead, { entry, origin, place }: Of<'forward'>): void {
    const { method, minor } = head;
    const bodyless = this.#requests.over;
    const exchange = Exchange.open(this, entry, this.#options.context, { method, minor, upgrade: upgradeOf(head) !== undefined, bodyless });
    if (!exchange) return this.#refuseRequest('offline', 'the agent takes no connection', entry);
    this.#entry = entry;
    this.#visit = { address: this.address, kept: true, head };
    this.#begin(exchange);
    exchange.request(formatHead(`${method} ${place.path} HTTP/1.${minor}`, fieldsForTarget(head, entry.fields, origin)));
    if (bodyless) exchange.requestSent();
  }

  // Who answers

  pauseVisitor(): void {
    this.patience.held = true;
    this.visitor.pause();
  }

  resumeVisitor(): void {
    this.patience.held = false;
    if (this.#upgraded || this.#requests.inBody) this.visitor.resume();
  }

  /** The target agreed to change the protocol. */
  upgraded(): void {
    this.#upgraded = true;
    this.responding();
    const rest = this.#requests.stop();
    if (rest.length > 0) this.#responder?.send(rest);
    this.visitor.resume();
    if (this.#visitorEnded) this.#responder?.finish();
  }

  /** The head of the response was sent: from here on it may take its time. */
  responding(): void {
    this.#responding = true;
    this.patience.begin('nothing');
  }

  /** The response is complete. @param reusable the connection to the visitor is fit for another request */
  answered(reusable: boolean): void {
    if (!reusable || !this.keepsOpen || !this.#requests.over) {
      this.#close();
      return;
    }
    this.#responder = undefined;
    this.#responding = false;
    if (this.visitor.pending <= MOST_UNREAD) return this.#awaitRequest();
    // Who asks and doesn't read gets no more answers: they would pile up here.
    this.#unread = true;
    this.visitor.pause();
    this.patience.begin('nothing');
  }

  #awaitRequest(): void {
    this.#unread = false;
    if (!this.keepsOpen) return this.#close();
    this.#requests.next();
    this.patience.begin('idle');
    if (this.#requests.ahead) setImmediate(() => this.#readAhead());
    else if (this.#visitorEnded) this.#close();
    else this.visitor.resume();
  }

  /** Reads what was sent ahead; more is taken from the visitor only when that is used up, lest it pile up here. */
  #readAhead(): void {
    this.#read();
    if (this.#over || this.#upgraded || this.#unread) return;
    const waits = this.#requests.over && this.#requests.ahead;
    if (this.#visitorEnded) this.#noMore();
    else if (!waits && !this.patience.held) this.visitor.resume();
  }

  /** Ends at once. In the middle of a response the visitor sees a broken connection, not a short answer. */
  cutOff(): void {
    this.visitor.destroy(true);
    this.#end();
  }

  /** Answers and closes: the answer can't come any more, or what comes after this is not to be trusted. */
  refuse(refusal: Refusal, reason: string): void {
    if (this.#over) return;
    // In the middle of a response there is no place for another one.
    if (this.#responding) return this.cutOff();
    const cause = (refusal === 'refused' || refusal === 'offline' ? this.#blocked() : undefined) ?? { refusal, reason };
    this.visitor.write(this.#refusal(cause.refusal, cause.reason, true));
    this.#close();
  }

  /** Why the request would not be let through by now: its connection was cut for that, say when the traffic is used up. */
  #blocked(): { readonly refusal: Refusal; readonly reason: string } | undefined {
    const blocked = this.#entry && this.#visit && this.#options.context.gate(this.#entry, this.#visit);
    return blocked?.refusal === 'notListed' ? undefined : blocked;
  }

  #refuseRequest(refusal: Refusal, reason: string, entry?: HostEntry): void {
    this.#entry = entry;
    this.#answer((close) => this.#refusal(refusal, reason, close));
  }

  /** Answers a request that is in order; the connection goes on if its body is here. */
  #answer(response: (close: boolean) => Buffer): void {
    const close = !this.keepsOpen || !this.#requests.over;
    this.visitor.write(response(close));
    this.answered(!close);
  }

  #refusal(refusal: Refusal, reason: string, close: boolean): Buffer {
    const id = this.#options.context.refusals.note({ refusal, reason, hostId: this.#entry?.id, address: this.address });
    return refusalResponse(refusal, { id, ...this.#form, close });
  }

  /** Gives up: it took too long. */
  expire(): void {
    if (this.#over) return;
    const { waiting } = this.patience;
    if (waiting === 'head' || waiting === 'body') this.refuse('timeout', `the request did not arrive in time (${waiting})`);
    else if (waiting === 'response') this.#responder?.silent();
    else if (waiting === 'nothing') this.cutOff();
    else this.#close();
  }

  /** The server is about to stop: no further request. */
  drain(): void {
    const { waiting } = this.patience;
    this.keepsOpen = false;
    if (waiting === 'first' || waiting === 'idle') this.#close();
  }

  #close(): void {
    if (this.#over) return;
    this.#end();
    closeSoon(this.visitor, () => this.#leave());
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#responder?.close();
    this.#responder = undefined;
    this.#requests.stop();
    this.#options.onOver?.();
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#options.onGone(this);
  }
}
