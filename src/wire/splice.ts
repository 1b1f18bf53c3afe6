import type { ByteSocket, SocketSink } from './socket.ts';

/** Connects two sockets: bytes in both directions with back-pressure; directions end separately; a reset of one socket resets the other. */
export function splice(one: ByteSocket, other: ByteSocket): void {
  one.attach(new Half(one, other));
  other.attach(new Half(other, one));
}

/** Moves bytes from one socket to the other. */
class Half implements SocketSink {
  readonly #from: ByteSocket;
  readonly #to: ByteSocket;
  #ended = false;

  constructor(from: ByteSocket, to: ByteSocket) {
    this.#from = from;
    this.#to = to;
  }

  onData(chunk: Buffer): void {
    if (!this.#to.write(chunk)) this.#from.pause();
  }

  onEnd(): void {
    this.#ended = true;
    this.#to.end();
  }

  /** Everything written to `from` was taken: the other direction resumes. */
  onDrain(): void {
    this.#to.resume();
  }

  onClose(error?: Error): void {
    if (error || !this.#ended) this.#to.destroy(true);
  }
}
