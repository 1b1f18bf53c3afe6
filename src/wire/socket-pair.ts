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
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly local?: SocketAddress;
  readonly peer: PairedSocket;
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
    setImmediate(() => {
      if (this.#sink !== sink) return;
      this.#flowing = true;
      // A sink that takes over from another one gets `onEnd`, too.
      this.#sawEnd = false;
      if (this.#closed) sink.onClose(this.#error);
      else this.#deliver();
    });
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
    if (!this.#open || this.#queued > 0 || this.#delivering || this.#sink?.borrows !== true) return false;
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
    while (this.#open) {
      const chunk = this.#queue.shift();
      if (!chunk) break;
      this.#queued -= chunk.length;
      sink?.onData(chunk);
    }
    this.#delivering = false;
    if (!this.#drained) return;
    if (this.#blocking) {
      this.#blocking = false;
      this.peer.#sink?.onDrain();
    }
    // The peer may have written more, which paused us, and then ended: the end follows those bytes.
    if (this.#drained && this.peer.#ended && !this.#sawEnd) {
      this.#sawEnd = true;
      sink?.onEnd();
      this.#closeWhenDone();
    }
  }

  get #open(): boolean {
    return this.#flowing && !this.#paused && !this.#closed;
  }

  /** Everything so far was delivered, and delivery is open. */
  get #drained(): boolean {
    return this.#open && this.#queued === 0;
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
    const sink = this.#sink;
    // A sink that isn't flowing yet is notified when it is.
    if (sink && this.#flowing) setImmediate(() => sink.onClose(error));
  }
}
