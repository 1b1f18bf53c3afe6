import { expect, jest, test } from '@jest/globals';
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

test('the wait until no visitor is left ends with the last one, or with its time, and leaves no timer', async () => {
  jest.useFakeTimers();
  try {
    const visitors = new Visitors();
    for (let count = 0; count < 2; count++) visitors.enter('a');
    let over = 0;
    const waits = [1000, 60_000].map((ms) => visitors.gone(ms).then(() => over++));
    visitors.leave('a');
    await jest.advanceTimersByTimeAsync(1000);
    expect(over).toBe(1);
    visitors.leave('a');
    await Promise.all(waits);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
