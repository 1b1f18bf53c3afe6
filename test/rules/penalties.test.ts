import { expect, test } from '@jest/globals';
import { Penalties } from '../../src/rules/penalties.ts';

const RULES = { free: 2, firstDelay: 100, longestDelay: 1000, expiry: 60_000, freeForKnown: 20, keys: 64, addresses: 3 };

/** A right key of a client that was never seen at the address. */
const right = { known: false };

function failed(times: number, address = 'a', penalties = new Penalties(RULES)): Penalties {
  for (let i = 0; i < times; i++) penalties.fail(address, 0, `key ${i}`);
  return penalties;
}

test('the first failures cost nothing, then the delay doubles up to the longest', () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 40].map((failures) => failed(failures).queue('a', 0, right));
  expect(delays).toEqual([0, 0, 100, 200, 400, 800, 1000, 1000]);
});

test('concurrent attempts are queued, and refused when the wait gets too long', () => {
  const penalties = failed(4);
  expect([penalties.queue('a', 0, right), penalties.queue('a', 0, right), penalties.queue('a', 0, right)]).toEqual([400, 800, Number.POSITIVE_INFINITY]);
  expect(penalties.queue('a', 800, right)).toBe(400);
});

test('other addresses do not wait', () => {
  expect(failed(10, 'a').queue('b', 0, right)).toBe(0);
});

test('an address is forgiven after its last failure has expired', () => {
  const penalties = failed(10);
  expect([penalties.waiting(60_000), penalties.queue('a', 60_000, right)]).toEqual([[{ source: 'a', until: 60_000 }], 1000]);
  expect(penalties.queue('a', 60_001, right)).toBe(0);
  expect(penalties.size).toBe(0);
});

test('a clock that is set back by a day does not keep right keys out for a day', () => {
  const day = 86_400_000;
  const penaltiesOf = () => {
    const penalties = new Penalties(RULES);
    for (let i = 0; i < 5; i++) penalties.fail('a', day, `key ${i}`);
    expect([penalties.queue('a', day, right), penalties.waiting(day)]).toEqual([800, [{ source: 'a', until: day + 60_000 }]]);
    return penalties;
  };
  expect(penaltiesOf().waiting(0)).toEqual([]);
  expect(penaltiesOf().queue('a', 0, right)).toBe(0);
  const again = penaltiesOf();
  for (const key of ['other', 'yet another']) again.fail('a', 0, key);
  expect([again.queue('a', 0, right), again.waiting(0)]).toEqual([100, [{ source: 'a', until: 60_000 }]]);
});

test('the number of remembered addresses is limited: the one that failed longest ago is forgotten', () => {
  const penalties = failed(5, 'a');
  for (const address of ['b', 'c', 'd']) failed(5, address, penalties);
  expect(penalties.size).toBe(3);
  expect(penalties.queue('a', 0, right)).toBe(0);
  expect(penalties.queue('d', 0, right)).toBeGreaterThan(0);
  penalties.fail('b', 1, 'another key');
  penalties.fail('e', 2, 'key');
  expect(penalties.waiting(2).map(({ source }) => source)).toEqual(['d', 'b']);
});

test('is listed while it has to wait, and can be freed', () => {
  const penalties = failed(1, 'a', failed(2, 'b'));
  expect(penalties.waiting(0)).toEqual([{ source: 'b', until: 60_000 }]);
  expect(penalties.waiting(60_001)).toEqual([]);
  penalties.forget('b');
  expect([penalties.waiting(0), penalties.queue('b', 0, right)]).toEqual([[], 0]);
});

test('the same wrong key again is no further guess, and makes only those wait that offer it', () => {
  const penalties = new Penalties(RULES);
  expect([1, 2, 3, 4].map(() => penalties.fail('a', 0, 'the key of a client that was deleted'))).toEqual(['first', false, false, false]);
  expect(penalties.queue('a', 0, right)).toBe(0);
  expect(penalties.queue('a', 0, { wrong: 'the key of a client that was deleted' })).toBe(400);
  expect([penalties.fail('a', 0, 'another'), penalties.fail('a', 0, 'a third')]).toEqual(['waits', undefined]);
  expect(penalties.queue('a', 0, right)).toBeGreaterThan(0);
});

test("clients known at an address do not wait because of others' guesses there, unless there are many", () => {
  expect(failed(20).queue('a', 0, { known: true })).toBe(0);
  expect(failed(20).queue('a', 0, right)).toBeGreaterThan(0);
  expect(failed(21).queue('a', 0, { known: true })).toBeGreaterThan(0);
});

test('so many wrong keys of an address are remembered; one that was forgotten counts as another guess', () => {
  const penalties = new Penalties({ ...RULES, keys: 2 });
  for (const key of ['first', 'second', 'third']) penalties.fail('a', 0, key);
  expect(['third', 'second', 'first'].map((key) => penalties.fail('a', 0, key) === false)).toEqual([true, true, false]);
});
