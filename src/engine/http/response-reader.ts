import { BodyEnd, type Framing, responseFraming } from './body.ts';
import { isWorthReading, parseResponseHead, type ResponseHead } from './head.ts';
import { PlainResponseHead, plainResponseHead } from './plain-head.ts';

const NOTHING = Buffer.alloc(0);

/** Receives a response, piece by piece. */
export interface ResponseSink {
  /** 1xx: the final response follows later. After 101 there is none: another protocol begins. */
  onInterim(head: ResponseHead): void;
  onHead(head: ResponseHead, body: Framing): void;
  /** A piece of the body to pass on (BodyEnd), chunk sizes included. */
  onBody(piece: Buffer): void;
}

/** Reads the response to one request from the bytes of its connection. */
export class ResponseReader {
  readonly #method: string;
  readonly #sink: ResponseSink;
  /** Read and not yet used: a head that isn't complete. */
  #rest: Buffer = NOTHING;
  /** How many bytes of the head were found to be incomplete. */
  #looked = 0;
  #body: BodyEnd | undefined;
  #switched = false;

  /** @param method of the request */
  constructor(method: string, sink: ResponseSink) {
    this.#method = method;
    this.#sink = sink;
  }

  /** The head of the final response, or 101, was read. */
  get begun(): boolean {
    return this.#switched || this.#body !== undefined;
  }

  /** The response is complete, or was 101. */
  get over(): boolean {
    return this.#switched || this.#body?.over === true;
  }

  /** Continues to parse. @returns the bytes after the response @throws {HttpSyntaxError} */
  push(chunk: Buffer): Buffer {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = NOTHING;
    while (bytes.length > 0 && !this.over) {
      const taken = this.#body ? this.#onBody(this.#body, bytes) : this.#onHead(bytes);
      if (taken === 0) {
        this.#rest = bytes;
        return NOTHING;
      }
      bytes = bytes.subarray(taken);
    }
    return bytes;
  }

  #onBody(body: BodyEnd, bytes: Buffer): number {
    const { taken, passed } = body.take(bytes);
    if (passed.length > 0) this.#sink.onBody(passed);
    return taken;
  }

  /** @returns 0 while its end is missing */
  #onHead(bytes: Buffer): number {
    const head = isWorthReading(bytes, this.#looked) ? plainResponseHead(bytes) ?? parseResponseHead(bytes) : undefined;
    this.#looked = head ? 0 : bytes.length;
    if (!head) return 0;
    if (head.status < 200) {
      this.#sink.onInterim(head);
      this.#switched = head.status === 101;
    } else {
      const framing = head instanceof PlainResponseHead ? head.framing(this.#method) : responseFraming(head, this.#method);
      this.#body = new BodyEnd(framing);
      this.#sink.onHead(head, framing);
    }
    return head.length;
  }

  /** The connection has ended, which may be the end of the body. @throws {HttpSyntaxError} in the middle of the response */
  end(): void {
    this.#body?.end();
  }
}
