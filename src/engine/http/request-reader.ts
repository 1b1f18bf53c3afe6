import { BodyEnd, requestFraming } from './body.ts';
import { type HeadLimits, isWorthReading, parseRequestHead, type RequestHead } from './head.ts';
import { PlainRequestHead, plainRequestHead } from './plain-head.ts';

const NOTHING = Buffer.alloc(0);
const [CR, LF] = [0x0d, 0x0a];

/** Receives requests, piece by piece. */
export interface RequestSink {
  /** The first byte of a head has come. */
  onHeadBegun(): void;
  onHead(head: RequestHead): void;
  /** A piece of the body to pass on (BodyEnd), chunk sizes included. */
  onBody(piece: Buffer): void;
  /** The body is complete. Not called when there is none. */
  onBodyOver(): void;
  /** The next request arrived before `next` was called, and waits. */
  onAhead(): void;
}

/** Parses requests, one after the other, from a visitor's bytes. */
export class RequestReader {
  readonly #sink: RequestSink;
  readonly #limits: HeadLimits;
  /** Read and not yet used. */
  #rest: Buffer = NOTHING;
  #inHead = false;
  /** How many bytes of the head were found to be incomplete. */
  #looked = 0;
  /** One empty line is allowed before the head (RFC 9112, 2.2: old clients send one after a body), not a stream of them. */
  #mayBeBlank = true;
  /** The body of the current request; undefined = the next head is being read. */
  #body: BodyEnd | undefined;
  #stopped = false;

  constructor(sink: RequestSink, limits: HeadLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  /** A head was read, and its body is incomplete. */
  get inBody(): boolean {
    return this.#body?.over === false;
  }

  /** A whole request was read, and `next` wasn't called. */
  get over(): boolean {
    return this.#body?.over === true;
  }

  /** Something was read that belongs to the next request. */
  get ahead(): boolean {
    return this.#rest.length > 0;
  }

  /** Part of the next head has arrived, and its parsing has not begun. */
  get unread(): boolean {
    return this.#rest.length > 0 && !this.#inHead;
  }

  /** Parses the bytes that are available. @param chunk new bytes @throws {HttpSyntaxError} */
  read(chunk?: Buffer): void {
    if (chunk) this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length > 0 && !this.#stopped) {
      if (this.#body ? !this.#readBody(this.#body) : !this.#readHead()) return;
    }
  }

  /** The request is answered: the next one may be read. */
  next(): void {
    this.#body = undefined;
    this.#inHead = false;
    this.#mayBeBlank = true;
  }

  /** Stops reading. @returns the bytes that were not parsed */
  stop(): Buffer {
    this.#stopped = true;
    const rest = this.#rest;
    this.#rest = NOTHING;
    return rest;
  }

  /** @returns whether there is more to be read now */
  #readHead(): boolean {
    if (!this.#inHead) {
      this.#inHead = true;
      this.#sink.onHeadBegun();
    }
    if (this.#mayBeBlank && this.#rest[0] === CR) {
      if (this.#rest.length === 1) return false;
      if (this.#rest[1] === LF) this.#rest = this.#rest.subarray(2);
    }
    this.#mayBeBlank = false;
    const head = isWorthReading(this.#rest, this.#looked, this.#limits)
      ? plainRequestHead(this.#rest, this.#limits) ?? parseRequestHead(this.#rest, this.#limits)
      : undefined;
    this.#looked = head ? 0 : this.#rest.length;
    if (!head) return false;
    this.#rest = this.#rest.subarray(head.length);
    this.#body = new BodyEnd(head instanceof PlainRequestHead ? head.framing : requestFraming(head));
    this.#sink.onHead(head);
    return true;
  }

  /** @returns whether there is more to be read now */
  #readBody(body: BodyEnd): boolean {
    if (body.over) {
      this.#sink.onAhead();
      return false;
    }
    const { taken, passed } = body.take(this.#rest);
    this.#rest = this.#rest.subarray(taken);
    if (passed.length > 0) this.#sink.onBody(passed);
    if (body.over) this.#sink.onBodyOver();
    return true;
  }
}
