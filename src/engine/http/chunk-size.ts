const [CR, LF] = [0x0d, 0x0a];
/** Up to 28 bits: programs send no larger chunks. */
const MOST_DIGITS = 7;

/** The value of each hexadecimal digit, by character code; 255 = not a digit. */
const DIGITS = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = String.fromCharCode(code);
  return /[0-9A-Fa-f]/.test(digit) ? Number.parseInt(digit, 16) : 255;
});

/** The end of the complete, non-empty chunks that start at an offset and have the form that {@link plainChunkSize} accepts. */
export function afterPlainChunks(bytes: Buffer, at: number): number {
  for (let next = at;;) {
    const chunk = plainChunkSize(bytes, next);
    const end = chunk && chunk.size > 0 ? chunk.end + chunk.size : bytes.length;
    if (!isLineEnd(bytes, end)) return next;
    next = end + 2;
  }
}

/** The size of a chunk, and where its data begins. */
export interface ChunkSize {
  readonly size: number;
  readonly end: number;
}

/**
 * Parses the usual form of a chunk's size line: complete, digits only. undefined = another form. A peer that sends chunks of one byte makes the server parse
 * ten thousand such lines at a time; parsing them as text would block the event loop for too long.
 */
export function plainChunkSize(bytes: Buffer, at: number): ChunkSize | undefined {
  let size = 0;
  let end = at;
  for (const last = at + MOST_DIGITS; end < last; end++) {
    const digit = DIGITS[bytes[end] ?? LF] ?? 255;
    if (digit === 255) break;
    size = size * 16 + digit;
  }
  return end > at && isLineEnd(bytes, end) ? { size, end: end + 2 } : undefined;
}

/** Whether CR LF is at an offset. */
export function isLineEnd(bytes: Buffer, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF;
}
