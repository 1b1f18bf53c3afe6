import { afterEach, expect, jest, test } from '@jest/globals';
import { type RateParty, RateLimit } from '../../src/engine/limits/rate-limit.ts';

const limits: RateLimit[] = [];

afterEach(() => {
  for (const limit of limits.splice(0)) limit.lift();
});

function limitOf(bytesPerSecond: number): RateLimit {
  const limit = new RateLimit(bytesPerSecond);
  limits.push(limit);
  return limit;
}

/** Has bytes for ever, as many as it may pass on, or as `chunk` says. */
class Greedy implements RateParty {
  passed = 0;
  turns = 0;
  readonly #limit: RateLimit;
  readonly #chunk: number;

  constructor(limit: RateLimit, chunk = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
    this.#chunk = chunk;
    limit.wait(this);
  }

  pass(most: number): number {
    if (most === Number.POSITIVE_INFINITY) return 0; // the limit is lifted: the test is over
    const bytes = Math.min(most, this.#chunk);
    this.passed += bytes;
    this.turns++;
    this.#limit.wait(this);
    return bytes;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

test('parties that take little and much at a time get the same, and together what the rate is', async () => {
  const rate = 4_000_000;
  const limit = limitOf(rate);
  const start = performance.now();
  const parties = [new Greedy(limit), new Greedy(limit), new Greedy(limit), new Greedy(limit)];
  await pause(1000);
  const passed = parties.map((party) => party.passed);
  const allowed = rate * (performance.now() - start) / 1000;
  const total = passed.reduce((sum, some) => sum + some, 0);
  // A burst of 150 ms at the beginning, and at the end what is about to be passed on.
  expect(total / allowed).toBeGreaterThan(0.9);
  expect(total / allowed).toBeLessThan(1.2);
  expect(Math.max(...passed) / Math.min(...passed)).toBeLessThan(1.2);
});

test('another rate holds at once, a lower and a higher one', async () => {
  const limit = limitOf(100_000_000);
  const party = new Greedy(limit);
  await pause(100);
  limit.bytesPerSecond = 10_000;
  const before = party.passed;
  await pause(300);
  expect(party.passed - before).toBeLessThan(6000);
  limit.bytesPerSecond = 10_000_000;
  const low = party.passed;
  await pause(300);
  expect(party.passed - low).toBeGreaterThan(1_000_000);
});

test('removed parties are not called, and removing the limit passes everything that waits', async () => {
  const limit = limitOf(1);
  const asked: Array<[string, number]> = [];
  const party = (name: string): RateParty => ({
    pass: (most) => {
      asked.push([name, most]);
      return 100_000;
    },
  });
  const [first, second, third] = [party('first'), party('second'), party('third')];
  limit.wait(first);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  limit.wait(second);
  limit.wait(third);
  limit.leave(second);
  limit.lift();
  expect(asked).toEqual([['first', 1024], ['third', Number.POSITIVE_INFINITY]]);
});

test('another rate holds from now on: what was saved or passed on too early before does not count, nor does a pause of the former rate', () => {
  jest.useFakeTimers();
  try {
    const early = limitOf(2_000_000);
    const owing = new Greedy(early);
    jest.advanceTimersByTime(1);
    early.bytesPerSecond = 1000;
    const { passed } = owing;
    jest.advanceTimersByTime(5000);
    expect(owing.passed - passed).toBeGreaterThan(3000);
    const limit = limitOf(1_000_000);
    jest.advanceTimersByTime(10_000);
    limit.bytesPerSecond = 1000;
    const party = new Greedy(limit);
    jest.advanceTimersByTime(20);
    expect(party.passed).toBe(0);
    limit.bytesPerSecond = 1_000_000;
    jest.advanceTimersByTime(100);
    expect(party.passed).toBeGreaterThan(50_000);
    expect(party.passed).toBeLessThan(200_000);
  } finally {
    jest.useRealTimers();
  }
});

test('a lifted limit has no timer left', () => {
  jest.useFakeTimers();
  try {
    const limit = limitOf(1000);
    limit.bytesPerSecond = 1000; // no burst is left
    limit.wait({ pass: () => 0 });
    expect(jest.getTimerCount()).toBe(1);
    limit.lift();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('a limit that was idle for long allows no more than the burst at once', () => {
  jest.useFakeTimers();
  try {
    const limit = limitOf(1_000_000);
    jest.advanceTimersByTime(60_000);
    const party = new Greedy(limit);
    jest.advanceTimersByTime(10);
    // 150 ms, and the last slice.
    expect(party.passed).toBeGreaterThanOrEqual(150_000);
    expect(party.passed).toBeLessThan(150_000 + 3 * 65_536);
  } finally {
    jest.useRealTimers();
  }
});

test.each([1, 2])('a process that was paused for a second passes on what that second allowed, to %i parties', (count) => {
  jest.useFakeTimers();
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const limit = limitOf(1_000_000);
    const party = new Greedy(limit);
    jest.advanceTimersByTime(1);
    const before = party.passed;
    now = 1000;
    // It comes to a limit that others wait for.
    const late = count === 2 ? new Greedy(limit) : undefined;
    jest.advanceTimersByTime(500);
    expect(party.passed - before + (late?.passed ?? 0)).toBeGreaterThan(900_000);
  } finally {
    clock.mockRestore();
    jest.useRealTimers();
  }
});

test('a rate that is much lower than a slice holds, too', () => {
  jest.useFakeTimers();
  try {
    const party = new Greedy(limitOf(100));
    jest.advanceTimersByTime(60_000);
    expect(party.passed).toBeGreaterThan(5500);
    expect(party.passed).toBeLessThan(7500);
  } finally {
    jest.useRealTimers();
  }
});

test('a limit that was idle passes on a burst at once, however long it was idle, and then its rate', () => {
  jest.useFakeTimers();
  try {
    const limit = limitOf(1_000_000);
    for (let turn = 0; turn < 2; turn++) {
      jest.advanceTimersByTime(10_000);
      const party = new Greedy(limit);
      jest.advanceTimersByTime(2);
      // 150 ms of it, and a slice.
      expect(party.passed).toBeGreaterThanOrEqual(150_000);
      expect(party.passed).toBeLessThan(200_000);
      jest.advanceTimersByTime(1000);
      expect(party.passed).toBeLessThan(1_200_000);
      limit.leave(party);
    }
  } finally {
    jest.useRealTimers();
  }
});
