import { CapturedStream } from './captured-stream.ts';
import type { Handle } from './captured-handle.ts';
import type { CapturedParts } from './captured-parts.ts';
import { failureOf } from './failure-behind-end.ts';
import { unmapped } from './mapped-address.ts';
import { TUNED } from './net-socket.ts';
import type { SocketAddress } from './socket.ts';
import { socketWatch } from './socket-watch.ts';

const NOTHING = Buffer.alloc(0);
/** A first write of up to this many bytes fits into one packet on every path: Nagle's algorithm has nothing to delay. */
const ONE_PACKET = 512;

/** A ByteSocket on a libuv handle, without a Node socket around it. Its sink's `onClose` is called in a later iteration of the event loop. */
export class CapturedSocket extends CapturedStream<Handle> {
  static #closing: CapturedSocket[] = [];
  #address: string | undefined;
  #port = 0;
  /** Socket options that are not set yet: no Nagle delay, keep-alive. */
  #lacksNoDelay: boolean;
  #lacksKeepAlive: boolean;
  #wrote = false;

  /**
   * @param handle connected, not reading
   * @param untuned socket options are not set yet: they are set when they start to matter, which short connections do not reach
   */
  constructor(parts: CapturedParts, handle: Handle, untuned: boolean) {
    super(parts);
    this.#lacksNoDelay = untuned;
    this.#lacksKeepAlive = untuned;
    this.take(handle);
    if (untuned) socketWatch.add(this);
  }

  override get remoteAddress(): string {
    return this.#address ?? this.#askPeer();
  }

  override get remotePort(): number {
    if (this.#address === undefined) this.#askPeer();
    return this.#port;
  }

  #askPeer(): string {
    const found = addressOf(this.handle, 'getpeername');
    this.#port = found.port;
    return (this.#address = found.address);
  }

  override get local(): SocketAddress {
    return addressOf(this.handle, 'getsockname');
  }

  protected override failureBehindEnd(): Error | undefined {
    return failureOf(this.handle?.fd ?? -1);
  }

  protected override send(bytes: Buffer | Buffer[], length: number, taken: (() => void)[] | undefined): void {
    if (this.#lacksNoDelay && length > 0) this.#noDelayFor(length);
    super.send(bytes, length, taken);
  }

  #noDelayFor(bytes: number): void {
    if (this.#wrote || bytes > ONE_PACKET) {
      this.#lacksNoDelay = false;
      this.handle?.setNoDelay(true);
    }
    this.#wrote = true;
  }

  protected override get closeEnds(): boolean {
    return true;
  }

  protected override probe(): void {
    this.send(NOTHING, 0, undefined);
  }

  override look(now: number): boolean {
    if (this.#lacksKeepAlive) {
      this.#lacksKeepAlive = false;
      this.handle?.setKeepAlive(TUNED.keepAlive, TUNED.keepAliveInitialDelay / 1000);
    }
    return super.look(now);
  }

  protected override close(reset: boolean): void {
    const { handle } = this;
    if (!handle) return;
    const atOnce = reset && !this.shutting;
    if (CapturedSocket.#closing.length === 0) setImmediate(CapturedSocket.#tellClosed);
    CapturedSocket.#closing.push(this);
    socketWatch.delete(this);
    if (atOnce) handle.reset();
    else handle.close();
    this.release();
  }

  /** One iteration later, for all sockets closed in this one: `onClose` never runs inside the call that closes the socket. */
  static readonly #tellClosed = (): void => {
    const closed = CapturedSocket.#closing;
    CapturedSocket.#closing = [];
    for (const socket of closed) socket.gone();
  };
}

function addressOf(handle: Handle | undefined, name: 'getpeername' | 'getsockname'): SocketAddress {
  const found = { address: '', port: 0 };
  handle?.[name](found);
  return { address: unmapped(found.address), port: found.port };
}
