import { Batch } from './batch.ts';
import { HEADER_BYTES, type FrameType } from './frames.ts';
import type { ByteSocket } from './socket.ts';
import { writeSpare } from './spare-buffers.ts';

/** Unsent bytes at which readers wait: while the connection is blocked, and in any case. */
const CONGESTED_BLOCKED = 256 * 1024;
const CONGESTED_ALWAYS = 1024 * 1024;
/** Readers that resume in one iteration of the event loop, and those of one owner in a session that several share: each may add 64 KB before it notices that the outbox is full again. */
const WOKEN_AT_ONCE = 16;
const WOKEN_OF_ONE = 1;
/** Queued bytes of non-data frames for a peer that doesn't read: beyond the first limit no stream is opened, beyond the second the session ends. */
export const MOST_WAITING = { forOpening: 1024 * 1024, inAll: 4 * 1024 * 1024 } as const;

/**
 * Iterations of the event loop for which frames at the beginning and the end of a stream wait for further ones: the next comes soon, and whole streams of others meanwhile. A write, and
 * the peer's read, cost more than some iterations. What else is sent takes them along.
 */
const GATHERED_TURNS = 3;
/** More bytes do not wait. */
const GATHERED_BYTES = 32 * 1024;

/** A reader that is paused because the outbox is congested. */
export interface Parked {
  /** Whose it is: owners are woken in round-robin order. */
  readonly owner: number;
  wake(): void;
}

/** The sending half of a mux. All frames of an iteration of the event loop go to the socket in one write, and readers wait while the socket takes no more. */
export class Outbox {
  readonly #socket: ByteSocket;
  /** Sent first at every flush. Frames that must stay in order with data are in #batch. */
  readonly #urgent = new Batch();
  readonly #batch = new Batch();
  readonly #wokenOfOne: number;
  /** Those that wait, by owner. */
  readonly #parked = new Map<number, Parked[]>();
  #waking = false;
  /** Bytes of frames other than data that are queued. Back-pressure does not stop their senders. */
  #waiting = 0;
  readonly #onOverflow: (bytes: number) => void;
  /** Called when everything is taken that was queued before: what is queued now, and what the socket has already, but not taken. */
  #onTaken: (() => void)[] = [];
  #onDrained: (() => void)[] = [];
  #blocked = false;
  #flushing = false;
  /** For how many further iterations frames wait; undefined = none wait, or they are flushed in this one. */
  #gathering: number | undefined;
  /** Bytes that waited in the iteration before. */
  #gathered = 0;
  #closed = false;

  /**
   * @param onOverflow called with the number of queued control bytes when it exceeds the limit; may be called again
   * @param ofSeveral the session has several owners, who get equal shares however many readers each has
   */
  constructor(socket: ByteSocket, onOverflow: (bytes: number) => void, ofSeveral = false) {
    this.#wokenOfOne = ofSeveral ? WOKEN_OF_ONE : WOKEN_AT_ONCE;
    this.#socket = socket;
    this.#onOverflow = onOverflow;
  }

  /** Too many bytes are unsent: readers have to park. */
  get congested(): boolean {
    const { size } = this.#batch;
    return size > CONGESTED_ALWAYS || (this.#blocked && size > CONGESTED_BLOCKED);
  }

  /** Too many bytes wait for the peer: no more streams are opened. */
  get full(): boolean {
    return this.#waiting > MOST_WAITING.forOpening;
  }

  /** `wake` is called once when there is space again. */
  park(reader: Parked): void {
    const others = this.#parked.get(reader.owner);
    if (others) others.push(reader);
    else this.#parked.set(reader.owner, [reader]);
  }

  /**
   * Sends bytes of a stream, whose reader waits while there is no space. The payload is copied.
   * @param first of its direction: the end may follow
   */
  data(type: FrameType, stream: number, payload: Uint8Array, first = false): void {
    this.#batch.frame(type, stream, payload);
    if (first) this.#gather();
    else this.#flushSoon();
  }

  /** Sends another frame, in order with the frames before it. The payload is copied. */
  frame(type: FrameType, stream: number, payload?: Uint8Array): void {
    this.#batch.frame(type, stream, payload);
    this.#count(payload?.length ?? 0);
    this.#flushSoon();
  }

  /** The same for a frame that others follow or precede closely: the opening of a stream whose visitor sends first, or its end. */
  gatheredFrame(type: FrameType, stream: number, payload?: Uint8Array): void {
    this.#batch.frame(type, stream, payload);
    this.#count(payload?.length ?? 0);
    this.#gather();
  }

  #gather(): void {
    if (this.#flushing || this.#blocked || this.#gathering !== undefined) return;
    this.#gathering = GATHERED_TURNS;
    this.#gathered = 0;
    setImmediate(this.#flushGathered);
  }

  /** Flushes when nothing has come in a whole iteration. */
  readonly #flushGathered = (): void => {
    const { size } = this.#batch;
    const left = this.#gathering ?? 0;
    if (left > 0 && size > this.#gathered && size < GATHERED_BYTES) {
      this.#gathering = left - 1;
      this.#gathered = size;
      setImmediate(this.#flushGathered);
      return;
    }
    this.#gathering = undefined;
    if (!this.#flushing) this.flush();
  };

  /** The same as {@link frame}, with one u32 as payload. */
  frameU32(type: FrameType, stream: number, value: number): void {
    this.#batch.frameU32(type, stream, value);
    this.#count(4);
    this.#flushSoon();
  }

  /** Sends a frame ahead of all queued data: WINDOW, PING, CONTROL. */
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

  /** Calls `next` once when the connection has accepted everything queued now. */
  whenTaken(next: () => void): void {
    this.#onTaken.push(next);
    // Otherwise a flush is scheduled already, perhaps for gathered frames.
    if (this.#urgent.size + this.#batch.size === 0) this.#flushSoon();
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

  /** Passes everything to the socket, unless the socket is blocked. */
  flush(): void {
    if (this.#closed || this.#blocked) return;
    this.#urgent.drainTo(this.#write);
    this.#batch.drainTo(this.#write);
    this.#waiting = 0;
    this.#wakeParked();
    if (this.#onTaken.length === 0) return;
    const onTaken = this.#onTaken;
    this.#onTaken = [];
    // With always more data, the socket is never without anything.
    if (this.#blocked) this.#onDrained = onTaken;
    else for (const next of onTaken) next();
  }

  #wakeParked(): void {
    if (this.#parked.size === 0 || this.congested || this.#waking) return;
    for (const reader of this.#nextParked()) reader.wake();
    if (this.#parked.size === 0) return;
    this.#waking = true;
    setImmediate(this.#wakeMore);
  }

  /** Takes out those whose turn it is. */
  #nextParked(): Parked[] {
    const next: Parked[] = [];
    let owners = Math.min(this.#parked.size, WOKEN_AT_ONCE);
    for (const [owner, readers] of this.#parked) {
      if (owners-- === 0) break;
      next.push(...readers.splice(0, this.#wokenOfOne));
      this.#parked.delete(owner);
      // Behind the other owners.
      if (readers.length > 0) this.#parked.set(owner, readers);
    }
    return next;
  }

  /** By now, the bytes of the resumed readers are queued. */
  readonly #wakeMore = (): void => {
    this.#waking = false;
    this.#wakeParked();
  };

  /** The socket has taken everything. */
  onDrain(): void {
    this.#blocked = false;
    const onDrained = this.#onDrained;
    this.#onDrained = [];
    for (const next of onDrained) next();
    this.flush();
  }

  /** Sends nothing more, and resumes no readers. */
  close(): void {
    this.#closed = true;
    this.#parked.clear();
    this.#onTaken = [];
    this.#onDrained = [];
  }
}
