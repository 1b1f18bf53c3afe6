import { expect, test } from '@jest/globals';
import { inTimeSlice } from '../../src/store/sqlite/answer-turns.ts';

test('answers that arrive together are taken in their order, as many in each iteration of the event loop as have time, with what follows on them', async () => {
  const taken: number[] = [];
  const perIteration: number[] = [];
  let over = false;
  const count = (): void => {
    perIteration.push(taken.length);
    if (!over) setImmediate(count);
  };
  const take = (n: number): void =>
    inTimeSlice(() => {
      taken.push(n);
      // What an operation makes of an answer follows in microtasks.
      queueMicrotask(() => {
        for (const began = performance.now(); performance.now() - began < 5;);
      });
    });
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  setImmediate(count);
  for (let n = 0; n < 20; n++) {
    setImmediate(() => take(n));
  }
  while (taken.length < 20) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  over = true;
  perIteration.push(taken.length);
  expect(taken).toEqual(Array.from({ length: 20 }, (_, n) => n));
  const each = perIteration.map((sum, index) => sum - (perIteration[index - 1] ?? 0));
  expect(Math.max(...each)).toBeLessThanOrEqual(4);
});

test('an answer that arrives when others wait is taken after them, although its iteration has time', async () => {
  const taken: string[] = [];
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  await new Promise<void>((resolve) => {
    inTimeSlice(() => {
      taken.push('first');
      setImmediate(() => inTimeSlice(() => resolve(void taken.push('late'))));
      for (const began = performance.now(); performance.now() - began < 10;);
    });
    inTimeSlice(() => taken.push('second'));
  });
  expect(taken).toEqual(['first', 'second', 'late']);
});
