import { eventually } from './eventually.ts';
import type { StreamWay } from './stream-ways.ts';
import { expectIntact, type Seen, type Stream } from './streams.ts';

/**
 * Carries streams, each through its way, at the same time, and asserts that both ends saw every byte. A stream that does not fit its way is cut or turned.
 * @param seen the one that the ways were opened with
 */
export async function carry(pairs: readonly { readonly stream: Stream; readonly way: StreamWay | undefined }[], seen: Seen): Promise<void> {
  seen.clear();
  await Promise.all(pairs.map(async ({ stream, way }) => {
    if (!way) return;
    const { only = stream.kind, most = Infinity, name, run } = way;
    const fitting = { ...stream, kind: only, bytes: Math.min(stream.bytes, most) };
    try {
      const received = await run(fitting);
      // A slow target may still be reading what the kernel holds for it.
      if (fitting.kind !== 'download') await eventually(() => seen.has(fitting.seed), Boolean);
      expectIntact(fitting, received, seen);
    } catch (error) {
      throw new Error(`${name}, ${JSON.stringify(fitting)}`, { cause: error });
    }
  }));
}
