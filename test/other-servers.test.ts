import { expect, test } from '@jest/globals';
import { commonClock } from '../src/other-servers.ts';
import { LogRecorder } from './support/log-recorder.ts';

test.each([
  [120_000, ['the clock of this machine is behind that of the database']],
  [-120_000, ['the clock of this machine is ahead of that of the database']],
  [1000, []],
])('a server whose database is %d ms ahead has the clock of the database, and says so if its own is wrong', async (ahead, expected) => {
  const log = new LogRecorder();
  const now = await commonClock({ node: { clock: async () => () => Date.now() + ahead } }, log.logger);
  expect(Math.abs(now() - Date.now() - ahead)).toBeLessThan(1000);
  expect(log.entries.map(({ msg }) => msg.split(':')[0])).toEqual(expected);
});
