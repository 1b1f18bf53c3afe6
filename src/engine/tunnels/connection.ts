import type { ByteSocket, SocketAddress, SocketSink } from '../../wire/socket.ts';
import type { ConnectionState } from '../face.ts';
import type { ClientUsage } from '../limits/client-usage.ts';
import type { Meter } from '../limits/meter.ts';
import type { OpenConnection } from '../limits/open-connections.ts';
import type { RateParty } from '../limits/rate-limit.ts';
import { RecentRate } from '../limits/recent-rate.ts';
import { ByteQueue } from './byte-queue.ts';

/** A writer waits while this many bytes are queued: half of a stream's credit, so that there is always more on the way. */
const HIGH_WATER = 512 * 1024;

let lastId = 0;

/** The meters that the bytes of a connection count for. */
export interface Counted {
  readonly tunnel: Meter;
  readonly client: ClientUsage;
}

/** The target's side of a connection. */
interface Cuttable {
  reset(): void;
}

/**
 * A visitor's connection, between the visitor's socket and the stream to the target. It counts the bytes and applies the client's limits.
 * Bytes that have to wait are queued here: meanwhile the visitor's socket is not read, and the target's side is paused.
 */
export class Connection implements ByteSocket, SocketSink, RateParty, OpenConnection {
  readonly borrows = true;
  /** No other connection has it. */
  readonly id = ++lastId;
  readonly counted: Counted;
  readonly takesAtOnce: boolean;
  older: OpenConnection | undefined;
  newer: OpenConnection | undefined;
  readonly #since = Date.now();
  readonly #visitor: ByteSocket;
  readonly #target: Cuttable;
  #stream: SocketSink | undefined;
  /** Bytes that wait for the rate limit; undefined until the first byte that has to wait. */
  #inlet: ByteQueue | undefined;
  #export: ByteQueue | undefined;
  /** The next direction, when bytes wait in both. */
  #exportNext = false;
  /** The stream takes no more. */
  #streamFull = false;
  /** The visitor's socket takes no more. */
  #visitorFull = false;
  /** The stream was paused. */
  #streamWaits = false;
  #inletEnded = false;
  #exportEnded = false;
  /** The visitor's socket was closed cleanly while bytes waited. */
  #visitorClosed = false;
  #inletBytes = 0;
  #exportBytes = 0;
  readonly #recent = new RecentRate();

  constructor(visitor: ByteSocket, target: Cuttable, counted: Counted) {
    this.#visitor = visitor;
    this.takesAtOnce = visitor.takesAtOnce === true;
    this.#target = target;
    this.counted = counted;
  }

  /** Ends it at once, on both sides. */
  cut(): void {
    this.#target.reset();
  }

  get state(): ConnectionState {
    const { tunnel, client } = this.counted;
    return {
      id: this.id,
      clientId: client.id,
      through: { kind: tunnel.owner === 'host' ? 'host' : 'tunnel', id: tunnel.id },
      address: this.remoteAddress,
      port: this.remotePort,
      since: this.#since,
      inletBytes: this.#inletBytes,
      exportBytes: this.#exportBytes,
      rate: this.#recent.rate,
    };
  }

  get remoteAddress(): string {
    return this.#visitor.remoteAddress;
  }

  get remotePort(): number {
    return this.#visitor.remotePort;
  }

  get local(): SocketAddress | undefined {
    return this.#visitor.local;
  }

  // The stream

  get pending(): number {
    return this.#visitor.pending + (this.#export?.length ?? 0);
  }

  attach(stream: SocketSink): void {
    this.#stream = stream;
    this.#visitor.attach(this);
  }

  unread(chunk: Buffer): void {
    this.#visitor.unread(chunk);
  }

  write(chunk: Buffer, taken?: () => void): boolean {
    const { rateLimit } = this.counted.client;
    if (!rateLimit && !this.#export?.length) return this.#passExport(chunk, taken);
    this.#export ??= new ByteQueue();
    // A copy, since a short piece would keep the whole chunk it came in.
    this.#export.push(Buffer.from(chunk));
    taken?.();
    this.#wait();
    this.#streamWaits = this.#export.length > HIGH_WATER;
    return !this.#streamWaits;
  }

  pause(): void {
    this.#streamFull = true;
    this.#visitor.pause();
  }

  resume(): void {
    this.#streamFull = false;
    if (this.#inlet?.length) this.#wait();
    else this.#visitor.resume();
  }

  end(): void {
    this.#exportEnded = true;
    if (!this.#export?.length) this.#visitor.end();
  }

  destroy(reset?: boolean): void {
    this.#inlet?.clear();
    this.#export?.clear();
    this.counted.client.rateLimit?.leave(this);
    this.#visitor.destroy(reset);
  }

  // The visitor

  onData(chunk: Buffer): void {
    if (!this.counted.client.rateLimit && !this.#inlet?.length) {
      this.#passInlet(chunk);
      return;
    }
    this.#inlet ??= new ByteQueue();
    this.#inlet.push(Buffer.from(chunk));
    this.#visitor.pause();
    this.#wait();
  }

  onEnd(): void {
    this.#inletEnded = true;
    if (!this.#inlet?.length) this.#stream?.onEnd();
  }

  onDrain(): void {
    this.#visitorFull = false;
    if (this.#export?.length) this.#wait();
    else this.#stream?.onDrain();
  }

  onClose(error?: Error): void {
    this.#export?.clear();
    if (!error && this.#inletEnded && this.#inlet?.length) {
      this.#visitorClosed = true;
      return;
    }
    this.#inlet?.clear();
    this.counted.client.rateLimit?.leave(this);
    this.#stream?.onClose(error);
  }

  // Rate limit

  #wait(): void {
    if (!this.#inletReady && !this.#exportReady) return;
    const { rateLimit } = this.counted.client;
    if (rateLimit) rateLimit.wait(this);
    else this.pass(Number.POSITIVE_INFINITY);
  }

  get #inletReady(): boolean {
    return this.#inlet !== undefined && this.#inlet.length > 0 && !this.#streamFull;
  }

  get #exportReady(): boolean {
    return this.#export !== undefined && this.#export.length > 0 && !this.#visitorFull;
  }

  pass(most: number): number {
    let passed = 0;
    while (passed < most && (this.#inletReady || this.#exportReady)) {
      const room = most - passed;
      passed += this.#exportReady && (this.#exportNext || !this.#inletReady) ? this.#takeExport(room) : this.#takeInlet(room);
      this.#exportNext = !this.#exportNext;
    }
    this.#wait();
    return passed;
  }

  #takeInlet(most: number): number {
    const bytes = this.#inlet?.take(most);
    if (!bytes) return 0;
    this.#passInlet(bytes);
    if (this.#inlet?.length) return bytes.length;
    if (this.#inletEnded) this.#stream?.onEnd();
    else if (!this.#streamFull) this.#visitor.resume();
    if (this.#visitorClosed) this.#stream?.onClose();
    return bytes.length;
  }

  #takeExport(most: number): number {
    const bytes = this.#export?.take(most);
    if (!bytes) return 0;
    this.#visitorFull = !this.#passExport(bytes);
    const waiting = this.#export?.length ?? 0;
    if (waiting === 0 && this.#exportEnded) this.#visitor.end();
    if (!this.#visitorFull && (waiting === 0 || (this.#streamWaits && waiting <= HIGH_WATER))) {
      this.#streamWaits = false;
      this.#stream?.onDrain();
    }
    return bytes.length;
  }

  #passInlet(bytes: Buffer): void {
    const { tunnel, client } = this.counted;
    this.#inletBytes += bytes.length;
    this.#recent.count(bytes.length);
    tunnel.countInlet(bytes.length);
    client.countInlet(bytes.length);
    if (client.mayPass()) this.#stream?.onData(bytes);
  }

  /** @returns false when the visitor's socket takes no more */
  #passExport(bytes: Buffer, taken?: () => void): boolean {
    const { tunnel, client } = this.counted;
    this.#exportBytes += bytes.length;
    this.#recent.count(bytes.length);
    tunnel.countExport(bytes.length);
    client.countExport(bytes.length);
    if (client.mayPass()) return this.#visitor.write(bytes, taken);
    taken?.();
    return false;
  }
}
