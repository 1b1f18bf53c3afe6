/**
 * Frames of the multiplexed connection: type u8, stream u32, length u32 (big endian), payload.
 * Stream 0 carries CONTROL and PING only; the server opens odd streams, a visitor program even ones; an agent opens none.
 */
export const Frame = {
  /** Opens a stream; payload: what to connect it with. */
  OPEN: 1,
  DATA: 2,
  /** The sender's direction has ended. */
  FIN: 3,
  /** The stream has ended in both directions. */
  RST: 4,
  /** u32: this many bytes of the stream were consumed; the other side may send as many more. */
  WINDOW: 5,
  /** u32: the sender's direction continues, without frames, on the data connection with this number. */
  MOVE: 6,
  /** Keep-alive, sent every heartbeat by both sides. */
  PING: 7,
  /** JSON on stream 0. */
  CONTROL: 8,
  /** DATA with the flag 0x80: its payload is compressed. The compressed size has the same limit as a plain payload. */
  PACKED: 0x82,
} as const;

/** The type byte of a frame. */
export type FrameType = (typeof Frame)[keyof typeof Frame];

export const HEADER_BYTES = 9;
/** Longest payload of a DATA frame, compressed or not. */
export const MAX_DATA = 64 * 1024;
/** Longest payload of every other frame. */
export const MAX_CONTROL = 64 * 1024;

/** The peer broke the wire protocol: its session ends. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** Receives parsed frames. */
export interface FrameSink {
  /** A piece of a DATA payload: a frame may come in several. A slice of the chunk that was pushed. */
  onDataFrame(stream: number, piece: Buffer): void;
  /** Any other frame, complete. */
  onFrame(type: FrameType, stream: number, payload: Buffer): void;
}

const EMPTY = Buffer.alloc(0);

/** Splits the byte stream of a mux connection into frames, independent of chunk boundaries. */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #type: FrameType = Frame.PING;
  #stream = 0;
  /** Payload bytes still to come. */
  #missing = 0;
  #payload: Buffer = EMPTY;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** @throws {ProtocolError} on an unknown type or a forbidden length; the reader is unusable afterwards */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#missing > 0) {
        offset = this.#readPayload(chunk, offset);
      } else if (this.#headerBytes === 0 && chunk.length - offset >= HEADER_BYTES) {
        this.#begin(chunk, offset);
        offset += HEADER_BYTES;
      } else {
        const taken = chunk.copy(this.#header, this.#headerBytes, offset, offset + HEADER_BYTES - this.#headerBytes);
        offset += taken;
        this.#headerBytes += taken;
        if (this.#headerBytes === HEADER_BYTES) {
          this.#headerBytes = 0;
          this.#begin(this.#header, 0);
        }
      }
    }
  }

  #begin(source: Buffer, offset: number): void {
    const type = checkedType(source.readUInt8(offset));
    const stream = source.readUInt32BE(offset + 1);
    const length = source.readUInt32BE(offset + 5);
    checkFrame(type, stream, length);
    this.#type = type;
    this.#stream = stream;
    this.#missing = length;
    if (type === Frame.DATA) return;
    if (length === 0) this.#sink.onFrame(type, stream, EMPTY);
    else this.#payload = Buffer.allocUnsafe(length);
  }

  #readPayload(chunk: Buffer, offset: number): number {
    const end = Math.min(chunk.length, offset + this.#missing);
    if (this.#type === Frame.DATA) {
      this.#missing -= end - offset;
      this.#sink.onDataFrame(this.#stream, chunk.subarray(offset, end));
      return end;
    }
    chunk.copy(this.#payload, this.#payload.length - this.#missing, offset, end);
    this.#missing -= end - offset;
    if (this.#missing === 0) {
      const payload = this.#payload;
      this.#payload = EMPTY;
      this.#sink.onFrame(this.#type, this.#stream, payload);
    }
    return end;
  }
}

function checkedType(type: number): FrameType {
  switch (type) {
    case Frame.OPEN:
    case Frame.DATA:
    case Frame.FIN:
    case Frame.RST:
    case Frame.WINDOW:
    case Frame.MOVE:
    case Frame.PING:
    case Frame.CONTROL:
    case Frame.PACKED:
      return type;
    default:
      throw new ProtocolError(`unknown frame type ${type}`);
  }
}

function checkFrame(type: FrameType, stream: number, length: number): void {
  const onStreamZero = type === Frame.PING || type === Frame.CONTROL;
  if (onStreamZero !== (stream === 0)) throw new ProtocolError(`frame type ${type} on stream ${stream}`);
  const fits = type === Frame.DATA || type === Frame.PACKED
    ? length > 0 && length <= MAX_DATA
    : type === Frame.OPEN || type === Frame.CONTROL
    ? length <= MAX_CONTROL
    : type === Frame.WINDOW || type === Frame.MOVE
    ? length === 4
    : length === 0;
  if (!fits) throw new ProtocolError(`frame type ${type} with length ${length}`);
}
