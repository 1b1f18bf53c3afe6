import { LargeBuffer } from './large-buffer.ts';
import { readSlices, type SliceReader } from './read-slices.ts';
import type { ByteSocket, SocketAddress, SocketSink } from './socket.ts';
import { NOT_WATCHED, socketWatch, type Watched } from './socket-watch.ts';
import { BUFFER_BYTES } from './spare-buffers.ts';

/**
 * The buffer that all sockets with little traffic read into. Only one socket reads at a time, and its sink has processed the bytes before the next
 * one reads. Node allocates a new buffer of 64 KB for each read, whose pages the kernel has to find and clear.
 */
export const sharedBuffer: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);

/**
 * The common part of all socket backends: delivers what is read, hands over to another sink, applies time slices, and detects that the
 * peer is gone. A backend adds reading and writing.
 */
export abstract class BaseSocket implements ByteSocket, SliceReader, Watched {
  abstract readonly remoteAddress: string;
  abstract readonly remotePort: number;
  abstract readonly local: SocketAddress;
  abstract readonly pending: number;
  /** How long one direction may have ended while no bytes move in the other, in ms; then the socket is reset. */
  halfClosedMs = Number.POSITIVE_INFINITY;
  watchPlace = NOT_WATCHED;
  iteration = -1;
  sliceBytes = 0;
  level = 0;
  levelAt = 0;
  #sink: SocketSink | undefined;
  /** The buffer for reads; undefined = the shared one. */
  #large: LargeBuffer | undefined;
  #error: Error | undefined;
  #unread: Buffer | undefined;
  #paused = false;
  #yielding = false;
  #handingOver = false;
  #delivering = false;
  #ended = false;
  #closed = false;
  /** For a half-closed socket: bytes moved in both directions at the last check, and since when the number has not changed. */
  #moved = -1;
  #stillSince = 0;

  abstract write(chunk: Buffer, taken?: () => void): boolean;
  abstract end(): void;
  abstract destroy(reset?: boolean): void;

  /** Starts reading: arriving bytes are passed to `receive`. Reading may have started already. */
  protected abstract startReading(): void;
  /** Stops reading until `startReading`; reading may have stopped already. */
  protected abstract stopReading(): void;
  /** Our direction was ended. */
  protected abstract readonly writableEnded: boolean;
  /** Bytes that have moved, both directions together. */
  protected abstract readonly moved: number;
  /** An empty write, which fails if the peer has reset the connection or did not answer keep-alive probes. Called only when no write is pending. */
  protected abstract probe(): void;

  /** Whether `startReading` delivers nothing before a later iteration of the event loop. */
  protected get startsLater(): boolean {
    return false;
  }

  /** The peer's direction is over. */
  protected get ended(): boolean {
    return this.#ended;
  }

  attach(sink: SocketSink): void {
    this.#sink = sink;
    this.#paused = false;
    if (this.startsLater && this.#clear) {
      if (!this.#yielding) this.startReading();
      return;
    }
    this.#handingOver = true;
    this.stopReading();
    setImmediate(() => this.#handOver(sink));
  }

  /** Nothing has happened that must be delivered to a new sink, and no delivery is in progress. */
  get #clear(): boolean {
    return !this.#handingOver && !this.#delivering && !this.#unread && !this.#ended && !this.#closed;
  }

  /** The new sink first gets what its predecessor has not consumed, in the original order. */
  #handOver(sink: SocketSink): void {
    if (this.#sink !== sink) return;
    this.#handingOver = false;
    const unread = this.#unread;
    this.#unread = undefined;
    if (unread) sink.onData(unread);
    // The sink may already have handed the socket over.
    if (this.#sink !== sink) return;
    if (this.#ended) sink.onEnd();
    if (this.#closed) sink.onClose(this.#error);
    else this.#readOn();
  }

  #readOn(): void {
    if (!this.#paused && !this.#yielding && !this.#handingOver) this.startReading();
  }

  unread(chunk: Buffer): void {
    this.#unread = this.#unread ? Buffer.concat([chunk, this.#unread]) : chunk;
  }

  /** Called by the backend: bytes were read. @param lent `chunk` is valid only until this returns */
  receive(chunk: Buffer, lent: boolean): void {
    if (this.#handingOver) {
      this.#unread = Buffer.concat(this.#unread ? [this.#unread, chunk] : [chunk]);
      return;
    }
    if (!this.#yielding && readSlices.read(this, chunk.length, this.#sink?.shared)) {
      this.#yielding = true;
      this.stopReading();
    }
    const sink = this.#sink;
    this.#delivering = true;
    sink?.onData(lent && !sink.borrows ? Buffer.from(chunk) : chunk);
    this.#delivering = false;
  }

  /**
   * Called by the backend: bytes were read into the shared buffer, or into the buffer that this returned after the previous read.
   * @returns the buffer for the next read
   */
  received(length: number): Buffer {
    const large = this.#large;
    LargeBuffer.lend(large);
    this.receive((large?.bytes ?? sharedBuffer).subarray(0, length), true);
    LargeBuffer.lend(undefined);
    this.#large = LargeBuffer.next(large, length);
    if (!this.#large) return sharedBuffer;
    return readSlices.amongOthers ? this.#large.part : this.#large.bytes;
  }

  resumeReading(): void {
    this.#yielding = false;
    this.#readOn();
  }

  /** Called by the backend: the peer has ended its direction. */
  protected receiveEnd(): void {
    this.#ended = true;
    socketWatch.add(this);
    if (!this.#handingOver) this.#sink?.onEnd();
  }

  /** Called by the backend: everything was written, after a `write` that returned false. */
  protected drained(): void {
    this.#sink?.onDrain();
  }

  /** Called by the backend: the reason why the socket is about to close. */
  protected failed(error: Error): void {
    this.#error = error;
  }

  /** Called by the backend: the socket is closed. */
  protected gone(): void {
    this.#closed = true;
    this.#large?.leave();
    this.#large = undefined;
    socketWatch.delete(this);
    if (!this.#handingOver) this.#sink?.onClose(this.#error);
  }

  pause(): void {
    this.#paused = true;
    this.stopReading();
    socketWatch.add(this);
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#readOn();
  }

  /** While a write is pending, the event loop itself detects a lost peer. */
  look(now: number): boolean {
    const halfClosed = this.#ended || this.writableEnded;
    if (this.#closed || (!this.#paused && !halfClosed)) return false;
    if (halfClosed && this.#isIdle(now)) {
      this.failed(new Error('one direction was over, and nothing moved in the other'));
      this.destroy(true);
      return false;
    }
    if (!this.writableEnded && this.pending === 0) this.probe();
    return true;
  }

  #isIdle(now: number): boolean {
    const { moved } = this;
    if (moved !== this.#moved) {
      this.#moved = moved;
      this.#stillSince = now;
    }
    return now - this.#stillSince >= this.halfClosedMs;
  }
}
