import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { WriteQueue } from '../../../src/store/sqlite/write-queue.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('while the file is locked, the first write waits 5 s, those behind it that long together, and later ones 50 ms', () => {
  const queue = new WriteQueue({ isBusy: () => true, guarded: (work) => work() });
  const from = performance.now();
  const refused: string[] = [];
  const add = (name: string): void =>
    queue.add({
      start() {
        throw new Error('locked');
      },
      refuse: () => refused.push(`${name} ${Math.floor((performance.now() - from) / 100) / 10}`),
    });
  add('first');
  add('behind');
  jest.advanceTimersByTime(4900);
  expect(refused).toEqual([]);
  jest.advanceTimersByTime(200);
  expect(refused).toEqual(['first 5', 'behind 5']);
  add('late');
  jest.advanceTimersByTime(40);
  expect(refused).toHaveLength(2);
  jest.advanceTimersByTime(30);
  expect(refused).toEqual(['first 5', 'behind 5', 'late 5.1']);
  // A lock that nobody has seen for more than a second counts as another one.
  jest.advanceTimersByTime(1100);
  add('of a new lock');
  jest.advanceTimersByTime(4900);
  expect(refused).toHaveLength(3);
  jest.advanceTimersByTime(200);
  expect(refused).toHaveLength(4);
});

test('writes have the connection one at a time, in their order, and a lock that was released is forgotten', () => {
  const locked = { yes: true };
  const queue = new WriteQueue({ isBusy: () => locked.yes, guarded: (work) => work() });
  const seen: string[] = [];
  const add = (name: string): void =>
    queue.add({
      start() {
        if (locked.yes) throw new Error('locked');
        seen.push(name);
      },
      refuse: () => seen.push(`${name} was refused`),
    });
  add('one');
  add('two');
  jest.advanceTimersByTime(4900);
  locked.yes = false;
  jest.advanceTimersByTime(20);
  expect(seen).toEqual(['one']);
  queue.done();
  expect(seen).toEqual(['one', 'two']);
  queue.done();
  locked.yes = true;
  add('three');
  jest.advanceTimersByTime(4900);
  expect(seen).toEqual(['one', 'two']);
  locked.yes = false;
  jest.advanceTimersByTime(20);
  expect(seen).toEqual(['one', 'two', 'three']);
});
