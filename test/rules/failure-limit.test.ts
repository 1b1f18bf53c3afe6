import { expect, test } from '@jest/globals';
import { FailureLimit } from '../../src/rules/failure-limit.ts';

const rules = { allowed: 3, windowMs: 1000, sources: 2 };

test('after the allowed failures a source waits for the end of its window, others do not', () => {
  const limit = new FailureLimit(rules);
  for (const at of [0, 100, 200]) {
    expect(limit.wait('a', at)).toBe(0);
    limit.add('a', at);
  }
  expect(limit.wait('a', 300)).toBe(700);
  expect(limit.wait('b', 300)).toBe(0);
  expect(limit.wait('a', 1000)).toBe(0);
});

test('a new window begins with the first failure after the old one', () => {
  const limit = new FailureLimit(rules);
  for (const at of [0, 1, 2]) limit.add('a', at);
  limit.add('a', 1500);
  expect(limit.wait('a', 1600)).toBe(0);
  limit.add('a', 1600);
  limit.add('a', 1700);
  expect(limit.wait('a', 1700)).toBe(800);
});

test('a clock that is set back by a day does not make a wait last for a day', () => {
  const limit = new FailureLimit(rules);
  const day = 86_400_000;
  for (const at of [0, 1, 2]) limit.add('a', day + at);
  expect([limit.wait('a', day + 10), limit.failures('a', day + 10), limit.waiting(day + 10)]).toEqual([990, 3, [{ source: 'a', until: day + 1000 }]]);
  expect([limit.wait('a', 10), limit.failures('a', 10), limit.waiting(10)]).toEqual([0, 0, []]);
  limit.add('a', 10);
  expect([limit.failures('a', 20), limit.failures('a', 1010)]).toEqual([1, 0]);
});

test('only so many sources are remembered: the oldest window is forgotten', () => {
  const limit = new FailureLimit({ ...rules, allowed: 1 });
  for (const source of ['a', 'b', 'c']) limit.add(source, 0);
  expect(['a', 'b', 'c'].map((source) => limit.wait(source, 0))).toEqual([0, 1000, 1000]);
  // A source that begins a new window is the newest one.
  limit.add('b', 1001);
  limit.add('d', 1002);
  expect(['b', 'c', 'd'].map((source) => limit.wait(source, 1002))).toEqual([999, 0, 1000]);
});
