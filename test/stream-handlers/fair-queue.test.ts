import { expect, test } from '@jest/globals';
import { FairQueue } from '../../src/stream-handlers/fair-queue.ts';

/** Resolves after one iteration of the event loop. */
const nextIteration = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

test('what a party brings at once begins a few at a time, in order, and each just once', async () => {
  const turns = new FairQueue<string>(1000);
  const begun: number[] = [];
  for (let i = 0; i < 100; i++) turns.begin('flood', () => begun.push(i));
  expect(begun.length).toBeLessThan(5);
  let rounds = 0;
  for (; begun.length < 100; rounds++) await nextIteration();
  expect(rounds).toBeGreaterThan(20);
  expect(begun).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test('a party that brings little does not wait for another that brings much', async () => {
  const turns = new FairQueue<string>(1000);
  let flooded = 0;
  for (let i = 0; i < 1000; i++) {
    turns.begin('flood', () => {
      flooded++;
    });
  }
  await nextIteration();
  const before = flooded;
  let begun = false;
  turns.begin('other', () => {
    begun = true;
  });
  expect(begun).toBe(true);
  expect(flooded).toBe(before);
});

test('newcomers do not overtake those of their own party that wait', async () => {
  const turns = new FairQueue<string>(1000);
  const begun: number[] = [];
  for (let i = 0; i < 6; i++) turns.begin('one', () => begun.push(i));
  await nextIteration();
  for (let i = 6; i < 9; i++) turns.begin('one', () => begun.push(i));
  while (begun.length < 9) await nextIteration();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('no more wait than may, and what was refused never begins', async () => {
  const turns = new FairQueue<string>(10);
  const begun: number[] = [];
  const taken = Array.from({ length: 50 }, (_, i) => turns.begin('flood', () => begun.push(i))).filter(Boolean).length;
  expect(taken).toBe(12);
  while (begun.length < taken) await nextIteration();
  await nextIteration();
  expect(begun.length).toBe(12);
});
