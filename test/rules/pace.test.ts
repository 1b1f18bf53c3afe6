import { expect, test } from '@jest/globals';
import { Pace } from '../../src/rules/pace.ts';

test('some begin at once, then so many a second', () => {
  const pace = new Pace({ atOnce: 3, perSecond: 2 });
  const begun = (now: number, times: number): boolean[] => Array.from({ length: times }, () => pace.begin(now));
  expect(begun(1000, 4)).toEqual([true, true, true, false]);
  expect(begun(1400, 1)).toEqual([false]);
  expect(begun(2000, 3)).toEqual([true, true, false]);
  expect(begun(1000, 1)).toEqual([false]);
  expect(begun(60_000, 4)).toEqual([true, true, true, false]);
});
