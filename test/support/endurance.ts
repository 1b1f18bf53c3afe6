import process from 'node:process';

/** Whether the suites of test/e2e run at full length (`npm run endurance`), or at one that takes seconds (`npm test`, `npm run test:slow`). */
export const endurance = process.env['ADIT_ENDURANCE'] === '1';

/** The first value in `npm test` and `npm run test:slow`, the second in `npm run endurance`. */
export function sized<T>(short: T, full: T): T {
  return endurance ? full : short;
}
