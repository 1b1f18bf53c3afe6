import { Batch } from './batch.ts';
import type { FrameType } from './frames.ts';
import type { ByteSocket } from './socket.ts';
import { writeSpare } from './spare-buffers.ts';

/** Readers wait when this much is unsent while the connection takes no more, or this much in any case. */
const CONGESTED_BLOCKED = 256 * 1024;
const CONGESTED_ALWAYS = 1024 * 1024;

/** Someone who stopped reading because the outbox is congested. */
export interface Parked {
  wake(): void;
}

/** The sending half of a mux: all frames of a turn of the event loop go to the socket in one go, and readers wait while it takes no more. */
export class Outbox {
  readonly #socket: ByteSocket;
  /** Goes first at every flush. What must stay in order with data is in #batch. */
  readonly #urgent = new Batch();
  readonly #batch = new Batch();
  #parked: Parked[] = [];
  #blocked = false;
  #flushing = false;
  #closed = false;

  constructor(socket: ByteSocket) {
    this.#socket = socket;
  }

  /** So much is unsent that readers are to park. */
  get congested(): boolean {
    const { size } = this.#batch;
    return size > CONGESTED_ALWAYS || (this.#blocked && size > CONGESTED_BLOCKED);
  }

  /** `wake` is called once when there is room again. */
  park(reader: Parked): void {
    this.#parked.push(reader);
  }

  /** Sends a frame after all those before it. The payload is copied. */
  frame(type: FrameType, stream: number, payload?: Uint8Array): void {
    this.#batch.frame(type, stream, payload);
    this.#flushSoon();
  }

  /** The same with one u32 as payload. */
  frameU32(type: FrameType, stream: number, value: number): void {
    this.#batch.frameU32(type, stream, value);
    this.#flushSoon();
  }

  /** Sends a frame before all data that waits: WINDOW, PING, CONTROL. */
  urgentFrame(type: FrameType, stream: number, payload?: Uint8Array): void {
    this.#urgent.frame(type, stream, payload);
    this.#flushSoon();
  }

  /** The same with one u32 as payload. */
  urgentFrameU32(type: FrameType, stream: number, value: number): void {
    this.#urgent.frameU32(type, stream, value);
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#flushing || this.#blocked) return;
    this.#flushing = true;
    setImmediate(this.#flushNow);
  }

  readonly #flushNow = (): void => {
    this.#flushing = false;
    this.flush();
  };

  readonly #write = (bytes: Buffer): void => {
    if (!writeSpare(this.#socket, bytes)) this.#blocked = true;
  };

  /** Hands everything to the socket, unless it takes no more at the moment. */
  flush(): void {
    if (this.#closed || this.#blocked) return;
    this.#urgent.drainTo(this.#write);
    this.#batch.drainTo(this.#write);
    this.#wakeParked();
  }

  #wakeParked(): void {
    if (this.#parked.length === 0 || this.congested) return;
    const parked = this.#parked;
    this.#parked = [];
    for (const reader of parked) reader.wake();
  }

  /** The socket has taken everything. */
  onDrain(): void {
    this.#blocked = false;
    this.flush();
  }

  /** Nothing is sent any more, and nobody woken. */
  close(): void {
    this.#closed = true;
    this.#parked = [];
  }
}
