import { Batch } from './batch.ts';
import { HEADER_BYTES, type FrameType } from './frames.ts';
import type { ByteSocket } from './socket.ts';
import { writeSpare } from './spare-buffers.ts';

/** Readers wait when this much is unsent while the connection takes no more, or this much in any case. */
const CONGESTED_BLOCKED = 256 * 1024;
const CONGESTED_ALWAYS = 1024 * 1024;
/** Readers that resume in one iteration of the event loop: each may bring 64 KB before it sees that there is no more space. */
const WOKEN_AT_ONCE = 16;
/** Bytes of frames other than data that wait for a peer that reads nothing: beyond the first no stream is opened, beyond the second the session ends. */
export const MOST_WAITING = { forOpening: 1024 * 1024, inAll: 4 * 1024 * 1024 } as const;

/** Someone who stopped reading because the outbox is congested. */
export interface Parked {
  wake(): void;
}

/** The sending half of a mux. All frames of an iteration of the event loop go to the socket in one write, and readers wait while the socket takes no more. */
export class Outbox {
  readonly #socket: ByteSocket;
  /** Sent first at every flush. Frames that must stay in order with data are in #batch. */
  readonly #urgent = new Batch();
  readonly #batch = new Batch();
  #parked: Parked[] = [];
  #waking = false;
  /** Bytes of frames other than data that are queued. Back-pressure does not stop their senders. */
  #waiting = 0;
  readonly #onOverflow: (bytes: number) => void;
  #onTaken: (() => void)[] = [];
  #blocked = false;
  #flushing = false;
  /** A flush is scheduled for the next iteration, unless something flushes earlier. */
  #flushingNext = false;
  #closed = false;

  /** @param onOverflow called when more control bytes wait than may, with their number; may be called again */
  constructor(socket: ByteSocket, onOverflow: (bytes: number) => void) {
    this.#socket = socket;
    this.#onOverflow = onOverflow;
  }

  /** So much is unsent that readers are to park. */
  get congested(): boolean {
    const { size } = this.#batch;
    return size > CONGESTED_ALWAYS || (this.#blocked && size > CONGESTED_BLOCKED);
  }

  /** So much waits for the peer that no more streams are opened. */
  get full(): boolean {
    return this.#waiting > MOST_WAITING.forOpening;
  }

  /** `wake` is called once when there is space again. */
  park(reader: Parked): void {
    this.#parked.push(reader);
  }

  /** Sends bytes of a stream, whose reader waits while there is no space. The payload is copied. */
  data(type: FrameType, stream: number, payload: Uint8Array): void {
    this.#batch.frame(type, stream, payload);
    this.#flushSoon();
  }

  /** Sends another frame after all those before it. The payload is copied. */
  frame(type: FrameType, stream: number, payload?: Uint8Array): void {
    this.#batch.frame(type, stream, payload);
    this.#count(payload?.length ?? 0);
    this.#flushSoon();
  }

  /**
   * The same for a frame that data follows, most likely in the next iteration of the event loop: it waits for that iteration, so that one write takes both.
   * Anything else that is sent before takes it along.
   */
  frameBeforeData(type: FrameType, stream: number, payload: Uint8Array): void {
    this.#batch.frame(type, stream, payload);
    this.#count(payload.length);
    if (this.#flushing || this.#blocked || this.#flushingNext) return;
    this.#flushingNext = true;
    setImmediate(this.#flushInNextIteration);
  }

  readonly #flushInNextIteration = (): void => {
    this.#flushingNext = false;
    if (this.#batch.size > 0) this.#flushSoon();
  };

  /** The same as {@link frame}, with one u32 as payload. */
  frameU32(type: FrameType, stream: number, value: number): void {
    this.#batch.frameU32(type, stream, value);
    this.#count(4);
    this.#flushSoon();
  }

  /** Sends a frame before all data that waits: WINDOW, PING, CONTROL. */
  urgentFrame(type: FrameType, stream: number, payload?: Uint8Array): void {
    this.#urgent.frame(type, stream, payload);
    this.#count(payload?.length ?? 0);
    this.#flushSoon();
  }

  /** The same with one u32 as payload. */
  urgentFrameU32(type: FrameType, stream: number, value: number): void {
    this.#urgent.frameU32(type, stream, value);
    this.#count(4);
    this.#flushSoon();
  }

  #count(payloadBytes: number): void {
    this.#waiting += HEADER_BYTES + payloadBytes;
    if (this.#waiting > MOST_WAITING.inAll && !this.#closed) this.#onOverflow(this.#waiting);
  }

  /** Calls `next` once when the connection has taken all that waits now. */
  whenTaken(next: () => void): void {
    this.#onTaken.push(next);
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
    this.#waiting = 0;
    this.#wakeParked();
    if (this.#blocked || this.#onTaken.length === 0) return;
    const onTaken = this.#onTaken;
    this.#onTaken = [];
    for (const next of onTaken) next();
  }

  #wakeParked(): void {
    if (this.#parked.length === 0 || this.congested || this.#waking) return;
    for (const reader of this.#parked.splice(0, WOKEN_AT_ONCE)) reader.wake();
    if (this.#parked.length === 0) return;
    this.#waking = true;
    setImmediate(this.#wakeMore);
  }

  /** What the woken ones have read is here by now. */
  readonly #wakeMore = (): void => {
    this.#waking = false;
    this.#wakeParked();
  };

  /** The socket has taken everything. */
  onDrain(): void {
    this.#blocked = false;
    this.flush();
  }

  /** Sends nothing more, and resumes no readers. */
  close(): void {
    this.#closed = true;
    this.#parked = [];
    this.#onTaken = [];
  }
}
