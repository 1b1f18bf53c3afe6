import { Batch } from './batch.ts';
import { HEADER_BYTES, type FrameType } from './frames.ts';
import type { ByteSocket } from './socket.ts';
import { writeSpare } from './spare-buffers.ts';

/** Readers wait when this much is unsent while the connection takes no more, or this much in any case. */
const CONGESTED_BLOCKED = 256 * 1024;
const CONGESTED_ALWAYS = 1024 * 1024;
/** Readers that go on in one turn of the event loop: each may bring 64 KB before it sees that there is no more room. */
const WOKEN_AT_ONCE = 16;
/** Bytes of frames other than data that wait for a peer that reads nothing: beyond the first no stream is opened, beyond the second the session ends. */
export const MOST_WAITING = { forOpening: 1024 * 1024, inAll: 4 * 1024 * 1024 } as const;

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
  #waking = false;
  /** Bytes that wait and are no data: nothing holds those back that cause them. */
  #waiting = 0;
  readonly #onOverflow: (bytes: number) => void;
  #onTaken: (() => void)[] = [];
  #blocked = false;
  #flushing = false;
  /** It flushes in the next turn, if nothing makes it flush in this one. */
  #flushingNext = false;
  #closed = false;

  /** @param onOverflow so many bytes that are no data wait, which is more than may; may be called again */
  constructor(socket: ByteSocket, onOverflow: (bytes: number) => void) {
    this.#socket = socket;
    this.#onOverflow = onOverflow;
  }

  /** So much is unsent that readers are to park. */
  get congested(): boolean {
    const { size } = this.#batch;
    return size > CONGESTED_ALWAYS || (this.#blocked && size > CONGESTED_BLOCKED);
  }

  /** The peer takes so little that no stream is to be opened. */
  get full(): boolean {
    return this.#waiting > MOST_WAITING.forOpening;
  }

  /** `wake` is called once when there is room again. */
  park(reader: Parked): void {
    this.#parked.push(reader);
  }

  /** Sends bytes of a stream, whose reader waits while there is no room. The payload is copied. */
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
   * The same for a frame that data follows, most likely in the next turn of the event loop: it waits for that turn, so that one write takes both.
   * Whatever else is sent meanwhile takes it along.
   */
  frameBeforeData(type: FrameType, stream: number, payload: Uint8Array): void {
    this.#batch.frame(type, stream, payload);
    this.#count(payload.length);
    if (this.#flushing || this.#blocked || this.#flushingNext) return;
    this.#flushingNext = true;
    setImmediate(this.#flushNextTurn);
  }

  readonly #flushNextTurn = (): void => {
    this.#flushingNext = false;
    if (this.#batch.size > 0) this.#flushSoon();
  };

  /** The same with one u32 as payload. */
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

  /** Nothing is sent any more, and nobody woken. */
  close(): void {
    this.#closed = true;
    this.#parked = [];
    this.#onTaken = [];
  }
}
