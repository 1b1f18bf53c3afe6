import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { editDistance } from '../../src/rules/near-name.ts';

test.each([
  ['example', 'example', 0],
  ['example', 'exmaple', 1],
  ['example', 'exampl', 1],
  ['example', 'xample', 1],
  ['example', 'exampple', 1],
  ['example', 'exbmple', 1],
  ['example', 'exbmplf', 2],
  ['example', 'examp', 2],
  ['example', 'exa', undefined],
  ['example', 'sample', 2],
  ['example', 'simple', undefined],
  ['', 'ab', 2],
  ['', '', 0],
])('from %p to %p it takes %p changes, of at most two', (one, other, distance) => {
  expect(editDistance(one, other, 2)).toBe(distance);
  expect(editDistance(other, one, 2)).toBe(distance);
});

/** The same for texts of any distance, by definition. */
function distanceOf(one: string, other: string): number {
  if (one === '' || other === '') return one.length + other.length;
  const [rest, others] = [one.slice(1), other.slice(1)];
  const swapped = one[0] === other[1] && one[1] === other[0] ? distanceOf(one.slice(2), other.slice(2)) + 1 : Infinity;
  return Math.min(
    distanceOf(rest, others) + (one[0] === other[0] ? 0 : 1),
    distanceOf(rest, other) + 1,
    distanceOf(one, others) + 1,
    one.length > 1 && other.length > 1 ? swapped : Infinity,
  );
}

test('agrees with the definition', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 0, max: 3 }), (one, other, most) => {
      const distance = distanceOf(one, other);
      expect(editDistance(one, other, most)).toBe(distance > most ? undefined : distance);
    }),
    { numRuns: 300 },
  );
});
