import process from 'node:process';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { AddressSet, turnedAwayBy } from '../../src/rules/ip-access.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

const open = { globalBlackList: AddressSet.of([]), ipWhite: false, whiteList: AddressSet.of([]), blackList: AddressSet.of([]) };

test('the global blacklist goes first, then the whitelist while it is on, then the blacklist', () => {
  const all = {
    globalBlackList: AddressSet.of(['1.1.1.1']),
    ipWhite: true,
    whiteList: AddressSet.of(['2.2.2.2', '3.3.3.3', '1.1.1.1']),
    blackList: AddressSet.of(['3.3.3.3', '4.4.4.4']),
  };
  expect(turnedAwayBy('1.1.1.1', all)).toBe('globalBlackList');
  expect(turnedAwayBy('4.4.4.4', all)).toBe('whiteList');
  expect(turnedAwayBy('3.3.3.3', all)).toBe('blackList');
  expect(turnedAwayBy('2.2.2.2', all)).toBeUndefined();
  expect(turnedAwayBy('5.5.5.5', { ...all, ipWhite: false })).toBeUndefined();
  expect(turnedAwayBy('5.5.5.5', open)).toBeUndefined();
});

test.each([
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['2001:DB8::0:1', '2001:db8::1'],
  [' 1.2.3.4 ', '1.2.3.4'],
  ['::FFFF:102:304', '1.2.3.4'],
  ['fe80::1%eth0', 'fe80::1'],
])('%j and %j are one address, whichever of them is listed', (one, other) => {
  expect(AddressSet.of([other]).has(one)).toBe(true);
  expect(AddressSet.of([one]).has(other)).toBe(true);
});

test.each([
  ['10.1.2.3/8', ['10.0.0.0', '10.255.255.255', '::ffff:10.9.9.9'], ['11.0.0.0', '9.255.255.255', '::a00:1']],
  ['192.0.2.128/25', ['192.0.2.128', '192.0.2.255'], ['192.0.2.127']],
  ['192.0.2.0 / 24 ', ['192.0.2.255'], ['192.0.3.0']],
  ['192.0.2.7/32', ['192.0.2.7'], ['192.0.2.6']],
  ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], ['::1', '2001:db8::1']],
  ['2001:db8::/32', ['2001:db8::1', '2001:DB8:ffff::'], ['2001:db9::', '32.1.13.184']],
  ['::/0', ['::1', 'fe80::1%eth0'], ['1.2.3.4', '::ffff:1.2.3.4']],
  ['::ffff:10.0.0.0/104', ['10.4.5.6', '::ffff:10.4.5.6'], ['11.0.0.0']],
])('the network %s holds its addresses and no others', (network, inside, outside) => {
  const set = AddressSet.of([network]);
  expect(set.malformed).toEqual([]);
  expect(inside.filter((address) => !set.has(address))).toEqual([]);
  expect(outside.filter((address) => set.has(address))).toEqual([]);
});

test('one of sixty thousand networks is found about as quickly as one of a few, and building the list does not block', async () => {
  const many = Array.from({ length: 60_000 }, (_, n) => `${1 + n % 200}.${n >> 8}.${n & 255}.0/24`);
  const few = AddressSet.of(['10.0.0.0/24']);
  const timeOf = (set: AddressSet): number => {
    const start = process.cpuUsage();
    for (let n = 0; n < 20_000; n++) set.has('250.1.2.3');
    return process.cpuUsage(start).user;
  };
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const set = await AddressSet.gradually([...many, 'nobody']);
  clearInterval(counting);
  expect([set.malformed, set.has('1.0.0.9'), set.has('250.1.2.3')]).toEqual([['nobody'], true, false]);
  expect(turns).toBeGreaterThan(10);
  timeOf(few);
  expect(timeOf(set)).toBeLessThan(20 * timeOf(few));
});

test('a long list has its addresses and no others, in whichever order they come, and however often', async () => {
  const lines = Array.from({ length: 5000 }, (_, n) => `${(n * 7919) % 251}.0.${n >> 8}.${n & 255}`);
  const set = await AddressSet.gradually([...lines, ...lines]);
  expect(lines.filter((line) => !set.has(line))).toEqual([]);
  expect(lines.filter((line) => set.has(line.replace('.0.', '.1.')))).toEqual([]);
});

test.each([0, 1, 2, 1000, 1001, 2001])('a set of %i lines is the same whether it is built at once or gradually', async (count) => {
  const lines = Array.from({ length: count }, (_, n) => `10.0.${n >> 8}.${n & 255}`);
  const [once, gradually] = [AddressSet.of(lines), await AddressSet.gradually(lines)];
  expect(lines.filter((line) => !once.has(line) || !gradually.has(line))).toEqual([]);
  expect([once.empty, gradually.empty, gradually.has('10.1.0.0')]).toEqual([count === 0, count === 0, false]);
});

test('invalid lines match nothing, are reported, and do not affect other lines', () => {
  const lines = [
    '1.2.3',
    '010.0.0.1',
    'example.com',
    '*',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::ffff:10.0.0.0/90',
    '2001:db8::/129',
    '1.2.3.4-9',
    '',
    ' ',
  ];
  const set = AddressSet.of([...lines, '9.9.9.9']);
  expect(lines.map((line) => AddressSet.of([line]).malformed)).toEqual(lines.map((line) => [line]));
  expect(set.malformed).toEqual(lines.slice(0, 10));
  expect(set.has('9.9.9.9')).toBe(true);
  for (const address of [...lines, '1.2.3.4', '10.0.0.1', '8.0.0.1', '::1', '2001:db8::1']) expect(set.has(address)).toBe(false);
});

test('any network holds what ipaddr.js says that it holds', () => {
  const network = fc.oneof(
    fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.ipV4()),
    fc.tuple(fc.ipV6().filter((text) => !text.includes('.')), fc.integer({ min: 0, max: 128 }), fc.ipV6().filter((text) => !text.includes('.'))),
  );
  fc.assert(
    fc.property(network, ([address, prefix, visitor]) => {
      const [one, other] = [ipaddr.parse(address), ipaddr.parse(visitor)];
      fc.pre(![one, other].some((parsed) => parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()));
      const set = AddressSet.of([`${address}/${prefix}`]);
      hold(set.has(visitor) === other.match(one, prefix), 'contains the same addresses');
      hold(set.has(address), 'holds the address it was given as');
    }),
    cases,
  );
});

test('any text is a matching address, or reported as invalid', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), anyText), (text) => {
      const set = AddressSet.of([text]);
      hold(set.malformed.length === (set.empty ? 1 : 0), 'reports a line that is no address');
      if (!text.includes('/')) hold(set.has(text) === !set.empty, 'is held');
    }),
    cases,
  );
});
