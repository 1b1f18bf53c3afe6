import { expect, test } from '@jest/globals';
import { EventQueue } from '../../src/schema/subscriptions/event-queue.ts';

test('gives events in order, those that wait and those that are waited for', async () => {
  const queue = new EventQueue<number>(10, () => undefined);
  queue.push(1);
  queue.push(2);
  expect([(await queue.next()).value, (await queue.next()).value]).toEqual([1, 2]);
  const later = queue.next();
  queue.push(3);
  expect(await later).toEqual({ value: 3, done: false });
  queue.push(4);
  expect(await queue.next()).toEqual({ value: 4, done: false });
});

test('a subscriber that waits learns why it is disconnected, once', async () => {
  const queue = new EventQueue<number>(2, () => undefined);
  const waiting = queue.next();
  queue.close(new Error('no access'));
  queue.close(new Error('again'));
  await expect(waiting).rejects.toThrow('no access');
  queue.push(1);
  expect(await queue.next()).toEqual({ value: undefined, done: true });
});

test('tells of too many events, as many as may wait are none', () => {
  const seen: string[] = [];
  const queue = new EventQueue<number>(2, () => seen.push('closed'));
  queue.onOverflow = () => seen.push('overflow');
  for (const n of [1, 2]) queue.push(n);
  expect(seen).toEqual([]);
  for (const n of [3, 4]) queue.push(n);
  expect(seen).toEqual(['closed', 'overflow']);
});

test('disconnects a subscriber with too many queued events, with one error', async () => {
  let closed = 0;
  const queue = new EventQueue<number>(2, () => {
    closed++;
  });
  for (const n of [1, 2, 3, 4]) queue.push(n);
  await expect(queue.next()).rejects.toMatchObject({ code: 'SUBSCRIBER_TOO_SLOW' });
  expect(await queue.next()).toEqual({ value: undefined, done: true });
  expect(closed).toBe(1);
});

test('ends for both sides when either ends it', async () => {
  let closed = 0;
  const queue = new EventQueue<number>(2, () => {
    closed++;
  });
  const waiting = queue.next();
  queue.close();
  expect(await waiting).toEqual({ value: undefined, done: true });
  queue.push(1);
  expect(await queue.return()).toEqual({ value: undefined, done: true });
  expect(await queue.next()).toEqual({ value: undefined, done: true });
  expect(closed).toBe(1);
});
