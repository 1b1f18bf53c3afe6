import { setImmediate as nextIteration } from 'node:timers/promises';
import { requestedHost } from '../../rules/host-name.ts';
import { parseBasic } from '../../rules/login.ts';
import { type PullSocket, SocketGoneError } from '../../wire/pull-socket.ts';
import { splice } from '../../wire/splice.ts';
import { beginMessage, BodyEnd, moveBody } from '../http/body.ts';
import { Field, valuesOf } from '../http/field.ts';
import { asItGrows, formatHead, HEAD_LIMITS, parseRequestHead, parseResponseHead, type RequestHead, type ResponseHead } from '../http/head.ts';
import { InterimLimit } from '../http/interim-limit.ts';
import { type AnswerOptions, plainAnswer } from '../http/plain-answer.ts';
import { plainRequestHead, plainResponseHead } from '../http/plain-head.ts';
import { type ProxyRequest, readProxyRequest } from '../http/proxy-request.ts';
import { readProxyResponse, type ProxyResponse } from '../http/proxy-response.ts';
import { HttpSyntaxError } from '../http/syntax-error.ts';
import type { Dialed } from './dial-through.ts';
import { type ProxyProblem, proxyProblems } from './proxy-answers.ts';
import type { ProxyVisitor } from './proxy-visitors.ts';
import type { TunnelContext } from './tunnel-context.ts';

/** Answered with an error page; the connection ends with it. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number, text: string, options?: ErrorOptions) {
    super(text, options);
    this.status = status;
  }
}

/** A reused connection to the target was closed without an answer: the visitor should try again. */
class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError';
}

type Forward = Extract<ProxyRequest, { kind: 'forward' }>;

/** Serves one visitor of an HTTP proxy, request by request. */
export class HttpProxyVisitor {
  readonly #visitor: ProxyVisitor;
  readonly #socket: PullSocket;
  readonly #context: TunnelContext;
  /** The connection that carried the last request, for the next one to the same target. */
  #kept: { readonly target: string; readonly socket: PullSocket } | undefined;
  #requests = 0;
  /** No part of the next request has arrived. */
  #idle = false;
  #draining = false;
  #method: string | undefined;
  /** Why the body of the current request cannot be read. */
  #fault: Error | undefined;
  /** A response has begun: no error response can be sent any more. */
  #answering = false;

  constructor(visitor: ProxyVisitor, context: TunnelContext) {
    this.#visitor = visitor;
    this.#socket = visitor.socket;
    this.#context = context;
    visitor.onDrain = () => {
      this.#draining = true;
      if (this.#idle) this.#socket.closeSoon();
    };
  }

  /** Resolves when the connection has ended, or is a tunnel. Never rejects. */
  async serve(): Promise<void> {
    try {
      while (await this.#serveRequest() && !this.#draining) this.#requests++;
      this.#socket.closeSoon();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#kept?.socket.destroy();
      this.#visitor.leave();
    }
  }

  #fail(error: unknown): void {
    if (error instanceof HttpSyntaxError) this.#context.refused('malformed', this.#visitor.bytes);
    const answer = answerTo(error);
    if (!answer && !(error instanceof SocketGoneError || error instanceof StaleConnectionError)) {
      this.#context.environment.log.error({ err: error }, 'a visitor of a proxy could not be served');
    }
    if (this.#answering) this.#socket.destroy();
    else this.#socket.closeSoon(answer && plainAnswer(answer.status, answer.message, { method: this.#method, closes: true }));
  }

  /** @returns whether another request may follow */
  async #serveRequest(): Promise<boolean> {
    const head = await this.#readHead();
    if (!head) return false;
    this.#method = head.method;
    this.#answering = false;
    const request = readProxyRequest(head, (authority) => this.#isOwn(authority));
    if (!this.#mayPass(head)) return this.#askForLogin(request);
    if (request.kind === 'forward') return this.#forward(request);
    await this.#tunnel(request.target);
    return false;
  }

  #isOwn(authority: string): boolean {
    const host = requestedHost(authority);
    return host !== undefined && this.#context.environment.hosts.isOwn(host);
  }

  async #readHead(): Promise<RequestHead | undefined> {
    this.#method = undefined;
    const { headMs, idleMs } = this.#context.environment.timing;
    this.#socket.deadline(this.#requests === 0 ? headMs : idleMs);
    this.#idle = true;
    const first = await this.#socket.read().catch(silence);
    this.#idle = false;
    if (!first) return undefined;
    this.#socket.unread(first);
    this.#socket.deadline(headMs);
    const head = await this.#socket.parse(asItGrows(readRequestHead));
    this.#socket.deadline(undefined);
    return head;
  }

  #mayPass(head: RequestHead): boolean {
    if (!this.#context.asksForLogin()) return true;
    const [shown, ...more] = valuesOf(head.fields, 'proxy-authorization');
    const given = shown === undefined || more.length > 0 ? undefined : parseBasic(shown);
    if (given === undefined) return false;
    const accepted = this.#context.acceptsLogin(given, this.#visitor.address);
    if (!accepted) this.#context.refused('login', this.#visitor.bytes);
    return accepted;
  }

  async #askForLogin(request: ProxyRequest): Promise<boolean> {
    const goesOn = request.kind === 'connect' || (!request.last && request.body.kind === 'length' && request.body.bytes === 0);
    const options: AnswerOptions = { method: this.#method, closes: !goesOn, fields: [Field.of('Proxy-Authenticate', 'Basic realm="nps"')] };
    await this.#socket.write(plainAnswer(407, 'This proxy asks for a user name and a password.', options));
    return goesOn;
  }

  #dial(target: string): Dialed {
    const dialed = this.#visitor.dial(target);
    if (!dialed) throw refusalFor('not-served');
    this.#socket.onGone = () => dialed.socket.destroy();
    return dialed;
  }

  async #tunnel(target: string): Promise<void> {
    await this.#leaveKept();
    const { socket, result } = this.#dial(target);
    const dialed = await result;
    if (dialed !== 'connected') throw refusalFor(dialed);
    await this.#socket.write(formatHead('HTTP/1.1 200 Connection established', []));
    splice(this.#socket.release(), socket.release());
  }

  async #forward(request: Forward): Promise<boolean> {
    const kept = await this.#takeKept(request.target);
    const { socket: upstream, result } = kept ? { socket: kept, result: undefined } : this.#dial(request.target);
    const body = new BodyEnd(request.body);
    // The request is sent while the agent still dials.
    const upload = this.#upload(request, upstream, body);
    try {
      const dialed = result && await result;
      if (dialed && dialed !== 'connected') throw refusalFor(dialed);
      const { closes, last } = await this.#download(request, upstream, kept !== undefined);
      await upload;
      if (this.#fault) throw this.#fault;
      if (last || !body.over) upstream.destroy();
      else this.#keep(request.target, upstream);
      return !closes && body.over && (this.#kept !== undefined || this.#visitor.wait());
    } catch (error) {
      upstream.destroy();
      if (this.#fault) throw this.#fault;
      throw error;
    }
  }

  /** Never rejects: an error of the visitor is stored in `#fault`, and an error of the target appears in its answer. */
  async #upload(request: Forward, upstream: PullSocket, body: BodyEnd): Promise<void> {
    this.#fault = undefined;
    try {
      await upstream.write(beginMessage(this.#socket, request.head, body));
      await moveBody(this.#socket, upstream, body);
    } catch (error) {
      // A target that reads no more may still send a response.
      if (upstream.gone) return;
      this.#fault = error instanceof Error ? error : new Error(String(error));
      upstream.destroy();
    }
  }

  async #download(request: Forward, upstream: PullSocket, used: boolean): Promise<ProxyResponse> {
    const interim = new InterimLimit();
    for (let first = true;; first = false) {
      const response = await this.#readResponse(request, upstream, interim, used && first);
      if (!response.interim) {
        const body = new BodyEnd(response.body);
        const beginning = beginResponse(upstream, response.head, body);
        this.#answering = true;
        await this.#socket.write(beginning);
        await moveBody(upstream, this.#socket, body);
        return response;
      }
      if (request.minor === 1) await this.#socket.write(response.head);
    }
  }

  async #readResponse(request: Forward, upstream: PullSocket, interim: InterimLimit, stale: boolean): Promise<ProxyResponse> {
    try {
      const head = await upstream.parse(asItGrows(readResponseHead));
      if (head) {
        const response = readProxyResponse(head, request);
        if (response.interim) interim.count(head);
        return response;
      }
    } catch (error) {
      if (error instanceof HttpSyntaxError) throw malformed(error);
      if (!(error instanceof SocketGoneError)) throw error;
    }
    if (stale) throw new StaleConnectionError('the kept connection is gone');
    throw new Refusal(502, 'The target closed the connection without an answer.');
  }

  #keep(target: string, socket: PullSocket): void {
    this.#kept = { target, socket };
    const drop = (): void => {
      this.#dropKept();
      if (!this.#visitor.wait()) this.#socket.closeSoon();
    };
    socket.onEnded = drop;
    socket.onGone = drop;
  }

  /** The connection of the previous request, if it leads to the same target and is still usable. */
  async #takeKept(target: string): Promise<PullSocket | undefined> {
    if (this.#kept?.target !== target || !this.#kept.socket.idle) {
      await this.#leaveKept();
      return undefined;
    }
    const { socket } = this.#kept;
    this.#kept = undefined;
    socket.onEnded = undefined;
    socket.onGone = undefined;
    return socket;
  }

  /** Drops the kept connection for another one. It counts until the next iteration of the event loop, and the client may be at its limit. */
  async #leaveKept(): Promise<void> {
    if (!this.#kept) return;
    this.#dropKept();
    await nextIteration();
    if (this.#socket.gone) throw new SocketGoneError('the visitor has left meanwhile');
  }

  #dropKept(): void {
    this.#kept?.socket.destroy();
    this.#kept = undefined;
  }
}

/** The head of a response with the body that has come. @throws {Refusal} when this part of the body is malformed */
function beginResponse(upstream: PullSocket, head: Buffer, body: BodyEnd): Buffer {
  try {
    return beginMessage(upstream, head, body);
  } catch (error) {
    if (error instanceof HttpSyntaxError) throw malformed(error);
    throw error;
  }
}

function malformed(cause: HttpSyntaxError): Refusal {
  return new Refusal(502, "The target's answer is malformed.", { cause });
}

function readRequestHead(bytes: Buffer): RequestHead | undefined {
  return plainRequestHead(bytes, HEAD_LIMITS, 'absolute') ?? parseRequestHead(bytes);
}

function readResponseHead(bytes: Buffer): ResponseHead | undefined {
  return plainResponseHead(bytes) ?? parseResponseHead(bytes);
}

function refusalFor(problem: ProxyProblem): Refusal {
  return new Refusal(proxyProblems[problem].status, proxyProblems[problem].text);
}

/** The error response for the visitor; undefined = none, the connection is closed. */
function answerTo(error: unknown): { readonly status: number; readonly message: string } | undefined {
  if (error instanceof Refusal || error instanceof HttpSyntaxError) return error;
  if (error instanceof SocketGoneError && error.timeout) return { status: 408, message: 'The request did not come in time.' };
  return undefined;
}

/** A visitor that has sent nothing gets no response. */
function silence(error: unknown): undefined {
  if (!(error instanceof SocketGoneError)) throw error;
  return undefined;
}
