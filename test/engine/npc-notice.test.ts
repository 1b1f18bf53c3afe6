import { expect, test } from '@jest/globals';
import { NpcNotice } from '../../src/engine/bridge/npc-notice.ts';
import { LogRecorder } from '../support/log-recorder.ts';

const HOUR_MS = 3_600_000;

test('the log gets a line an hour for an address, and sixty for all, however many connect', () => {
  const log = new LogRecorder();
  const notice = new NpcNotice(log.logger);
  for (let n = 0; n < 10; n++) notice.connected('192.0.2.1', n * 5000);
  expect(log.entries).toHaveLength(1);
  notice.connected('192.0.2.1', HOUR_MS);
  expect(log.entries).toHaveLength(2);
  for (let n = 0; n < 5000; n++) notice.connected(`2001:db8::${n.toString(16)}`, HOUR_MS + n);
  expect(log.entries).toHaveLength(61);
  notice.connected('192.0.2.2', 2 * HOUR_MS);
  expect(log.entries).toHaveLength(62);
});
