import { expect, test } from '@jest/globals';
import { remember } from '../../src/rules/remember.ts';

/** A function that remembers, and how often it was computed. */
function counted(most?: number) {
  const computed: string[] = [];
  const ask = remember((text) => {
    computed.push(text);
    return text.toUpperCase();
  }, most);
  return { ask, computed };
}

test('what was asked for before is not computed again', () => {
  const { ask, computed } = counted();
  expect(['a', 'b', 'a', '', '', '\ud800', '\ud800'].map(ask)).toEqual(['A', 'B', 'A', '', '', '\ud800', '\ud800']);
  expect(computed).toEqual(['a', 'b', '', '\ud800']);
});

test('the number of cached texts is limited, and long ones are not cached', () => {
  const { ask, computed } = counted(2);
  for (const text of ['a', 'b', 'c', 'c', 'a']) ask(text);
  expect(computed).toEqual(['a', 'b', 'c', 'a']);
  const long = 'x'.repeat(129);
  for (const text of [long, long]) expect(ask(text)).toBe(long.toUpperCase());
  expect(computed).toHaveLength(6);
});
