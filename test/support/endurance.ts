import process from 'node:process';
import { expect } from '@jest/globals';

/** Whether suites run at full length (`npm run endurance`), or at one that takes seconds. */
export const endurance = process.env['ADIT_ENDURANCE'] === '1';

/** Whether the suite that runs is one of `npm run test:slow`. Such a suite may import the one of `npm test`, to run it in a longer form. */
// oxlint-disable-next-line jest/no-standalone-expect -- only the name of the suite is asked for
const isSlow = expect.getState().testPath?.endsWith('.slow.ts') === true;

/** Whether the suite runs in the short form of `npm test`. */
export const isShort = !endurance && !isSlow;

/** The first value in `npm test`, the second in `npm run endurance`. @param slow the value in `npm run test:slow` */
export function sized<T>(short: T, full: T, slow: T = short): T {
  if (endurance) return full;
  return isSlow ? slow : short;
}
