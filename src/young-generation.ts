import v8 from 'node:v8';

let held = false;

/**
 * Keeps V8's young generation at its initial size, 1 MB, while the program starts. Loaded modules survive garbage collections, so V8 would grow it
 * to 16 MB (and reserve another 16 MB) before there is any traffic, and shrink it only after minutes without a garbage collection (docs/performance.md,
 * "Memory"). The start of a thread undoes it.
 */
export function holdYoungGeneration(): void {
  held = true;
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}

/** Bytes of both halves of a young generation that is large enough for loading rows. */
const WIDE = 6 * 1024 ** 2;

/**
 * Lets the young generation grow to 4 MB, and then holds it again, while pages of many rows are used: in one of 1 MB, a start with 300,000 rows has four times as
 * many garbage collections. A few rows do not fill it.
 */
export async function* whileYoungGenerationGrows<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  v8.setFlagsFromString('--semi-space-growth-factor=4');
  for await (const page of pages) {
    yield page;
    const size = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
    if (size >= WIDE) holdYoungGeneration();
  }
  holdYoungGeneration();
}

/**
 * Undoes {@link holdYoungGeneration}, with a server's start and an agent's first connection. The young generation then grows to its full size at the next garbage collection, in one
 * step instead of four, because a list of ten takes 1.3 times the CPU while it is small. Without traffic, an agent's messages would touch all of it in some minutes.
 */
export function releaseYoungGeneration(): void {
  if (!held) return;
  held = false;
  v8.setFlagsFromString('--semi-space-growth-factor=16');
}
