import type { ByteSocket, SocketSink } from './socket.ts';

/** A peer that has taken everything gets this long to read it and close. */
const LINGER_MS = 1000;
/** One that takes nothing of what still waits for it is given up after so many times that long. */
const PATIENCE = 30;

/**
 * Ends our direction, after what was written, and closes the socket when the peer has closed too, or a second after it took the last
 * byte; what it still says is dropped. Closing at once would reset the connection while the peer says something, and take our last
 * words with it.
 * @param onClosed called once, when it is closed
 */
export function closeSoon(socket: ByteSocket, onClosed: () => void = () => undefined): void {
  socket.end();
  socket.attach(new Lingering(socket, onClosed));
}

class Lingering implements SocketSink {
  readonly #socket: ByteSocket;
  readonly #timer: NodeJS.Timeout;
  readonly #onClosed: () => void;
  #pending: number;
  #patience = PATIENCE;

  constructor(socket: ByteSocket, onClosed: () => void) {
    this.#socket = socket;
    this.#onClosed = onClosed;
    this.#pending = socket.pending;
    this.#timer = setInterval(() => this.#tick(), LINGER_MS);
  }

  #tick(): void {
    const before = this.#pending;
    this.#pending = this.#socket.pending;
    if (this.#pending < before) this.#patience = PATIENCE;
    else if (before === 0 || --this.#patience === 0) this.#socket.destroy();
  }

  onData(): void {
    // Nothing the peer says matters any more.
  }

  onEnd(): void {
    // Both directions have ended: the socket closes when everything is sent.
  }

  onDrain(): void {
    // Nothing more is to be written.
  }

  onClose(): void {
    clearInterval(this.#timer);
    this.#onClosed();
  }
}
