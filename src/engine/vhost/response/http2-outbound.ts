import type { UnreadHolder, UnreadLedger } from '../../../wire/unread-budget.ts';

/** Maximum bytes of heads that may wait in a session until its visitor reads. */
const MOST_WAITING = 256 * 1024;
/** The number of waiting heads is checked after this many more. */
const COUNT_EVERY = 16 * 1024;
/** How often a session whose visitor has to read first is checked, in ms. Node has no event for it. */
const LOOK_MS = 50;

/** What is asked of an HTTP/2 session. */
interface OutboundSession {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly state: { readonly outboundQueueSize?: number };
  readonly destroyed: boolean;
}

/**
 * What waits in an HTTP/2 session for a visitor that does not read. Bodies wait in their streams, which report when they are full. Heads (1xx and the
 * response's) go straight to the session, which takes any number of them: they are counted here.
 */
export class Http2Outbound implements UnreadHolder {
  readonly peer: string;
  readonly reset: () => void;
  readonly #session: OutboundSession;
  readonly #unread: UnreadLedger;
  /** Bytes handed over since the session last had nothing left to send. */
  #bytes = 0;
  /** Bytes last reported to the account. */
  #reported = 0;
  #closed = false;
  #waiting: Array<() => void> = [];

  /** @param cutOff ends the session */
  constructor(session: OutboundSession, unread: UnreadLedger, cutOff: () => void) {
    this.#session = session;
    this.#unread = unread;
    this.reset = cutOff;
    this.peer = session.socket.remoteAddress ?? '';
    unread.open(this);
  }

  /** Counts the bytes of a head that was passed to the session. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes - this.#reported > COUNT_EVERY) this.recount();
  }

  recount(): number {
    if (!this.#waits) this.#bytes = 0;
    const more = this.#bytes - this.#reported;
    this.#reported = this.#bytes;
    if (more !== 0) this.#unread.add(more);
    return this.#bytes;
  }

  get #waits(): boolean {
    return !this.#closed && !this.#session.destroyed && Boolean(this.#session.state.outboundQueueSize);
  }

  /** The session's socket is closed. */
  close(): void {
    this.#closed = true;
    this.recount();
    this.#unread.close(this);
  }

  /** Too much waits: nothing more may be handed over for now. */
  get full(): boolean {
    if (this.#bytes < MOST_WAITING || this.#session.destroyed) return false;
    if (this.#session.state.outboundQueueSize) return true;
    this.#bytes = 0;
    return false;
  }

  /** Calls `resume` when it is no longer full. */
  wait(resume: () => void): void {
    this.#waiting.push(resume);
    // Mostly the visitor reads, and everything is sent at the end of this iteration of the event loop.
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
