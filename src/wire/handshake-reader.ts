import { HandshakeError } from './handshake-error.ts';
import { closeSoon } from './delayed-close.ts';
import type { ByteSocket, SocketSink } from './socket.ts';

/** A peer that sends more than this before it is authenticated is not an agent. */
const MAX_BUFFERED = 16 * 1024;

/** Reads exact lengths from a socket within one time limit for the whole handshake. */
export class HandshakeReader implements SocketSink {
  readonly #socket: ByteSocket;
  readonly #timer: NodeJS.Timeout;
  #buffered: Buffer = Buffer.alloc(0);
  #failure: HandshakeError | undefined;
  #wake: (() => void) | undefined;

  constructor(socket: ByteSocket, timeoutMs: number) {
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#stop(new HandshakeError('timeout', `no handshake within ${timeoutMs} ms`)), timeoutMs);
    socket.attach(this);
  }

  /** The next `length` bytes. @throws {HandshakeError} */
  async read(length: number): Promise<Buffer> {
    while (this.#buffered.length < length) await this.#more();
    return this.#take(length);
  }

  /** Reads one of these texts. Fails at the first byte that matches none of them, without waiting for the rest. @throws {HandshakeError} */
  async readOneOf(texts: readonly Buffer[]): Promise<Buffer> {
    for (;;) {
      const possible = texts.filter((text) => text.subarray(0, this.#buffered.length).equals(this.#buffered.subarray(0, text.length)));
      if (possible.length === 0) throw new HandshakeError('garbage', 'not the Adit protocol');
      const complete = possible.find((text) => text.length <= this.#buffered.length);
      if (complete) return this.#take(complete.length);
      await this.#more();
    }
  }

  #take(length: number): Buffer {
    const bytes = this.#buffered.subarray(0, length);
    this.#buffered = this.#buffered.subarray(length);
    return bytes;
  }

  async #more(): Promise<void> {
    if (this.#failure) throw this.#failure;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Ends the timeout; bytes that were read too far go to the next sink. */
  finish(): void {
    clearTimeout(this.#timer);
    this.#socket.pause();
    if (this.#buffered.length > 0) this.#socket.unread(this.#buffered);
    this.#buffered = Buffer.alloc(0);
  }

  /** Ends the timeout and closes the socket after pending data was written. */
  fail(): void {
    clearTimeout(this.#timer);
    closeSoon(this.#socket);
  }

  #stop(failure: HandshakeError): void {
    this.#failure ??= failure;
    this.#wake?.();
  }

  onData(chunk: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk]);
    if (this.#buffered.length > MAX_BUFFERED) this.#stop(new HandshakeError('garbage', 'too much before the handshake was over'));
    else this.#wake?.();
  }

  onEnd(): void {
    this.#stop(new HandshakeError('closed', 'the connection ended during the handshake'));
  }

  onDrain(): void {
    // Handshake messages are far below the high-water mark.
  }

  onClose(error?: Error): void {
    this.#stop(new HandshakeError('closed', `the connection was lost during the handshake${error ? `: ${error.message}` : ''}`, { cause: error }));
  }
}
