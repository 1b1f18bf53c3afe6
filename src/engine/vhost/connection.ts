import type { ByteSocket, SocketSink } from '../../wire/socket.ts';
import { closeSoon } from '../../wire/linger.ts';
import { requestedHost } from '../../rules/host-name.ts';
import { BodyEnd, requestFraming } from '../http/body.ts';
import { formatHead, listOf, parseRequestHead, type RequestHead, valuesOf } from '../http/head.ts';
import { HttpSyntaxError } from '../http/syntax-error.ts';
import { Exchange, type ExchangeOwner } from './exchange.ts';
import type { HostEntry } from './hosts.ts';
import { newRequestId, prefersJson, type Refusal, refusalResponse, statusOf } from './refusal.ts';
import { fieldsForTarget, type Origin, upgradeOf, visitorOf } from './request-fields.ts';
import type { VhostContext } from './vhost-context.ts';

/** What a connection waits for: decides how long it may take. */
export type Waiting = 'first' | 'head' | 'idle' | 'body' | 'response' | 'nothing';

const NOTHING = Buffer.alloc(0);

/**
 * One visitor's HTTP/1.x connection: reads heads, finds the host of each, and moves the bodies between visitor and target without
 * touching them. One request at a time; those that are sent ahead wait unread.
 */
export class VhostConnection implements SocketSink, ExchangeOwner {
  readonly visitor: ByteSocket;
  readonly #context: VhostContext;
  readonly #scheme: 'http' | 'https';
  readonly #onGone: (connection: VhostConnection) => void;
  /** Read and not yet used. */
  #rest: Buffer = NOTHING;
  #exchange: Exchange | undefined;
  /** The request's body; undefined = a head is read. */
  #body: BodyEnd | undefined;
  /** The visitor's bytes go to the target as they are. */
  #upgraded = false;
  /** No further request is read. */
  #last = false;
  #over = false;
  #visitorEnded = false;
  /** Of the visitor whose request is under way: behind a proxy not the other end of the connection. */
  address: string;
  waiting: Waiting = 'first';
  /** When it began to wait, by the monotonic clock. */
  since = performance.now();
  /** When the visitor last took everything that was written. */
  drainedAt = performance.now();
  /** Bytes of the body that arrived since `since`. */
  #received = 0;
  /** The visitor isn't read: the target takes no more. */
  #held = false;

  /** @param onGone called once, when it is over */
  constructor(visitor: ByteSocket, scheme: 'http' | 'https', context: VhostContext, onGone: (connection: VhostConnection) => void) {
    this.visitor = visitor;
    this.address = visitor.remoteAddress;
    this.#context = context;
    this.#scheme = scheme;
    this.#onGone = onGone;
    visitor.attach(this);
  }

  // The visitor

  onData(chunk: Buffer): void {
    if (this.#over) return;
    if (this.#upgraded) {
      this.#exchange?.send(chunk);
      return;
    }
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#guard(() => this.#read());
  }

  onEnd(): void {
    this.#visitorEnded = true;
    if (this.#over) return;
    if (this.#upgraded) this.#exchange?.finish();
    // Who has sent a whole request may close his direction and still wait for the answer.
    else if (this.#body?.over !== true) this.#close();
    else this.#last = true;
  }

  onDrain(): void {
    this.drainedAt = performance.now();
    this.#exchange?.resume();
  }

  /** Whether the visitor has sent less than `bytes` of the body since `since`; starts counting anew. Who is told to wait isn't slow. */
  tooSlow(bytes: number): boolean {
    const slow = !this.#held && this.#received < bytes;
    this.#received = 0;
    this.since = performance.now();
    return slow;
  }

  onClose(): void {
    this.#end();
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof HttpSyntaxError)) throw error;
      this.refuse(error.status === 431 ? 'tooLarge' : error.status === 501 ? 'notSpoken' : error.status === 505 ? 'version' : 'malformed', error.message);
    }
  }

  #read(): void {
    while (this.#rest.length > 0 && !this.#over && !this.#upgraded) {
      if (this.#body) {
        if (!this.#readBody(this.#body)) return;
      } else if (!this.#readHead()) {
        return;
      }
    }
  }

  /** @returns whether there is more to be read now */
  #readHead(): boolean {
    // An empty line before a request is what old programs leave behind (RFC 9112, 2.2): one, not a stream of them.
    const blank = this.#rest.length >= 2 && this.#rest[0] === 0x0d && this.#rest[1] === 0x0a ? 2 : 0;
    if (blank > 0 && this.waiting !== 'head') this.#rest = this.#rest.subarray(blank);
    if (this.waiting !== 'head') this.#wait('head');
    const head = parseRequestHead(this.#rest);
    if (!head) return false;
    this.#rest = this.#rest.subarray(head.length);
    this.#body = new BodyEnd(requestFraming(head));
    this.#onRequest(head);
    return true;
  }

  /** @returns whether there is more to be read now */
  #readBody(body: BodyEnd): boolean {
    const exchange = this.#exchange;
    if (body.over || !exchange) {
      // What follows is the next request: it waits until this one is answered.
      this.visitor.pause();
      return false;
    }
    const taken = body.take(this.#rest);
    const piece = this.#rest.subarray(0, taken);
    this.#rest = this.#rest.subarray(taken);
    this.#received += taken;
    if (taken > 0 && !exchange.send(piece)) this.pauseVisitor();
    if (body.over) {
      this.#wait('response');
      exchange.requestSent();
    }
    return true;
  }

  #onRequest(head: RequestHead): void {
    const place = placeOf(head);
    this.#last ||= head.minor === 0 || listOf(head.fields, 'connection').includes('close');
    const host = requestedHost(place.host);
    const entry = host === undefined ? undefined : this.#context.match({ host, path: place.path, scheme: this.#scheme });
    if (!entry) return this.#refuseRequest(head, 'noRoute', `no host takes ${place.host}`);
    if (this.#scheme === 'http' && entry.wanted.autoHttps) return this.#redirect(place);
    const { remoteAddress: peer } = this.visitor;
    const trusted = this.#context.trusts(peer);
    const address = trusted ? visitorOf(head.fields, peer, (other) => this.#context.trusts(other)) : peer;
    this.address = address;
    const refusal = this.#context.gate(entry, { address, kept: this.#exchange?.reusableFor(entry) === true, head });
    if (refusal) return this.#refuseRequest(head, refusal.refusal, refusal.reason, entry);
    this.#forward(head, entry, { address: peer, scheme: this.#scheme, host: place.host, trusted }, place.path);
  }

  #forward(head: RequestHead, entry: HostEntry, origin: Origin, path: string): void {
    const start = `${head.method} ${path} HTTP/1.${head.minor}`;
    const bytes = formatHead(start, fieldsForTarget(head, entry.wanted, origin));
    const kept = this.#exchange;
    const reusable = kept?.reusableFor(entry) === true;
    if (kept && !reusable) kept.close();
    const exchange = reusable && kept ? kept : Exchange.open(this, entry, this.#context);
    if (!exchange) return this.#refuseRequest(head, 'offline', 'the agent takes no connection', entry);
    this.#exchange = exchange;
    const bodyless = this.#body?.over === true;
    this.#wait(bodyless ? 'response' : 'body');
    exchange.request(bytes, { method: head.method, minor: head.minor, upgrade: upgradeOf(head) !== undefined, bodyless, json: prefersJson(head.fields) });
    if (bodyless) exchange.requestSent();
  }

  // The exchange

  /** Nothing more may be sent to the target for now. */
  pauseVisitor(): void {
    this.#held = true;
    this.visitor.pause();
  }

  resumeVisitor(): void {
    this.#held = false;
    if (this.#upgraded || (this.#body && !this.#body.over)) this.visitor.resume();
  }

  /** The target agreed to change the protocol. */
  upgraded(): void {
    this.#upgraded = true;
    this.#wait('nothing');
    const rest = this.#rest;
    this.#rest = NOTHING;
    if (rest.length > 0) this.#exchange?.send(rest);
    this.visitor.resume();
    if (this.#visitorEnded) this.#exchange?.finish();
  }

  get keepsOpen(): boolean {
    return !this.#last;
  }

  /** The head of the response was sent: from here on it may take its time. */
  responding(): void {
    this.#wait('nothing');
  }

  /** The response is complete. @param reusable the connection to the visitor is fit for another request */
  answered(reusable: boolean): void {
    if (!reusable || this.#last || this.#body?.over !== true) {
      this.#close();
      return;
    }
    this.#body = undefined;
    this.#wait('idle');
    this.visitor.resume();
    if (this.#rest.length > 0) setImmediate(() => this.#guard(() => this.#read()));
    else if (this.#visitorEnded) this.#close();
  }

  /** No response came, and none can any more. */
  failed(refusal: Refusal, reason: string, json: boolean): void {
    this.refuse(refusal, reason, json);
  }

  /** The response was cut off: the visitor sees a broken connection, not a short answer. */
  cutOff(): void {
    this.visitor.destroy(true);
    this.#end();
  }

  // Answers of our own

  /** Answers and closes: what comes after this is not to be trusted, or did not come. */
  refuse(refusal: Refusal, reason: string, json = false): void {
    if (this.#over) return;
    this.#say(refusal, reason, { json, headOnly: false, close: true });
    this.#close();
  }

  /** Answers a request that is in order; the connection goes on if its body is here. */
  #refuseRequest(head: RequestHead, refusal: Refusal, reason: string, entry?: HostEntry): void {
    const close = this.#last || this.#body?.over !== true;
    this.#say(refusal, reason, { json: prefersJson(head.fields), headOnly: head.method === 'HEAD', close }, entry);
    this.answered(!close);
  }

  #say(refusal: Refusal, reason: string, form: { readonly json: boolean; readonly headOnly: boolean; readonly close: boolean }, entry?: HostEntry): void {
    const id = newRequestId();
    this.#context.log.info({ id, hostId: entry?.id, address: this.visitor.remoteAddress, status: statusOf(refusal) }, `a request was refused: ${reason}`);
    this.visitor.write(refusalResponse(refusal, { id, ...form }));
  }

  #redirect({ host, path }: { readonly host: string; readonly path: string }): void {
    const name = host.replace(/:\d*$/, '');
    const port = this.#context.httpsPort === 443 ? '' : `:${this.#context.httpsPort}`;
    const close = this.#last || this.#body?.over !== true;
    this.visitor.write(formatHead('HTTP/1.1 301 Moved Permanently', [
      { name: 'Location', value: `https://${name}${port}${path}` },
      { name: 'Content-Length', value: '0' },
      ...(close ? [{ name: 'Connection', value: 'close' }] : []),
    ]));
    this.answered(!close);
  }

  #wait(waiting: Waiting): void {
    this.waiting = waiting;
    this.since = performance.now();
    this.#received = 0;
    this.drainedAt = this.since;
  }

  #close(): void {
    if (this.#over) return;
    this.#end();
    closeSoon(this.visitor);
  }

  /** Gives up: it took too long. */
  expire(): void {
    if (this.#over) return;
    if (this.waiting === 'head' || this.waiting === 'body') this.refuse('timeout', `the request did not arrive in time (${this.waiting})`);
    else if (this.waiting === 'response') this.#exchange?.silent();
    else this.#close();
  }

  /** The server is about to stop: no further request. */
  drain(): void {
    this.#last = true;
    if (this.waiting === 'first' || this.waiting === 'idle') this.#close();
  }

  /** Ends at once: the server stops, or the host does. */
  destroy(): void {
    this.visitor.destroy(true);
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#exchange?.close();
    this.#exchange = undefined;
    this.#rest = NOTHING;
    this.#onGone(this);
  }
}

/** Where a request goes: by its target in absolute form, else by its Host field. @throws {HttpSyntaxError} */
function placeOf({ target, minor, fields, method }: RequestHead): { readonly host: string; readonly path: string } {
  const [host, ...more] = valuesOf(fields, 'host');
  if (more.length > 0) throw new HttpSyntaxError('more than one Host');
  if (host === undefined && minor === 1) throw new HttpSyntaxError('no Host');
  if (method === 'CONNECT') throw new HttpSyntaxError('this is no proxy', 501);
  if (target.startsWith('/')) return { host: host ?? '', path: target };
  if (target === '*' && method === 'OPTIONS') return { host: host ?? '', path: '*' };
  const absolute = /^https?:\/\/([^/?#@]+)(\/[^#]*|\?[^#]*)?$/i.exec(target);
  if (!absolute) throw new HttpSyntaxError('the target of the request is malformed');
  const [, authority = '', path = '/'] = absolute;
  return { host: authority, path: path.startsWith('/') ? path : `/${path}` };
}
