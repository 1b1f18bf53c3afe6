import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { turnedAwayBy } from '../../src/rules/ip-access.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

const open = { globalBlackList: [], ipWhite: false, whiteList: [], blackList: [] };

test('the global blacklist goes first, then the whitelist while it is on, then the blacklist', () => {
  const all = { globalBlackList: ['1.1.1.1'], ipWhite: true, whiteList: ['2.2.2.2', '3.3.3.3', '1.1.1.1'], blackList: ['3.3.3.3', '4.4.4.4'] };
  expect(turnedAwayBy('1.1.1.1', all)).toBe('globalBlackList');
  expect(turnedAwayBy('4.4.4.4', all)).toBe('whiteList');
  expect(turnedAwayBy('3.3.3.3', all)).toBe('blackList');
  expect(turnedAwayBy('2.2.2.2', all)).toBeUndefined();
  expect(turnedAwayBy('5.5.5.5', { ...all, ipWhite: false })).toBeUndefined();
  expect(turnedAwayBy('5.5.5.5', open)).toBeUndefined();
});

test('an address is the same in all its spellings', () => {
  for (const [visitor, listed] of [['::ffff:1.2.3.4', '1.2.3.4'], ['2001:DB8::0:1', '2001:db8::1'], [' 1.2.3.4 ', '1.2.3.4']] as const) {
    expect(turnedAwayBy(visitor, { ...open, blackList: [listed] })).toBe('blackList');
    expect(turnedAwayBy(listed, { ...open, globalBlackList: [visitor] })).toBe('globalBlackList');
  }
});

test('any text is let in or turned away by the list it is on', () => {
  const text = fc.oneof(fc.ipV4(), fc.ipV6(), anyText);
  fc.assert(fc.property(text, fc.array(text, { maxLength: 2 }), (address, blackList) => {
    hold(turnedAwayBy(address, { ...open, blackList: [...blackList, address] }) === 'blackList', 'is turned away');
    hold(turnedAwayBy(address, { ...open, ipWhite: true, whiteList: [address] }) === undefined, 'is let in');
  }), cases);
});
