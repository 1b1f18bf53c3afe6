import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalBindAddress } from '../../src/rules/bind-address.ts';

test.each([
  ['', ''],
  ['  ', ''],
  [' 127.0.0.1 ', '127.0.0.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['::', '::'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8::0001', '2001:db8::1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
])('%j is %j', (text, address) => {
  expect(canonicalBindAddress(text)).toBe(address);
});

test.each(['localhost', '1.2.3', '1.2.3.256', '01.2.3.4', '0x7f.1', '[::1]', ':::', '127.0.0.1:80', '10.0.0.0/8', '::1%a:b'])('%j is no address', (text) => {
  expect(canonicalBindAddress(text)).toBeUndefined();
});

test('every address has one spelling', () => {
  fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
    const once = canonicalBindAddress(text);
    expect(once).toBeDefined();
    expect(canonicalBindAddress(once ?? '')).toBe(once);
    expect(canonicalBindAddress(text.toUpperCase())).toBe(once);
  }));
});
