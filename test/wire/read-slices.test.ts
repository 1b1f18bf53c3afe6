import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ReadSlices, type SliceReader } from '../../src/wire/read-slices.ts';

const KB = 1024;

/** A socket that has as much to read as it may. */
class Reader implements SliceReader {
  iteration = -1;
  sliceBytes = 0;
  level = 0;
  levelAt = 0;
  /** It had its share, and waits. */
  waits = false;
  bytes = 0;
  readonly #slices: ReadSlices;

  constructor(slices: ReadSlices) {
    this.#slices = slices;
  }

  resumeReading(): void {
    this.waits = false;
  }

  /** Reads pieces of 64 KB until it had its share, 2 MB at most. @returns bytes read */
  readMuch(): number {
    let read = 0;
    while (!this.waits && read < 2048 * KB) read += this.read(64 * KB);
    return read;
  }

  read(bytes: number, shared = false): number {
    if (this.#slices.read(this, bytes, shared)) this.waits = true;
    this.bytes += bytes;
    return bytes;
  }
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

/** Runs iterations of the event loop, four in a ms; in each of them `reads` happens. */
async function run(count: number, reads: () => void): Promise<void> {
  for (let at = 1; at <= count; at++) {
    reads();
    await nextIteration();
    if (at % 4 === 0) jest.advanceTimersByTime(1);
  }
}

describe('a socket that carries much', () => {
  test('reads 512 KB in each iteration when it is alone', async () => {
    const bulk = new Reader(new ReadSlices());
    const shares = new Set<number>();
    // Nobody knows yet what it is.
    await run(40, () => bulk.readMuch());
    await run(100, () => shares.add(bulk.readMuch()));
    expect([...shares]).toEqual([512 * KB]);
  });

  test('reads as much beside others like it', async () => {
    const slices = new ReadSlices();
    const all = Array.from({ length: 8 }, () => new Reader(slices));
    await run(40, () => all.forEach((each) => each.readMuch()));
    const before = all.map(({ bytes }) => bytes);
    await run(100, () => all.forEach((each) => each.readMuch()));
    expect(all.map(({ bytes }, index) => bytes - (before[index] ?? 0))).toEqual(all.map(() => 100 * 512 * KB));
  });

  test.each([1, 8])('leaves most of a turn to those that carry little, and a fifth of the time; %i of them no less than one', async (count) => {
    const slices = new ReadSlices();
    const small = new Reader(slices);
    const all = Array.from({ length: count }, () => new Reader(slices));
    await run(40, () => all.forEach((each) => each.readMuch()));
    await run(40, () => {
      small.read(300);
      all.forEach((each) => each.readMuch());
    });
    const before = all.map(({ bytes }) => bytes);
    const shares: number[] = [];
    await run(400, () => {
      small.read(300);
      shares.push(all.reduce((sum, each) => sum + each.readMuch(), 0));
    });
    expect(Math.max(...shares)).toBe(64 * KB);
    const pauses = shares.filter((share) => share === 0).length;
    expect(pauses).toBeGreaterThan(70);
    expect(pauses).toBeLessThan(90);
    // Each gets as much as any other.
    const read = all.map(({ bytes }, index) => bytes - (before[index] ?? 0));
    expect(Math.max(...read) - Math.min(...read)).toBeLessThanOrEqual(64 * KB);
    expect(small.waits).toBe(false);
  });

  test('has everything for itself soon after the last read of others', async () => {
    const slices = new ReadSlices();
    const [small, bulk] = [new Reader(slices), new Reader(slices)];
    await run(100, () => {
      small.read(300);
      bulk.readMuch();
    });
    await run(40, () => bulk.readMuch());
    const shares = new Set<number>();
    await run(100, () => shares.add(bulk.readMuch()));
    expect([...shares]).toEqual([512 * KB]);
  });

  test('continues although nothing else happens during its pause', async () => {
    const slices = new ReadSlices();
    const [small, bulk] = [new Reader(slices), new Reader(slices)];
    let rests = 0;
    await run(100, () => {
      small.read(300);
      if (bulk.waits) rests++;
      else bulk.readMuch();
    });
    expect(rests).toBeGreaterThan(0);
    await run(8, () => undefined);
    expect(bulk.waits).toBe(false);
  });
});

test('a socket that many streams share, and little ones in any number, read without a rest', async () => {
  const slices = new ReadSlices();
  const mux = new Reader(slices);
  const small = Array.from({ length: 50 }, () => new Reader(slices));
  let waited = 0;
  await run(200, () => {
    if (mux.waits || small.some(({ waits }) => waits)) waited++;
    mux.read(128 * KB, true);
    for (const each of small) each.read(200);
  });
  expect(waited).toBe(0);
});

test('frames of a shared socket alone make no socket pause', async () => {
  const slices = new ReadSlices();
  const [mux, bulk] = [new Reader(slices), new Reader(slices)];
  await run(40, () => bulk.readMuch());
  const shares = new Set<number>();
  await run(100, () => {
    mux.read(9, true);
    shares.add(bulk.readMuch());
  });
  expect([...shares]).toEqual([512 * KB]);
});
