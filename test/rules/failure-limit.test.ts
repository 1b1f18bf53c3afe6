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

test('only so many sources are remembered: the oldest window is forgotten', () => {
  const limit = new FailureLimit({ ...rules, allowed: 1 });
  for (const source of ['a', 'b', 'c']) limit.add(source, 0);
  expect(['a', 'b', 'c'].map((source) => limit.wait(source, 0))).toEqual([0, 1000, 1000]);
});
