import zlib from 'node:zlib';
import { MAX_DATA, ProtocolError } from './frames.ts';

/** Shorter payloads are not worth it. */
const WORTH_BYTES = 256;
/** After payloads that did not shrink, at most this many payloads are skipped before the next try, so that incompressible data costs almost nothing. */
const LONGEST_PAUSE = 64;
/** The fastest setting: among those that were measured, it saves the most bytes for its time. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 0 } } as const;

/** Compresses the payloads of one direction of a stream, as long as that saves bytes. Each payload is compressed separately. */
export class Packer {
  /** Payloads that are still skipped before the next try. */
  #pause = 0;
  #nextPause = 1;

  /** Nothing has shrunk for a long time (some MB of large payloads), so compression is unlikely to help. */
  get givenUp(): boolean {
    return this.#nextPause === LONGEST_PAUSE;
  }

  /** @returns the compressed payload; undefined = send it uncompressed */
  pack(payload: Uint8Array): Buffer | undefined {
    if (payload.length < WORTH_BYTES) return undefined;
    if (this.#pause > 0) {
      this.#pause--;
      return undefined;
    }
    const packed = zlib.brotliCompressSync(payload, BROTLI);
    // Compression costs both sides CPU: a gain of a few bytes is not worth it.
    if (packed.length < payload.length - payload.length / 16) {
      this.#nextPause = 1;
      return packed;
    }
    this.#pause = this.#nextPause;
    this.#nextPause = Math.min(this.#nextPause * 2, LONGEST_PAUSE);
    return undefined;
  }
}

/** Decompresses a payload, to at most MAX_DATA bytes. @throws {ProtocolError} if it is malformed, empty or too large */
export function unpack(payload: Buffer): Buffer {
  let unpacked: Buffer;
  try {
    unpacked = zlib.brotliDecompressSync(payload, { maxOutputLength: MAX_DATA });
  } catch (error) {
    throw new ProtocolError('a compressed payload that is broken or too large', { cause: error });
  }
  if (unpacked.length === 0) throw new ProtocolError('a compressed payload without a byte');
  return unpacked;
}
