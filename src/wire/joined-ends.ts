import type { ByteSocket, SocketSink } from './socket.ts';
import { writeLent } from './spare-buffers.ts';
import { type Joinable, type StreamHooks, StreamResetError } from './stream.ts';

/**
 * A stream with both ends in this process, each joined with its own socket. Once both ends are joined, bytes pass between the
 * sockets, with back-pressure and half close.
 */
export function joinedEnds(): [Joinable, Joinable] {
  const near = new End();
  return [near, near.peer];
}

class End implements Joinable, SocketSink {
  readonly borrows = true;
  readonly peer: End;
  #local: ByteSocket | undefined;
  #hooks: StreamHooks = {};
  /** The local socket ended its direction. */
  #ended = false;
  #localClosed = false;
  #over = false;

  constructor(peer?: End) {
    this.peer = peer ?? new End(this);
  }

  join(local: ByteSocket, hooks: StreamHooks = {}): void {
    if (this.#over) {
      local.destroy(true);
      hooks.onClose?.(new StreamResetError('the stream was reset'));
      return;
    }
    this.#local = local;
    this.#hooks = hooks;
    const other = this.peer.#local;
    if (!other) return;
    other.attach(this.peer);
    local.attach(this);
  }

  get over(): boolean {
    return this.#over;
  }

  reset(): void {
    if (this.#over) return;
    const error = new StreamResetError('the stream was reset');
    this.#finish(error);
    this.peer.#finish(error);
    this.#local?.destroy(true);
    this.peer.#local?.destroy(true);
  }

  #finish(error?: Error): void {
    this.#over = true;
    this.#hooks.onClose?.(error);
  }

  // The local socket

  onData(chunk: Buffer): void {
    this.#hooks.onSent?.(chunk.length);
    this.peer.#hooks.onReceived?.(chunk.length);
    const other = this.peer.#local;
    if (other && !writeLent(other, chunk)) this.#local?.pause();
  }

  onEnd(): void {
    this.#ended = true;
    this.peer.#local?.end();
  }

  onDrain(): void {
    this.peer.#local?.resume();
  }

  onClose(error?: Error): void {
    this.#localClosed = true;
    if (error || !this.#ended || !this.peer.#ended) this.reset();
    else if (this.peer.#localClosed && !this.#over) {
      this.#finish();
      this.peer.#finish();
    }
  }
}
