import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { canonicalAddress } from '../../src/rules/ip-address.ts';
import { ipNumber } from '../../src/rules/ip-number.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

test.each([
  ['0.0.0.0', { bits: 32, value: 0 }],
  ['255.255.255.255', { bits: 32, value: 0xffff_ffff }],
  [' 1.2.3.4 ', { bits: 32, value: 0x0102_0304 }],
  ['::ffff:1.2.3.4', { bits: 32, value: 0x0102_0304 }],
  ['::FFFF:102:304', { bits: 32, value: 0x0102_0304 }],
  ['::', { bits: 128, value: 0n }],
  ['::1', { bits: 128, value: 1n }],
  ['1::', { bits: 128, value: 1n << 112n }],
  ['fe80::1%eth0', { bits: 128, value: (0xfe80n << 112n) + 1n }],
  ['64:ff9b::1.2.3.4', { bits: 128, value: (0x64n << 112n) + (0xff9bn << 96n) + 0x0102_0304n }],
])('%j is the number %o', (text, number) => {
  expect(ipNumber(text)).toEqual(number);
});

test('any address has the number that its bytes have, and no other text has one', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), anyText), (text) => {
      // `::1.2.3.4` is deprecated, and another address than ::ffff:1.2.3.4, for which ipaddr.js takes it. Only IPv6 addresses name an interface.
      fc.pre(!/^\s*::[\d.]+(?:%|\s*$)/s.test(text) || !text.includes('.'));
      const canonical = canonicalAddress(text.replace(/^(\s*[^%\s]*:[^%\s]*)%.*$/s, '$1'));
      const number = ipNumber(text);
      hold((number === undefined) === (canonical === undefined), 'is an address or none');
      if (number === undefined || canonical === undefined) return;
      const parsed = ipaddr.parse(canonical);
      hold(number.bits === parsed.toByteArray().length * 8, 'is of its family');
      hold(BigInt(number.value) === parsed.toByteArray().reduce((value, byte) => value * 256n + BigInt(byte), 0n), 'is its number');
    }),
    cases,
  );
});
