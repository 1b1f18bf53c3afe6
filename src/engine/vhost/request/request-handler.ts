import type { RequestHead } from '../../http/head.ts';
import type { HttpSyntaxError } from '../../http/syntax-error.ts';
import { challengeResponse } from '../response/challenge.ts';
import { decide, type Decision } from './decision.ts';
import { Exchange, type ExchangeOwner } from '../target/exchange.ts';
import type { HostEntry } from '../host-entry.ts';
import { PasswordForm } from '../response/password-form.ts';
import { formFor } from '../response/password-page.ts';
import { httpsRedirect, type OwnResponse } from '../response/own-response.ts';
import type { Refusal } from '../../../rules/visitor-refusals.ts';
import { A_PAGE, prefersJson, type RefusalForm, refusalOf, refusalResponse } from '../response/refusal.ts';
import { upgradeOf } from '../target/request-fields.ts';
import type { Responder } from './responder.ts';
import type { VhostContext, Visit } from '../vhost-context.ts';
import type { VisitorSide } from './visitor-side.ts';

type Of<Kind extends Decision['kind']> = Extract<Decision, { readonly kind: Kind }>;

/** One request of a visitor, over HTTP/1.1 or HTTP/2: finds its host, and has it answered by the host's target or by this server. */
export class RequestHandler implements ExchangeOwner {
  readonly side: VisitorSide;
  /** The visitor's address; behind a proxy, not the peer's. */
  address: string;
  readonly #context: VhostContext;
  /** What answers the request. */
  #responder: Responder | undefined;
  /** Determines the form of a refusal, unless `#form` does. */
  #head: RequestHead | undefined;
  #form: Omit<RefusalForm, 'id'> | undefined;
  /** The host that it is for. */
  #entry: HostEntry | undefined;
  /** The admitted visit; undefined = none was admitted. */
  #visit: Visit | undefined;
  /** The head of the response was sent. */
  #responding = false;
  #over = false;

  constructor(side: VisitorSide, context: VhostContext) {
    this.side = side;
    this.#context = context;
    this.address = side.remoteAddress;
  }

  /** The head has come. @throws {HttpSyntaxError} */
  begin(head: RequestHead): void {
    this.#head = head;
    this.#decide(head, this.side.requestOver);
  }

  #decide(head: RequestHead, mayBeChallenge: boolean): void {
    const { scheme, covers, pool, remoteAddress: peer } = this.side;
    const decision = decide(this.#context, head, { scheme, peer, covers, mayBeChallenge, isKept: (entry, address) => pool.has(entry, address) });
    this.address = decision.address;
    switch (decision.kind) {
      case 'refuse':
        if (decision.refusal === 'notListed') this.#form = { ...formOf(head), form: formFor(head, decision.place) };
        return this.#refuseRequest(decision.refusal, decision.reason, decision.entry);
      case 'challenge':
        if (typeof decision.answer === 'string') return this.#answer(challengeResponse(decision.answer));
        return this.#awaitChallenge(head, decision.answer);
      case 'redirect':
        return this.#answer(httpsRedirect(decision.place, this.#context.httpsPort));
      case 'password':
        return this.#tryPassword(head, decision);
      case 'forward':
        this.#forward(head, decision);
    }
  }

  /** Another server may have the answer. If none has, the request is like any other. */
  #awaitChallenge(head: RequestHead, answer: Promise<string | undefined>): void {
    this.#begin(NOT_YET);
    void answer.then((found) => {
      if (this.#over) return;
      if (found !== undefined) return this.#answer(challengeResponse(found));
      this.#responder = undefined;
      this.#decide(head, false);
    });
  }

  #tryPassword(head: RequestHead, { place, entry, address }: Of<'password'>): void {
    const form = new PasswordForm({ head, place, say: (password) => this.#context.policy.tryPassword(entry, address, password) }, (answer) => {
      if ('response' in answer) return this.#answer(answer.response);
      this.#form = answer.form;
      this.#refuseRequest(answer.refusal, 'the visitor did not say the password of the whitelist', entry);
    });
    this.#begin(form);
    if (this.side.requestOver) form.requestSent();
  }

  #forward(head: RequestHead, { entry, origin, place }: Of<'forward'>): void {
    const { method } = head;
    const bodyless = this.side.requestOver;
    const exchange = Exchange.open(this, entry, this.#context, { method, upgrade: upgradeOf(head) !== undefined, bodyless });
    if (!exchange) return this.#refuseRequest('offline', 'the agent takes no connection', entry);
    this.#context.trace?.say(this.side, 'admitted', { hostId: entry.id, clientId: entry.wanted.clientId, method });
    this.#entry = entry;
    this.#visit = { address: this.address, kept: true, head };
    this.#begin(exchange);
    exchange.request(this.side.heads.write(head, place.path, entry.fields, origin));
    if (bodyless) exchange.requestSent();
  }

  /** From now on the request's body is for `responder`. */
  #begin(responder: Responder): void {
    this.#responder = responder;
    this.side.waitState.begin(this.side.requestOver ? 'response' : 'body');
  }

  // The request's body

  /** A piece of it, chunk sizes included. */
  body(piece: Buffer): void {
    this.side.waitState.received(piece.length);
    if (this.#responder?.send(piece) === false) this.side.pauseVisitor();
  }

  /** Reports that the body is complete. Not called for requests without a body. */
  bodyOver(): void {
    if (!this.#responding) this.side.waitState.begin('response');
    this.#responder?.requestSent();
  }

  /** After 101: bytes of the other protocol. */
  pass(bytes: Buffer): void {
    this.#responder?.send(bytes);
  }

  /** After 101: the visitor ended the direction to the target. */
  finish(): void {
    this.#responder?.finish();
  }

  /** The visitor takes bytes again. */
  resume(): void {
    this.#responder?.resume();
  }

  /** The visitor has disconnected or canceled the request. */
  close(): void {
    this.#over = true;
    this.#responder?.close();
    this.#responder = undefined;
  }

  // The exchange

  upgraded(): void {
    this.responding();
    this.side.upgraded();
  }

  responding(): void {
    this.#responding = true;
    this.side.waitState.begin('nothing');
  }

  answered(whole: boolean): void {
    this.#responder = undefined;
    this.side.answered(whole);
  }

  refuse(refusal: Refusal, reason: string): void {
    if (this.#over) return;
    // Once a response has begun, no other one can be sent.
    if (this.#responding) return this.side.cutOff();
    const cause = (refusal === 'refused' || refusal === 'offline' ? this.#blocked() : undefined) ?? { refusal, reason };
    this.side.answer(this.#refusal(cause.refusal, cause.reason), true);
  }

  /** Refuses a request that is not valid HTTP. */
  refuseMalformed(error: HttpSyntaxError): void {
    this.refuse(refusalOf(error), error.message);
  }

  /** Why the request's connection was closed: it would no longer be admitted, for example because the flow limit is reached. */
  #blocked(): { readonly refusal: Refusal; readonly reason: string } | undefined {
    const blocked = this.#entry && this.#visit && this.#context.gate(this.#entry, this.#visit);
    return blocked?.refusal === 'notListed' ? undefined : blocked;
  }

  #refuseRequest(refusal: Refusal, reason: string, entry?: HostEntry): void {
    this.#entry = entry;
    this.#answer(this.#refusal(refusal, reason));
  }

  /** Answers a valid request; the connection is kept if its body was read. */
  #answer(response: OwnResponse): void {
    this.#responder = undefined;
    this.side.answer(response, !this.side.requestOver);
  }

  #refusal(refusal: Refusal, reason: string): OwnResponse {
    this.#context.trace?.say(this.side, 'refused', { hostId: this.#entry?.id, cause: refusal, reason });
    const id = this.#context.refusals.note({ refusal, reason, hostId: this.#entry?.id, address: this.address });
    const form = this.#form ?? (this.#head ? formOf(this.#head) : A_PAGE);
    return refusalResponse(refusal, { id, ...form });
  }

  /** A timeout has expired. */
  expire(): void {
    const { waiting } = this.side.waitState;
    if (waiting === 'response') this.#responder?.silent();
    else if (waiting === 'nothing') this.side.cutOff();
    else this.refuse('timeout', `the request did not arrive in time (${waiting})`);
  }
}

/** A request without a body whose response is not known yet, but soon. */
const NOT_YET: Responder = { send: () => true, requestSent: () => {}, finish: () => {}, resume: () => {}, silent: () => {}, close: () => {} };

/** The form of a request's refusal. */
function formOf({ fields, method }: RequestHead): Pick<RefusalForm, 'json' | 'headOnly'> {
  return { json: prefersJson(fields), headOnly: method === 'HEAD' };
}
