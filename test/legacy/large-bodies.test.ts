import { expect, test } from '@jest/globals';
import { LargeBodies } from '../../src/legacy/large-bodies.ts';

const MB = 1024 * 1024;

test('an address has room for 6 MB of large bodies, and all have for 48 MB; what is given back is free again', () => {
  const bodies = new LargeBodies();
  expect([bodies.take('a', 3 * MB), bodies.take('a', 3 * MB), bodies.take('a', 1)]).toEqual([true, true, false]);
  for (let n = 0; n < 14; n++) expect(bodies.take(`b${n}`, 3 * MB)).toBe(true);
  expect(bodies.take('c', 1)).toBe(false);
  bodies.giveBack('a', 3 * MB);
  expect([bodies.take('c', 3 * MB), bodies.take('a', 1)]).toEqual([true, false]);
});

test('what an address gives back is all that it may take again', () => {
  const bodies = new LargeBodies();
  expect([bodies.take('a', 4 * MB), bodies.take('a', 2 * MB)]).toEqual([true, true]);
  bodies.giveBack('a', 2 * MB);
  expect([bodies.take('a', 2 * MB + 1), bodies.take('a', 2 * MB), bodies.take('a', 1)]).toEqual([false, true, false]);
});
