import { expect, test } from '@jest/globals';
import { Visitors } from '../../src/engine/limits/visitors.ts';

test('an address has its share of all connections, a trusted proxy as many as there are', async () => {
  const visitors = new Visitors({ total: 4, perAddress: 1 }, (address) => address === 'proxy');
  const addresses = ['a', 'a', 'proxy', 'proxy', 'b', 'c'];
  expect(addresses.map((address) => visitors.enter(address))).toEqual([true, false, true, true, true, false]);
  const gone = visitors.gone(60_000);
  for (const address of ['a', 'proxy', 'proxy', 'b']) visitors.leave(address);
  await gone;
  expect([visitors.open, visitors.hasRoom('a')]).toEqual([0, true]);
});
