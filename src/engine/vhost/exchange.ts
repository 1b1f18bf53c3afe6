import { decodeDialResult } from '../../wire/dial-result.ts';
import type { ByteSocket, SocketSink } from '../../wire/socket.ts';
import { BodyEnd, responseFraming } from '../http/body.ts';
import { type Field, formatHead, listOf, parseResponseHead, type ResponseHead } from '../http/head.ts';
import { HttpSyntaxError } from '../http/syntax-error.ts';
import type { HostEntry } from './hosts.ts';
import type { Refusal } from './refusal.ts';
import { fieldsForVisitor } from './request-fields.ts';
import type { VhostContext } from './vhost-context.ts';

/** The visitor's side of an exchange. */
export interface ExchangeOwner {
  readonly visitor: ByteSocket;
  /** The visitor's. */
  readonly address: string;
  /** Another request may follow on this connection. */
  readonly keepsOpen: boolean;
  pauseVisitor(): void;
  resumeVisitor(): void;
  upgraded(): void;
  responding(): void;
  answered(reusable: boolean): void;
  failed(refusal: Refusal, reason: string, json: boolean): void;
  cutOff(): void;
}

/** What of a request decides about its response. */
export interface Asked {
  readonly method: string;
  readonly minor: 0 | 1;
  readonly upgrade: boolean;
  readonly bodyless: boolean;
  /** A refusal is to be JSON. */
  readonly json: boolean;
}

const NOTHING = Buffer.alloc(0);
/** Methods that a target may be asked twice when a kept connection turns out to be closed. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A connection to a target, and the request and response that are under way on it; it is kept for the visitor's next request. */
export class Exchange implements SocketSink {
  readonly #owner: ExchangeOwner;
  readonly #entry: HostEntry;
  readonly #context: VhostContext;
  #target: ByteSocket;
  /** The agent has said that the target took the connection. */
  #connected = false;
  #asked: Asked | undefined;
  /** The request's head, while it could have to be sent again. */
  #repeat: Buffer | undefined;
  #requestSent = false;
  /** Read and not yet used: a head that isn't complete. */
  #rest: Buffer = NOTHING;
  #body: BodyEnd | undefined;
  #upgraded = false;
  /** The target's connection is fit for another request. */
  #persistent = false;
  #closed = false;

  /** Begins with a connection to the host's next target; undefined = there is none to be had. */
  static open(owner: ExchangeOwner, entry: HostEntry, context: VhostContext): Exchange | undefined {
    const target = context.dial(entry, { remoteAddress: owner.address, remotePort: owner.visitor.remotePort });
    return target && new Exchange(owner, entry, context, target);
  }

  private constructor(owner: ExchangeOwner, entry: HostEntry, context: VhostContext, target: ByteSocket) {
    this.#owner = owner;
    this.#entry = entry;
    this.#context = context;
    this.#target = target;
    target.attach(this);
  }

  /** Whether the next request, to this host, can use the connection. A host that was changed meanwhile gets a new one. */
  reusableFor(entry: HostEntry): boolean {
    return this.#persistent && !this.#closed && this.#asked === undefined && this.#entry === entry;
  }

  /** Sends a request's head. */
  request(head: Buffer, asked: Asked): void {
    this.#asked = asked;
    this.#repeat = this.#persistent && asked.bodyless && repeatable.has(asked.method) ? head : undefined;
    this.#requestSent = false;
    this.#persistent = false;
    this.#target.write(head);
  }

  /** Sends a piece of the request's body, or of what follows an upgrade. False = wait for resumeVisitor. */
  send(piece: Buffer): boolean {
    const more = this.#target.write(piece);
    if (!more && this.#upgraded) this.#owner.pauseVisitor();
    return more;
  }

  /** The whole request was sent. */
  requestSent(): void {
    this.#requestSent = true;
    if (this.#asked && this.#body?.over) this.#complete();
  }

  /** The visitor ended his direction, after an upgrade. */
  finish(): void {
    this.#target.end();
  }

  /** The visitor takes bytes again. */
  resume(): void {
    if (!this.#closed) this.#target.resume();
  }

  /** The target took too long. */
  silent(): void {
    this.#fail('silent', 'the target sent no response in time');
  }

  #fail(refusal: Refusal, reason: string): void {
    const json = this.#asked?.json === true;
    this.close();
    this.#owner.failed(refusal, reason, json);
  }

  /** The visitor is gone, or goes elsewhere. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#target.destroy(this.#asked !== undefined);
  }

  // The target

  onData(chunk: Buffer): void {
    if (this.#closed) return;
    if (this.#upgraded) {
      this.#toVisitor(chunk);
      return;
    }
    let bytes = chunk;
    if (!this.#connected) {
      const result = decodeDialResult(chunk[0]);
      if (result !== 'connected') return this.#fail(result === 'timeout' ? 'silent' : 'refused', `the target could not be dialled: ${result}`);
      this.#connected = true;
      bytes = chunk.subarray(1);
    }
    try {
      this.#read(this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]));
    } catch (error) {
      if (!(error instanceof HttpSyntaxError)) throw error;
      this.#break(`the target's response is malformed: ${error.message}`);
    }
  }

  #read(bytes: Buffer): void {
    let rest = bytes;
    this.#rest = NOTHING;
    while (rest.length > 0 && !this.#closed && !this.#upgraded) {
      if (!this.#asked) {
        // A target that speaks without being asked: whose answer it would be is anybody's guess.
        this.close();
        return;
      }
      if (this.#body) {
        const taken = this.#body.take(rest);
        if (taken > 0) this.#toVisitor(rest.subarray(0, taken));
        rest = rest.subarray(taken);
        if (this.#body.over) this.#bodyOver();
        continue;
      }
      const head = parseResponseHead(rest);
      if (!head) {
        this.#rest = rest;
        return;
      }
      rest = rest.subarray(head.length);
      this.#onHead(head, this.#asked);
    }
    if (this.#upgraded && rest.length > 0) this.#toVisitor(rest);
  }

  #onHead(head: ResponseHead, asked: Asked): void {
    this.#repeat = undefined;
    const { status, reason, minor, fields } = head;
    if (status === 101) {
      if (!asked.upgrade) throw new HttpSyntaxError('a change of protocol that nobody asked for');
      this.#toVisitor(formatHead(`HTTP/1.1 101 ${reason}`, fieldsForVisitor(fields, status)));
      this.#upgraded = true;
      this.#owner.upgraded();
      return;
    }
    if (status < 200) {
      // HTTP/1.0 knows no interim responses.
      if (asked.minor === 1) this.#toVisitor(formatHead(`HTTP/1.1 ${status} ${reason}`, fieldsForVisitor(fields, status)));
      return;
    }
    const framing = responseFraming(head, asked.method);
    this.#body = new BodyEnd(framing);
    const options = listOf(fields, 'connection');
    this.#persistent = framing.kind !== 'close' && (minor === 1 ? !options.includes('close') : options.includes('keep-alive'));
    const out: Field[] = fieldsForVisitor(fields, status);
    if (framing.kind === 'close' || !this.#owner.keepsOpen || !this.#requestSent) {
      this.#mustClose = true;
      out.push({ name: 'Connection', value: 'close' });
    }
    this.#toVisitor(formatHead(`HTTP/1.1 ${status} ${reason}`, out));
    this.#owner.responding();
    if (this.#body.over) this.#bodyOver();
  }

  /** The visitor was told that his connection closes after this response. */
  #mustClose = false;

  #bodyOver(): void {
    if (this.#requestSent) {
      this.#complete();
      return;
    }
    // An early answer: what is left of the request has nobody to read it.
    this.close();
    this.#owner.answered(false);
  }

  #complete(): void {
    this.#asked = undefined;
    this.#body = undefined;
    const reusable = !this.#mustClose;
    if (!this.#persistent) this.close();
    this.#owner.answered(reusable);
  }

  #toVisitor(bytes: Buffer): void {
    if (!this.#owner.visitor.write(bytes)) this.#target.pause();
  }

  onEnd(): void {
    if (this.#closed) return;
    if (this.#upgraded) {
      this.#owner.visitor.end();
      return;
    }
    if (!this.#asked) {
      this.close();
      return;
    }
    if (this.#body) {
      try {
        this.#body.end();
      } catch {
        this.close();
        this.#owner.cutOff();
        return;
      }
      this.#bodyOver();
      return;
    }
    this.#lost('the target closed the connection without an answer');
  }

  onDrain(): void {
    this.#owner.resumeVisitor();
  }

  onClose(error?: Error): void {
    if (this.#closed) return;
    this.#lost(error ? error.message : 'the target closed the connection');
  }

  /** The target is gone before its response was complete. */
  #lost(reason: string): void {
    const asked = this.#asked;
    const repeat = this.#repeat;
    if (!asked) {
      this.close();
      return;
    }
    if (this.#body || this.#upgraded) {
      this.close();
      this.#owner.cutOff();
      return;
    }
    if (repeat && this.#redial(repeat, asked)) return;
    this.#fail('refused', reason);
  }

  /** The kept connection was closed while the request was on its way: a new one gets it, once. */
  #redial(head: Buffer, asked: Asked): boolean {
    const { address, visitor } = this.#owner;
    const target = this.#context.dial(this.#entry, { remoteAddress: address, remotePort: visitor.remotePort });
    if (!target) return false;
    this.#target.destroy();
    this.#target = target;
    this.#connected = false;
    this.#rest = NOTHING;
    target.attach(this);
    this.request(head, asked);
    this.#requestSent = true;
    return true;
  }

  /** The response can't be trusted from here on. */
  #break(reason: string): void {
    if (this.#body === undefined) return this.#fail('refused', reason);
    this.close();
    this.#owner.cutOff();
  }
}
