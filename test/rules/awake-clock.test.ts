import { expect, jest, test } from '@jest/globals';
import { awakeClock } from '../../src/rules/awake-clock.ts';

test('the clock goes on while the machine sleeps, and never back', () => {
  const awakeNow = awakeClock();
  const timeOfDay = Date.now.bind(Date);
  let offset = 0;
  const set = jest.spyOn(Date, 'now').mockImplementation(() => timeOfDay() + offset);
  try {
    const before = awakeNow();
    expect(awakeNow() - before).toBeLessThan(60_000);
    offset = 3_600_000;
    expect(awakeNow() - before).toBeGreaterThanOrEqual(3_600_000 - 1000);
    const after = awakeNow();
    // The time of day is set back.
    offset = -3_600_000;
    expect(awakeNow()).toBeGreaterThanOrEqual(after);
    expect(awakeNow() - after).toBeLessThan(60_000);
  } finally {
    set.mockRestore();
  }
});
