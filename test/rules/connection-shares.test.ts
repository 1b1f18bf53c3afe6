import { expect, test } from '@jest/globals';
import { ConnectionShares } from '../../src/rules/connection-shares.ts';

test('one address cannot take all places, and places come back', () => {
  const shares = new ConnectionShares({ total: 3, perAddress: 2 });
  expect([shares.enter('192.0.2.1'), shares.enter('192.0.2.1'), shares.enter('192.0.2.1')]).toEqual([true, true, false]);
  expect([shares.enter('192.0.2.2'), shares.enter('192.0.2.3')]).toEqual([true, false]);
  shares.leave('192.0.2.1');
  expect([shares.size, shares.hasRoom('192.0.2.3'), shares.enter('192.0.2.3')]).toEqual([2, true, true]);
});

test('one place comes back with each connection that leaves', () => {
  const shares = new ConnectionShares({ total: 10, perAddress: 3 });
  const enter = () => shares.enter('192.0.2.1');
  expect([enter(), enter(), enter(), enter()]).toEqual([true, true, true, false]);
  for (const open of [2, 1]) {
    shares.leave('192.0.2.1');
    expect(shares.size).toBe(open);
  }
  expect([enter(), enter(), enter()]).toEqual([true, true, false]);
});

test.each([
  ['a /64 of IPv6', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
  ['an IPv4 address, mapped or not', '192.0.2.1', '::ffff:192.0.2.1', '::ffff:192.0.2.2'],
])('%s is one address', (_, one, same, other) => {
  const shares = new ConnectionShares({ total: 10, perAddress: 1 });
  expect([shares.enter(one), shares.enter(same), shares.enter(other)]).toEqual([true, false, true]);
  shares.leave(same);
  expect(shares.enter(one)).toBe(true);
});

test('a trusted proxy counts for the total alone', () => {
  const shares = new ConnectionShares({ total: 2, perAddress: 1 });
  expect([shares.enter(undefined), shares.enter(undefined), shares.enter(undefined)]).toEqual([true, true, false]);
  shares.leave(undefined);
  expect(shares.enter('192.0.2.1')).toBe(true);
});
