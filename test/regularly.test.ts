import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { regularly } from '../src/regularly.ts';
import { LogRecorder } from './support/log-recorder.ts';
import { deferred } from './support/wire.ts';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

/** A second goes by, and what begins with it is through. */
async function second(): Promise<void> {
  jest.advanceTimersByTime(1000);
  await nextIteration();
}

test('work is done at once and again and again, and a failure is logged and made up for', async () => {
  const log = new LogRecorder();
  let times = 0;
  const work = regularly(
    1000,
    async () => {
      if (++times === 1) throw new Error('not yet');
    },
    log.logger,
    'the work could not be done',
  );
  expect(times).toBe(1);
  await log.line(/^the work could not be done$/);
  await second();
  await second();
  expect(times).toBe(3);
  await work.stop();
  await second();
  expect(times).toBe(3);
});

test('what takes longer than the interval is not begun twice, and the end waits for it', async () => {
  const held = deferred<void>();
  let begun = 0;
  const work = regularly(
    1000,
    () => {
      begun++;
      return held.promise;
    },
    new LogRecorder().logger,
    'failed',
  );
  await second();
  await second();
  expect(begun).toBe(1);
  let stopped = false;
  const stopping = work.stop().then(() => {
    stopped = true;
  });
  await nextIteration();
  expect(stopped).toBe(false);
  held.resolve();
  await stopping;
});
