import type { ByteSocket, SocketAddress, SocketSink } from './socket.ts';

/** Maximum queued bytes for one end before the other end has to pause. */
const HIGH_WATER = 64 * 1024;

/** The peer of a pair, as its second end reports it. */
export interface PairOrigin {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly local?: SocketAddress;
}

/**
 * Two sockets that are connected with each other inside this process: data written to one is read from the other, with
 * back-pressure and half close. Joins two streams.
 * @param origin the addresses that both ends report for the peer and for themselves
 */
export function socketPair(origin: PairOrigin): [ByteSocket, ByteSocket] {
  const near = new PairedSocket(origin);
  return [near, near.peer];
}

class PairedSocket implements ByteSocket {
  /** Those to which something happens in the next iteration of the event loop: one immediate for all, since a short connection needs four. */
  static #next: PairedSocket[] = [];
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly local?: SocketAddress;
  readonly peer: PairedSocket;
  readonly takesAtOnce = true;
  #sink: SocketSink | undefined;
  /** The sink was attached in an earlier iteration of the event loop. */
  #flowing = false;
  #paused = false;
  #delivering = false;
  /** Bytes on the way to this end. */
  #queue: Buffer[] = [];
  #queued = 0;
  /** `write` has returned false to the other end. */
  #blocking = false;
  /** Our direction ended. */
  #ended = false;
  /** The peer's direction ended, and the sink was notified. */
  #sawEnd = false;
  #closed = false;
  /** The sink knows that it is closed. */
  #toldClosed = false;
  #error: Error | undefined;

  constructor(origin: PairOrigin, peer?: PairedSocket) {
    this.remoteAddress = origin.remoteAddress;
    this.remotePort = origin.remotePort;
    this.local = origin.local;
    this.peer = peer ?? new PairedSocket(origin, this);
  }

  get pending(): number {
    return this.peer.#queued;
  }

  attach(sink: SocketSink): void {
    this.#sink = sink;
    this.#flowing = false;
    this.#paused = false;
    this.#toldClosed = false;
    this.#soon();
  }

  #soon(): void {
    if (PairedSocket.#next.push(this) === 1) setImmediate(PairedSocket.#turn);
  }

  static readonly #turn = (): void => {
    const next = PairedSocket.#next;
    PairedSocket.#next = [];
    for (const socket of next) socket.#begin();
  };

  /** The sink was attached, or the socket was closed, in an earlier iteration. */
  #begin(): void {
    const attached = !this.#flowing;
    this.#flowing = true;
    if (!this.#closed) {
      if (!attached) return;
      // A sink that takes over from another one gets `onEnd`, too.
      this.#sawEnd = false;
      this.#deliver();
    } else if (!this.#toldClosed) {
      this.#toldClosed = true;
      this.#sink?.onClose(this.#error);
    }
  }

  unread(chunk: Buffer): void {
    this.#queue.unshift(chunk);
    this.#queued += chunk.length;
  }

  write(chunk: Buffer, taken?: () => void): boolean {
    if (!taken) return this.peer.#take(chunk);
    if (this.peer.#lend(chunk)) {
      taken();
      return !this.peer.#blocking;
    }
    const more = this.peer.#take(Buffer.from(chunk));
    taken();
    return more;
  }

  /** Delivers a lent chunk without a copy, if no other bytes wait and the sink does not keep it. @returns false = it was not delivered */
  #lend(chunk: Buffer): boolean {
    if (!this.#isOpen() || this.#queued > 0 || this.#delivering || this.#sink?.borrows !== true) return false;
    this.#delivering = true;
    this.#sink.onData(chunk);
    this.#delivering = false;
    this.#blocking ||= this.#paused;
    this.#deliver();
    return true;
  }

  #take(chunk: Buffer): boolean {
    if (this.#closed) return true;
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    this.#deliver();
    this.#blocking ||= this.#queued > HIGH_WATER;
    return !this.#blocking;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#deliver();
  }

  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    const sink = this.#sink;
    while (this.#isOpen()) {
      const chunk = this.#queue.shift();
      if (!chunk) break;
      this.#queued -= chunk.length;
      sink?.onData(chunk);
    }
    this.#delivering = false;
    if (!this.#isDrained()) return;
    if (this.#blocking) {
      this.#blocking = false;
      this.peer.#sink?.onDrain();
    }
    // The peer may have written more, which paused us, and then ended: the end follows those bytes.
    if (this.#isDrained() && this.peer.#ended && !this.#sawEnd) {
      this.#sawEnd = true;
      sink?.onEnd();
      this.#closeWhenDone();
    }
  }

  /** Node's private accessors take many times as long as methods. */
  #isOpen(): boolean {
    return this.#flowing && !this.#paused && !this.#closed;
  }

  /** Everything so far was delivered, and delivery is open. */
  #isDrained(): boolean {
    return this.#isOpen() && this.#queued === 0;
  }

  end(): void {
    if (this.#ended || this.#closed) return;
    this.#ended = true;
    this.peer.#deliver();
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (!this.#sawEnd || !this.peer.#sawEnd) return;
    this.#close(undefined);
    this.peer.#close(undefined);
  }

  destroy(): void {
    this.#close(undefined);
    if (!this.peer.#closed) this.peer.#close(new Error('the other end was closed'));
  }

  #close(error: Error | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#error = error;
    this.#queue = [];
    this.#queued = 0;
    if (this.#sink) this.#soon();
  }
}
