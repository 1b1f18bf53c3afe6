import { Duplex } from 'node:stream';
import type { ByteSocket, SocketSink } from '../../wire/socket.ts';

/** A byte socket as a Node stream, for code that needs one: node:http. */
export class SocketDuplex extends Duplex implements SocketSink {
  readonly #socket: ByteSocket;
  #written: (() => void) | undefined;
  #idle: NodeJS.Timeout | undefined;
  #idleMs = 0;

  constructor(socket: ByteSocket) {
    // The socket closes when both directions have ended, which may be long after the last byte was written.
    super({ allowHalfOpen: true, autoDestroy: false });
    this.#socket = socket;
    socket.attach(this);
  }

  /** As net.Socket: `timeout` is emitted after this many ms without progress; 0 = never. */
  setTimeout(ms: number, onTimeout?: () => void): this {
    this.#idleMs = ms;
    if (onTimeout) this.once('timeout', onTimeout);
    this.#moved();
    return this;
  }

  #moved(): void {
    clearTimeout(this.#idle);
    if (this.#idleMs > 0 && !this.destroyed) this.#idle = setTimeout(() => this.emit('timeout'), this.#idleMs).unref();
  }

  onData(chunk: Buffer): void {
    this.#moved();
    if (!this.push(chunk)) this.#socket.pause();
  }

  onEnd(): void {
    this.push(null);
  }

  onDrain(): void {
    const written = this.#written;
    this.#written = undefined;
    this.#moved();
    written?.();
  }

  onClose(error?: Error): void {
    this.destroy(error);
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#moved();
    if (this.#socket.write(chunk)) done();
    else this.#written = done;
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle);
    this.#socket.destroy(error !== null);
    done(error);
  }
}
