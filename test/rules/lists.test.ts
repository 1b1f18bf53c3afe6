import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cleanIpList, joinIpList, splitIpList } from '../../src/rules/ip-list.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

test('of equal addresses the last is kept, at its place; blanks are dropped', () => {
  expect(cleanIpList(['1.1.1.1', '2.2.2.2', '', ' 1.1.1.1 ', '3.3.3.3\r\n2.2.2.2'])).toEqual(['1.1.1.1', '3.3.3.3', '2.2.2.2']);
});

test('a clean list stays as it is, and survives being stored', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 4 }), (items) => {
      const list = cleanIpList(items);
      const same = (other: readonly string[]) => JSON.stringify(other) === JSON.stringify(list);
      hold(same(cleanIpList(list)), 'is clean');
      hold(same(splitIpList(joinIpList(list))), 'survives being stored');
      hold(new Set(list).size === list.length, 'holds each address once');
    }),
    cases,
  );
});
