import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Alarm } from '../../src/engine/limits/alarm.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('an alarm fires at the earliest of its deadlines, once, and can be set again', () => {
  const ring = jest.fn();
  const alarm = new Alarm(ring);
  alarm.within(500);
  alarm.within(10);
  alarm.within(1000);
  jest.advanceTimersByTime(9);
  expect(ring).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(ring).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(2000);
  expect(ring).toHaveBeenCalledTimes(1);
  alarm.within(20);
  jest.advanceTimersByTime(20);
  expect(ring).toHaveBeenCalledTimes(2);
});

test('an alarm that is stopped neither fires nor starts again', () => {
  const ring = jest.fn();
  const alarm = new Alarm(ring);
  alarm.within(10);
  alarm.stop();
  alarm.within(5);
  alarm.within(10);
  jest.advanceTimersByTime(100);
  expect(ring).not.toHaveBeenCalled();
  expect(jest.getTimerCount()).toBe(0);
});
