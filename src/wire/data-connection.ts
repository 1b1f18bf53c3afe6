import type { ByteSocket, SocketSink } from './socket.ts';
import { writeLent } from './spare-buffers.ts';

/** A stream direction that goes over a data connection. */
export interface RawReader {
  onRaw(chunk: Buffer): void;
  onRawEnd(): void;
  onConnectionLost(): void;
}

/** The other half: the stream that writes. */
export interface RawWriter {
  /** @see Stream.owner */
  readonly owner: number;
  onRawDrain(): void;
  onConnectionLost(): void;
}

/**
 * A dedicated connection next to the mux. Each of its two directions serves at most one stream direction, without frames, and is never
 * used again. Bytes that arrive before the MOVE frame wait here.
 */
export class DataConnection implements SocketSink {
  readonly borrows = true;
  readonly id: number;
  readonly #socket: ByteSocket;
  readonly #onGone: (connection: DataConnection) => void;
  #writer: RawWriter | undefined;
  #reader: RawReader | undefined;
  #stash: Buffer[] = [];
  #writeEnded = false;
  #readEnded = false;
  #closed = false;

  constructor(id: number, socket: ByteSocket, onGone: (connection: DataConnection) => void) {
    this.id = id;
    this.#socket = socket;
    this.#onGone = onGone;
    socket.attach(this);
  }

  /** No direction is in use or was used. */
  get idle(): boolean {
    return this.writable && this.#reader === undefined && this.#stash.length === 0;
  }

  /** Our direction can still be claimed. */
  get writable(): boolean {
    return this.#writer === undefined && !this.#writeEnded && !this.#readEnded && !this.#closed;
  }

  /** The peer's direction can still be claimed: a finished one whose MOVE is on its way counts. */
  get readable(): boolean {
    return this.#reader === undefined && (!this.#closed || this.#stash.length > 0);
  }

  /** The owner of the stream that our direction belongs to; undefined = it was not claimed. */
  get writesFor(): number | undefined {
    return this.#writer?.owner;
  }

  /** Our direction now belongs to `writer`. */
  claimWriting(writer: RawWriter): void {
    this.#writer = writer;
  }

  /** The peer's direction now belongs to `reader`, which first gets the bytes that have waited here. */
  claimReading(reader: RawReader): void {
    this.#reader = reader;
    const stash = this.#stash;
    this.#stash = [];
    for (const chunk of stash) reader.onRaw(chunk);
    if (this.#readEnded) this.#finishReading();
    else if (stash.length > 0) this.#socket.resume();
    if (this.#closed) this.#onGone(this);
  }

  /** Sends bytes that may change right afterwards. False = wait for onRawDrain. */
  write(chunk: Buffer): boolean {
    return writeLent(this.#socket, chunk);
  }

  /** Ends our direction after everything written. */
  end(): void {
    this.#writeEnded = true;
    this.#socket.end();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** One of its streams was reset: the bytes of its streams can no longer be told apart. */
  destroy(): void {
    this.#socket.destroy(true);
  }

  onData(chunk: Buffer): void {
    if (this.#reader) {
      this.#reader.onRaw(chunk);
      return;
    }
    this.#stash.push(Buffer.from(chunk));
    this.#socket.pause();
  }

  onEnd(): void {
    this.#readEnded = true;
    if (this.#reader) this.#finishReading();
    // A direction that moved here carries at least one byte, so this connection was idle: something on the path closed it.
    else if (this.#stash.length === 0) this.#socket.destroy();
  }

  #finishReading(): void {
    this.#reader?.onRawEnd();
    if (this.#writer === undefined && !this.#writeEnded) this.end();
  }

  onDrain(): void {
    this.#writer?.onRawDrain();
  }

  onClose(error?: Error): void {
    this.#closed = true;
    if (error || !this.#readEnded) this.#reader?.onConnectionLost();
    if (error || !this.#writeEnded) this.#writer?.onConnectionLost();
    // A direction that ended cleanly before its MOVE arrived has to pass the end on to its stream.
    if (error || this.#reader || this.#stash.length === 0) this.#onGone(this);
  }
}
