import { expect, test } from '@jest/globals';
import { Penalties } from '../../src/rules/penalties.ts';

const RULES = { free: 2, firstDelay: 100, longestDelay: 1000, expiry: 60_000, addresses: 3 };

function failed(times: number, address = 'a', penalties = new Penalties(RULES)): Penalties {
  for (let i = 0; i < times; i++) penalties.fail(address, 0);
  return penalties;
}

test('the first failures cost nothing, then the delay doubles up to the longest', () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 40].map((failures) => failed(failures).turn('a', 0));
  expect(delays).toEqual([0, 0, 100, 200, 400, 800, 1000, 1000]);
});

test('attempts that come together take turns, and are sent away when the wait gets too long', () => {
  const penalties = failed(4);
  expect([penalties.turn('a', 0), penalties.turn('a', 0), penalties.turn('a', 0)]).toEqual([400, 800, Number.POSITIVE_INFINITY]);
  expect(penalties.turn('a', 800)).toBe(400);
});

test('other addresses do not wait', () => {
  expect(failed(10, 'a').turn('b', 0)).toBe(0);
});

test('an address is forgiven after its last failure has expired', () => {
  const penalties = failed(10);
  expect(penalties.turn('a', 60_001)).toBe(0);
  expect(penalties.size).toBe(0);
});

test('no more addresses are remembered than allowed: the one that failed longest ago goes', () => {
  const penalties = failed(5, 'a');
  for (const address of ['b', 'c', 'd']) failed(5, address, penalties);
  expect(penalties.size).toBe(3);
  expect(penalties.turn('a', 0)).toBe(0);
  expect(penalties.turn('d', 0)).toBeGreaterThan(0);
});

test('is listed while it has to wait, and forgiven when somebody says so', () => {
  const penalties = failed(1, 'a', failed(2, 'b'));
  expect(penalties.waiting(0)).toEqual([{ source: 'b', until: 60_000 }]);
  expect(penalties.waiting(60_001)).toEqual([]);
  penalties.forget('b');
  expect([penalties.waiting(0), penalties.turn('b', 0)]).toEqual([[], 0]);
});
