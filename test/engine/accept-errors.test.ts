import { expect, test } from '@jest/globals';
import { logAcceptErrors } from '../../src/engine/limits/accept-errors.ts';
import { LogRecorder } from '../support/log-recorder.ts';

test('accepts that fail one after another are one line in the log', () => {
  const log = new LogRecorder();
  const onError = logAcceptErrors(log.logger, 9001);
  for (let i = 0; i < 1000; i++) onError(new Error('EMFILE'));
  expect(log.entries).toMatchObject([{ port: 9001, unlogged: 0, msg: 'a listener failed to accept a connection' }]);
});
