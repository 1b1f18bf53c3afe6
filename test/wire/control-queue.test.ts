import { expect, test } from '@jest/globals';
import { ControlBudget, controlCost, timeCost, unlimited } from '../../src/wire/control-budget.ts';
import { ControlQueue, type QueuedSession } from '../../src/wire/control-queue.ts';

const KB = 1024;
const MB = 1024 * KB;

/** A session, which notes that the queue ends it. */
function sessionOf(name: string, full: string[]): QueuedSession {
  return { onQueueFull: () => full.push(name) };
}

/** A queue that processes nothing in this iteration of the event loop, whose time its first message used up, and one message in each of the next ones. */
function blockedQueue(): ControlQueue {
  const queue = new ControlQueue(Number.MIN_VALUE);
  queue.add(sessionOf('first', []), 1, takeTime);
  return queue;
}

function takeTime(): void {
  const began = performance.now();
  while (performance.now() === began);
}

test('reading from a session stops above 256 KB of queued messages, and 4 MB are the most', () => {
  const [queue, one, other] = [blockedQueue(), sessionOf('one', []), sessionOf('other', [])];
  const add = (session: QueuedSession, cost: number) => [queue.add(session, cost, () => undefined), queue.isFull(session)];
  expect([add(one, 256 * KB), add(one, 1), add(one, 4 * MB - 256 * KB - 1), add(one, 1)]).toEqual([[true, false], [true, true], [true, true], [false, true]]);
  expect(add(other, 4 * MB + 1)).toEqual([false, false]);
  expect([queue.holds(one), queue.holds(other)]).toEqual([true, false]);
  queue.drop(one);
  expect([queue.holds(one), queue.isFull(one), add(one, 4 * MB)]).toEqual([false, false, [true, true]]);
  for (const session of [one, other]) queue.drop(session);
});

test('above 64 MB in all, the session whose messages cost most ends', async () => {
  const full: string[] = [];
  const queue = blockedQueue();
  const [large, ...others] = Array.from({ length: 17 }, (_, index) => sessionOf(String(index), full));
  if (!large) throw new Error('there are many');
  queue.add(large, 4 * MB, takeTime);
  for (const other of others.slice(0, 15)) queue.add(other, 4 * MB - 1, takeTime);
  const last = others.at(-1) ?? large;
  queue.add(last, 15, takeTime);
  expect(full).toEqual([]);
  queue.add(last, 1, takeTime);
  expect(full).toEqual(['0']);
  // What is dropped or processed no longer counts.
  queue.drop(large);
  queue.add(last, 4 * MB - 16, takeTime);
  expect(full).toEqual(['0']);
  await new Promise((resolve) => {
    queue.add(last, 0, () => resolve(undefined));
  });
  for (const other of others) expect([queue.holds(other), queue.add(other, 4 * MB, takeTime)]).toEqual([false, true]);
  expect(full).toEqual(['0']);
  for (const session of others) queue.drop(session);
});

test('messages of a session are processed in order, and cost nothing from then on', async () => {
  const [queue, session] = [blockedQueue(), sessionOf('one', [])];
  const processed: Array<readonly [number, boolean]> = [];
  await new Promise((resolve) => {
    for (const nth of [1, 2, 3]) {
      queue.add(session, 2 * MB - 100 + nth, () => {
        processed.push([nth, queue.isFull(session)]);
        if (nth === 2) resolve(undefined);
      });
    }
  });
  // The third one was too much.
  expect(processed).toEqual([[1, true], [2, false]]);
  expect(queue.holds(session)).toBe(false);
});

test('a peer may cause a burst of 32 MB, then 4 MB a second, and no more after it was silent', () => {
  let now = 0;
  const budget = new ControlBudget(() => now);
  expect([budget.take(32 * MB), budget.take(1)]).toEqual([true, false]);
  now = 1000;
  expect([budget.take(4 * MB - 1), budget.take(1)]).toEqual([true, false]);
  now = 1_000_000;
  expect([budget.take(32 * MB), budget.take(1)]).toEqual([true, false]);
  expect(unlimited().take(Number.MAX_SAFE_INTEGER)).toBe(true);
  expect([controlCost(0), controlCost(10), timeCost(0), timeCost(3)]).toEqual([1024, 1034, 0, 30 * KB]);
});
