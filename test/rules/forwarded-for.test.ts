import { expect, test } from '@jest/globals';
import { forwardedAddress } from '../../src/rules/forwarded-for.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  [' 192.0.2.1:5678 ', '192.0.2.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[::1]:80', '::1'],
  ['unknown', 'unknown'],
  ['[unknown]:80', '[unknown]:80'],
  ['192.0.2.999:1', '192.0.2.999:1'],
  ['192.0.2.1:', '192.0.2.1:'],
  ['', ''],
])('of the entry %p the address is %p', (entry, address) => {
  expect(forwardedAddress(entry)).toBe(address);
});
