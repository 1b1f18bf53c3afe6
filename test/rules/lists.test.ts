import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cleanIpList, joinIpList, splitIpList } from '../../src/rules/ip-list.ts';

test('of equal addresses the last is kept, at its place; blanks are dropped', () => {
  expect(cleanIpList(['1.1.1.1', '2.2.2.2', '', ' 1.1.1.1 ', '3.3.3.3\r\n2.2.2.2'])).toEqual(['1.1.1.1', '3.3.3.3', '2.2.2.2']);
});

test('a clean list stays as it is, and survives being stored', () => {
  fc.assert(fc.property(fc.array(fc.string({ unit: 'binary' })), (items) => {
    const list = cleanIpList(items);
    expect(cleanIpList(list)).toEqual(list);
    expect(splitIpList(joinIpList(list))).toEqual(list);
    expect(new Set(list).size).toBe(list.length);
  }));
});
