import type http2 from 'node:http2';

/** Bytes of heads that may wait in a session for its visitor, before nothing more is handed to it. */
const MOST_WAITING = 256 * 1024;
/** How often a session is looked at whose visitor has to read first, in ms. Node has no event for it. */
const LOOK_MS = 50;

/**
 * What waits in an HTTP/2 session for a visitor who does not read. Bodies wait in their streams, which say when they are full. Heads (1xx and the
 * response's) go straight to the session, which takes any number of them: they are counted here.
 */
export class Http2Outbound {
  readonly #session: http2.ServerHttp2Session;
  /** Handed over since the session was last seen with nothing left to send. */
  #bytes = 0;
  #waiting: Array<() => void> = [];

  constructor(session: http2.ServerHttp2Session) {
    this.#session = session;
  }

  /** A head of so many bytes was handed to the session. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Nothing more is to be handed over for now. */
  get full(): boolean {
    if (this.#bytes < MOST_WAITING || this.#session.destroyed) return false;
    if (this.#session.state.outboundQueueSize) return true;
    this.#bytes = 0;
    return false;
  }

  /** Calls `resume` when it is no longer full. */
  wait(resume: () => void): void {
    this.#waiting.push(resume);
    // Mostly the visitor reads, and everything is sent at the end of this turn.
    if (this.#waiting.length === 1) setImmediate(() => this.#look());
  }

  #look(): void {
    if (this.full) {
      setTimeout(() => this.#look(), LOOK_MS).unref();
      return;
    }
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
