import type { ByteSocket, SocketSink } from './socket.ts';

/** How long a peer that has received everything may take to read it and close. */
const CLOSE_DELAY_MS = 1000;
/** A peer that accepts none of the pending bytes is disconnected after this many intervals. */
const STALLED_INTERVALS = 30;

/**
 * Ends our direction after what was written. Closes the socket when the peer has closed too, or a second after it took the last byte. What the peer
 * still sends is discarded. Closing at once would reset the connection while the peer is sending, and the peer would lose our last bytes.
 * @param onClosed called once, when the socket is closed
 */
export function closeSoon(socket: ByteSocket, onClosed: () => void = () => undefined): void {
  socket.end();
  socket.attach(new DelayedClose(socket, onClosed));
}

class DelayedClose implements SocketSink {
  readonly #socket: ByteSocket;
  readonly #timer: NodeJS.Timeout;
  readonly #onClosed: () => void;
  #pending: number;
  #intervalsLeft = STALLED_INTERVALS;

  constructor(socket: ByteSocket, onClosed: () => void) {
    this.#socket = socket;
    this.#onClosed = onClosed;
    this.#pending = socket.pending;
    this.#timer = setInterval(() => this.#tick(), CLOSE_DELAY_MS);
  }

  #tick(): void {
    const before = this.#pending;
    this.#pending = this.#socket.pending;
    if (this.#pending < before) this.#intervalsLeft = STALLED_INTERVALS;
    else if (before === 0 || --this.#intervalsLeft === 0) this.#socket.destroy();
  }

  onData(): void {
    // Discarded.
  }

  onEnd(): void {
    // Both directions have ended: the socket closes when everything is sent.
  }

  onDrain(): void {
    // Nothing more is written.
  }

  onClose(): void {
    clearInterval(this.#timer);
    this.#onClosed();
  }
}
