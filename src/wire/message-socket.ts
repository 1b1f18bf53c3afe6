import type { ByteSocket, SocketSink } from './socket.ts';

/** Default maximum size of a received message in bytes; the rest is dropped. */
const MAX_MESSAGE = 16 * 1024;

/**
 * The local end of a stream that carries one message each way instead of a socket's bytes: sends its message and ends, and collects the
 * peer's until the peer ends.
 */
export class MessageSocket implements ByteSocket {
  readonly remoteAddress = '';
  readonly remotePort = 0;
  readonly pending = 0;
  readonly #message: Buffer;
  readonly #onMessage: (message: Buffer | undefined) => void;
  readonly #received: Buffer[] = [];
  #space: number;
  #sink: SocketSink | undefined;
  #sent = false;
  #ended = false;
  #closed = false;

  /** @param onMessage called once with the peer's message; undefined = the stream was cut off before its end @param most maximum size of that message in bytes */
  constructor(message: string | Buffer, onMessage: (message: Buffer | undefined) => void = () => undefined, most = MAX_MESSAGE) {
    this.#space = most;
    this.#message = typeof message === 'string' ? Buffer.from(message) : message;
    this.#onMessage = onMessage;
  }

  attach(sink: SocketSink): void {
    this.#sink = sink;
    setImmediate(() => {
      if (this.#closed) return;
      if (this.#message.length > 0) sink.onData(this.#message);
      this.#sent = true;
      sink.onEnd();
      this.#closeWhenDone();
    });
  }

  unread(): void {
    throw new Error('a message is not read too far');
  }

  write(chunk: Buffer): boolean {
    // A copy: the chunk may be a view of a larger one.
    const kept = Buffer.from(chunk.subarray(0, this.#space));
    this.#space -= kept.length;
    this.#received.push(kept);
    return true;
  }

  pause(): void {
    // One message fits into the credit of a stream.
  }

  resume(): void {
    // see pause
  }

  end(): void {
    if (this.#ended || this.#closed) return;
    this.#ended = true;
    this.#onMessage(Buffer.concat(this.#received));
    this.#closeWhenDone();
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#ended) this.#onMessage(undefined);
    this.#sink?.onClose();
  }

  #closeWhenDone(): void {
    if (!this.#sent || !this.#ended || this.#closed) return;
    this.#closed = true;
    this.#sink?.onClose();
  }
}
