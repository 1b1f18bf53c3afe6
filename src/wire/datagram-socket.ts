import type { ByteSocket, SocketSink } from './socket.ts';

/** A length that no datagram has. It marks a record of four more bytes: the number of dropped datagrams. */
const DROPPED = 0xffff;
const LENGTH_BYTES = 2;
const DROPPED_BYTES = LENGTH_BYTES + 4;
/** This many bytes are sent immediately, without waiting for the end of the event loop's iteration. */
const BATCH = 64 * 1024;
const EMPTY = Buffer.alloc(0);

/** Maximum queued bytes of all sockets that share a budget; beyond that, datagrams are dropped. */
export const MAX_WAITING = 256 * 1024;
/** Longest datagram that a stream carries, in bytes; UDP has no longer ones. */
const MAX_DATAGRAM = DROPPED - 1;

/** Limits the queued datagrams of a tunnel or an agent. */
export class DatagramBudget {
  #waiting = 0;

  /** False = over the limit. */
  take(bytes: number): boolean {
    if (this.#waiting + bytes > MAX_WAITING) return false;
    this.#waiting += bytes;
    return true;
  }

  /** The bytes are no longer queued. */
  give(bytes: number): void {
    this.#waiting -= bytes;
  }
}

/** The owner of a datagram socket: where datagrams from the peer are delivered. */
export interface DatagramSession {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly budget: DatagramBudget;
  /** A datagram from the peer; the receiver owns it. */
  onDatagram(bytes: Buffer): void;
  /** The peer reports dropped datagrams. */
  onPeerDropped?(count: number): void;
  /** The session has ended, for any reason. Called once, always last. */
  onClose(): void;
}

/**
 * The local end of a stream that carries datagrams and keeps their boundaries: each is a length (u16) and its bytes. Datagrams of one iteration of the
 * event loop are sent together. There is no back-pressure: a datagram that does not fit is dropped and counted, and the count is reported to the peer.
 */
export class DatagramSocket implements ByteSocket {
  readonly pending = 0;
  readonly #session: DatagramSession;
  #sink: SocketSink | undefined;
  #paused = false;
  #flushing = false;
  /** Queued datagrams, still without their length prefixes. */
  #queue: Buffer[] = [];
  /** Bytes of the queue, including the length prefixes. */
  #queued = 0;
  #dropped = 0;
  /** The beginning of a datagram that has not arrived completely. */
  #rest: Buffer = EMPTY;
  #ended = false;
  #closed = false;

  constructor(session: DatagramSession) {
    this.#session = session;
  }

  get remoteAddress(): string {
    return this.#session.remoteAddress;
  }

  get remotePort(): number {
    return this.#session.remotePort;
  }

  /** Sends a datagram to the peer. The bytes must not be changed afterwards. False = it was dropped. */
  send(bytes: Buffer): boolean {
    const size = LENGTH_BYTES + bytes.length;
    if (this.#ended || bytes.length > MAX_DATAGRAM || !this.#session.budget.take(size)) {
      this.#dropped++;
      return false;
    }
    this.#queue.push(bytes);
    this.#queued += size;
    if (this.#queued >= BATCH) this.#flush();
    else this.#flushSoon();
    return true;
  }

  /** A datagram from the peer could not be delivered: the number is reported to the peer. */
  drop(): void {
    this.#dropped++;
    this.#flushSoon();
  }

  /** Ends the session cleanly. */
  close(): void {
    if (this.#ended) return;
    this.#flush();
    this.#ended = true;
    this.#sink?.onEnd();
  }

  #flushSoon(): void {
    if (this.#flushing || this.#paused || !this.#sink) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#paused || this.#ended || !this.#sink || (this.#queued === 0 && this.#dropped === 0)) return;
    const batch = Buffer.allocUnsafe(this.#queued + (this.#dropped > 0 ? DROPPED_BYTES : 0));
    let at = 0;
    for (const bytes of this.#queue) {
      at = batch.writeUInt16BE(bytes.length, at);
      batch.set(bytes, at);
      at += bytes.length;
    }
    if (this.#dropped > 0) batch.writeUInt32BE(this.#dropped, batch.writeUInt16BE(DROPPED, at));
    this.#dropped = 0;
    this.#forgetQueue();
    this.#sink.onData(batch);
  }

  #forgetQueue(): void {
    this.#session.budget.give(this.#queued);
    this.#queue = [];
    this.#queued = 0;
  }

  // The stream

  attach(sink: SocketSink): void {
    this.#sink = sink;
    this.#flushSoon();
  }

  unread(): void {
    throw new Error('datagrams are not read too far');
  }

  write(chunk: Buffer, taken?: () => void): boolean {
    // Borrowed bytes are copied, since the system may take datagrams later.
    const bytes = this.#rest.length === 0 && !taken ? chunk : Buffer.concat([this.#rest, chunk]);
    taken?.();
    let at = 0;
    while (bytes.length - at >= LENGTH_BYTES && !this.#closed) {
      const length = bytes.readUInt16BE(at);
      const end = at + (length === DROPPED ? DROPPED_BYTES : LENGTH_BYTES + length);
      if (end > bytes.length) break;
      if (length === DROPPED) this.#session.onPeerDropped?.(bytes.readUInt32BE(at + LENGTH_BYTES));
      else this.#session.onDatagram(bytes.subarray(at + LENGTH_BYTES, end));
      at = end;
    }
    this.#rest = at === bytes.length ? EMPTY : bytes.subarray(at);
    return true;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#flushSoon();
  }

  end(): void {
    this.close();
    this.#finish();
  }

  destroy(): void {
    this.#ended = true;
    this.#finish();
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#forgetQueue();
    this.#session.onClose();
    this.#sink?.onClose();
  }
}
