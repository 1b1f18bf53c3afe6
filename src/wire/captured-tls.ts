import type net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { sharedBuffer } from './base-socket.ts';
import { isStreamHandle, type StreamHandle } from './captured-handle.ts';
import type { CapturedParts } from './captured-parts.ts';
import { CapturedStream } from './captured-stream.ts';
import { unmapped } from './mapped-address.ts';
import type { SecuredOptions } from './net-socket.ts';
import type { SocketAddress } from './socket.ts';
import { channelSecretOf } from './tls.ts';

const NOTHING = Buffer.alloc(0);

/**
 * A ByteSocket on the handle of a Node TLS socket. The Node socket does the handshake and the close. Bytes are read from and written to the handle directly and
 * bypass Node's streams, which were most of the cost of a small request over TLS (docs/performance.md).
 */
export class CapturedTls extends CapturedStream<StreamHandle> {
  readonly channelSecret: () => Buffer | undefined;
  readonly #socket: TLSSocket;
  readonly #carrier: net.Socket;
  /** Decrypted together with bytes that were read before a pause: TLS delivers a whole read at once. At most one read. */
  #held: Buffer[] = [];
  #endHeld = false;
  #delivers = false;
  #closing = false;

  constructor(parts: CapturedParts, socket: TLSSocket, { carrier, handshakeDone }: SecuredOptions) {
    super(parts);
    this.#socket = socket;
    this.#carrier = carrier;
    this.channelSecret = () => channelSecretOf(socket);
    socket.on('error', (error: Error) => this.failed(error));
    socket.on('close', () => {
      this.#closing = true;
      this.release();
      this.gone();
    });
    if (handshakeDone) this.#begin();
    else this.#awaitHandshake(socket);
  }

  /** Before the handshake is done, nothing but the end of the connection can be read. */
  #awaitHandshake(socket: TLSSocket): void {
    const onEnd = (): void => this.close();
    socket.once('end', onEnd).resume();
    socket.once('secure', () => {
      socket.off('end', onEnd).pause();
      this.#begin();
    });
  }

  /** Runs in the same iteration of the event loop as the end of the handshake, before anything else is read. */
  #begin(): void {
    if (this.#closing || this.#socket.destroyed) return;
    const handle: unknown = Reflect.get(this.#socket, '_handle');
    if (!isStreamHandle(handle)) throw new Error('a TLS socket of this Node has another handle');
    // The handle was reading for the handshake.
    handle.readStop();
    handle.useUserBuffer(sharedBuffer);
    this.take(handle);
  }

  override get remoteAddress(): string {
    return unmapped(this.#socket.remoteAddress ?? '');
  }

  override get remotePort(): number {
    return this.#socket.remotePort ?? 0;
  }

  override get local(): SocketAddress {
    return { address: unmapped(this.#socket.localAddress ?? ''), port: this.#socket.localPort ?? 0 };
  }

  override received(length: number): Buffer {
    const bytes = sharedBuffer.subarray(0, length);
    if (this.reading && !this.#delivers) this.receive(bytes, true);
    else this.#held.push(Buffer.from(bytes));
    return sharedBuffer;
  }

  override receivedEnd(): void {
    // A peer may end its direction twice: in TLS, and in TCP.
    if (this.ended || this.#endHeld) return;
    if (this.reading && !this.#delivers) super.receivedEnd();
    else this.#endHeld = true;
  }

  protected override startHandle(): void {
    if (this.#delivers) return;
    if (this.#held.length === 0 && !this.#endHeld) {
      super.startHandle();
      return;
    }
    this.#delivers = true;
    setImmediate(() => this.#deliver());
  }

  /** Delivers what was held first. */
  #deliver(): void {
    while (this.reading) {
      const bytes = this.#held.shift();
      if (!bytes) break;
      this.receive(bytes, false);
    }
    this.#delivers = false;
    if (!this.reading) return;
    if (this.#endHeld) super.receivedEnd();
    else super.startHandle();
  }

  protected override failureBehindEnd(): Error | undefined {
    // The bytes of the descriptor are TLS records.
    return undefined;
  }

  protected override get closeEnds(): boolean {
    return false;
  }

  /** TLS does not pass it on. */
  protected override probe(): void {
    this.#carrier.write(NOTHING);
  }

  /** TLS has no reset. */
  protected override close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.release();
    this.#socket.destroy();
  }
}
