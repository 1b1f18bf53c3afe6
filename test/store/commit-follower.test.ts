import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import type { LoggedCommit } from '../../src/store/change-log.ts';
import { CommitFollower, type FollowedLog } from '../../src/store/commit-follower.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('the log is read each second, also after it could not be read, and not while a reading lasts', async () => {
  const log = [{ seq: 1, token: 'first' }];
  const state = { reads: 0, fails: false, slow: Promise.resolve() };
  const reader = {
    async rows<Row>({ values = [] }: { readonly values?: readonly unknown[] }): Promise<Row[]> {
      state.reads++;
      await state.slow;
      if (state.fails) throw new Error('away');
      return log.filter(({ seq }) => seq >= Number(values[0])).map((row) =>
        ({ ...row, seq: BigInt(row.seq), changes: '[]', firstEntry: 0, lastEntry: 0 }) as Row
      );
    },
  };
  const applied: string[] = [];
  // Only `isCommitted` and `last` of the log are for others.
  const followed = { reader, last: { seq: 1, token: 'first' }, changeLog: {} as FollowedLog['changeLog'] };
  const follower = new CommitFollower(pino({ level: 'silent' }), followed);
  follower.start({
    apply: async (commits: readonly LoggedCommit[]) => void applied.push(...commits.map(({ token }) => token)),
    reload: () => Promise.reject(new Error('nothing is missing')),
  });
  const second = () => jest.advanceTimersByTimeAsync(1000);
  await second();
  log.push({ seq: 2, token: 'second' });
  await second();
  expect([state.reads, applied]).toEqual([2, ['second']]);

  state.fails = true;
  log.push({ seq: 3, token: 'third' });
  await second();
  state.fails = false;
  await second();
  expect([state.reads, applied]).toEqual([4, ['second', 'third']]);

  let go = (): void => undefined;
  state.slow = new Promise((resolve) => (go = resolve));
  await second();
  await second();
  expect(state.reads).toBe(5);
  go();
  await second();
  expect(state.reads).toBe(6);
  await follower.stop();
  await second();
  expect(state.reads).toBe(6);
});
