import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import type { LoggedCommit } from '../../src/store/change-log.ts';
import { CommitFollower, type FollowedLog } from '../../src/store/commit-follower.ts';
import { LogRecorder } from '../support/log-recorder.ts';

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

/** A follower of a log that a test writes, and what it does. */
function following(log: Array<{ readonly seq: number; readonly token: string }>) {
  const done: string[] = [];
  const during = { read: async () => {}, apply: async () => {}, reload: async () => {} };
  const reader = {
    async rows<Row>({ values = [] }: { readonly values?: readonly unknown[] }): Promise<Row[]> {
      done.push('read');
      await during.read();
      const found = log.filter(({ seq }) => seq >= Number(values[0])).slice(0, Number(values[1]));
      return found.map((row) => ({ ...row, seq: BigInt(row.seq), changes: '[]', firstEntry: 0, lastEntry: 0 }) as Row);
    },
  };
  const changeLog = { last: async () => log.at(-1), isCommitted: async () => true } as unknown as FollowedLog['changeLog'];
  const recorder = new LogRecorder();
  const follower = new CommitFollower(recorder.logger, { reader, changeLog, last: { seq: 1, token: 'first' } });
  follower.onOwnCommit = () => void done.push('own');
  follower.start({
    async apply(commits) {
      await during.apply();
      done.push(commits.length > 2 ? `${commits.length} commits` : commits.map(({ token }) => token).join(' '));
    },
    async reload() {
      await during.reload();
      done.push('reload');
    },
  });
  return { follower, changeLog, done, during, recorder };
}

const away = () => Promise.reject(new Error('away'));
const nothing = async () => {};

test('more commits than one reading has are applied with one look', async () => {
  const { follower, done } = following(Array.from({ length: 450 }, (_, index) => ({ seq: index + 1, token: index === 0 ? 'first' : `commit ${index}` })));
  // Between two looks, nothing is known to be missing.
  const figures = [1999, 1, 500].map((ms) => {
    jest.advanceTimersByTime(ms);
    return follower.figures;
  });
  expect(figures).toEqual([0, 2000, 2500].map((lagMs) => ({ seq: 1, lagMs })));
  await follower.inOrder(nothing); // behind the look that the timer has begun
  expect(done).toEqual(['read', '199 commits', 'read', '199 commits', 'read', '51 commits']);
  expect(follower.figures).toEqual({ seq: 450, lagMs: 0 });
  await follower.stop();
});

test('commits that could not be applied are applied again, and that is logged once', async () => {
  const { follower, done, during, recorder } = following([{ seq: 1, token: 'first' }, { seq: 2, token: 'second' }]);
  during.apply = away;
  await follower.look();
  await follower.look();
  expect(follower.figures.seq).toBe(1);
  during.apply = nothing;
  await follower.look();
  await follower.look();
  expect(done).toEqual(['read', 'read', 'read', 'second', 'read']);
  expect(recorder.entries.map(({ msg }) => msg)).toEqual([expect.stringMatching(/could not be followed/), expect.stringMatching(/followed again/)]);
  await follower.stop();
});

test.each([
  ['has the number of the last commit for another one', [{ seq: 1, token: 'another' }, { seq: 2, token: 'second' }]],
  ['lacks the last commit', [{ seq: 2, token: 'second' }]],
  ['lacks a later one', [{ seq: 1, token: 'first' }, { seq: 3, token: 'third' }]],
])('if the log %s, everything is loaded, again if that fails, and what is committed meanwhile is applied then', async (_, log) => {
  const { follower, done, during } = following(log);
  during.reload = away;
  await follower.look();
  expect(done.splice(0)).toEqual(['read']);
  during.reload = async () => void log.push({ seq: (log.at(-1)?.seq ?? 0) + 1, token: 'meanwhile' });
  await follower.look();
  expect(done).toEqual(['reload', 'read', 'meanwhile']);
  expect(follower.figures.seq).toBe(log.at(-1)?.seq);
  await follower.stop();
});

test('any number of calls of another server cause one look, and one while the log is read another one', async () => {
  const { follower, done, during } = following([{ seq: 1, token: 'first' }]);
  for (let call = 0; call < 3; call++) follower.lookSoon();
  during.read = async () => {
    during.read = nothing;
    follower.lookSoon();
  };
  for (let turn = 0; turn < 2; turn++) await follower.inOrder(nothing);
  await follower.stop();
  expect(done).toEqual(['read', 'read']);
});

test('an own commit is published after those of others before it, and not by a look; one that was given up is applied as those of others', async () => {
  const log = [{ seq: 1, token: 'first' }, { seq: 2, token: 'second' }];
  const { follower, done, during } = following(log);
  const publish = async () => void done.push('published');
  follower.committing({ seq: 3, token: 'own' });
  log.push({ seq: 3, token: 'own' }, { seq: 4, token: 'fourth' });
  await follower.look();
  await follower.published({ seq: 3, token: 'own' }, publish);
  expect(done.splice(0)).toEqual(['read', 'second', 'own', 'published']);
  follower.committing({ seq: 5, token: 'given up' });
  follower.givenUp();
  log.push({ seq: 5, token: 'given up' });
  await follower.look();
  expect(done.splice(0)).toEqual(['read', 'fourth given up']);
  // The one before it can't be read: both are applied later.
  log.push({ seq: 6, token: 'sixth' }, { seq: 7, token: 'own again' });
  follower.committing({ seq: 7, token: 'own again' });
  during.read = away;
  await follower.published({ seq: 7, token: 'own again' }, publish);
  during.read = nothing;
  await follower.look();
  expect(done).toEqual(['own', 'read', 'published', 'read', 'sixth own again']);
  expect(follower.figures.seq).toBe(7);
  await follower.stop();
});

test('the end waits for what is being published, and nothing is applied after it', async () => {
  const { follower, done, during } = following([{ seq: 1, token: 'first' }, { seq: 2, token: 'second' }]);
  const publishing = new EventEmitter();
  const begun = once(publishing, 'begun');
  during.apply = async () => {
    publishing.emit('begun');
    await once(publishing, 'go');
  };
  void follower.look();
  await begun;
  const stopped = follower.stop().then(() => void done.push('stopped'));
  await jest.advanceTimersByTimeAsync(1);
  publishing.emit('go');
  await stopped;
  await follower.look();
  expect(done).toEqual(['read', 'second', 'stopped']);
});

test('whether a transaction was committed is asked again until the log answers, or has not for too long', async () => {
  const { follower, changeLog } = following([{ seq: 1, token: 'first' }]);
  const asked = jest.spyOn(changeLog, 'isCommitted').mockRejectedValueOnce(new Error('away')).mockResolvedValueOnce(false);
  expect(await follower.isCommitted({ seq: 2, token: 'own' })).toBe(false);
  expect(asked.mock.calls).toEqual([[{ seq: 2, token: 'own' }], [{ seq: 2, token: 'own' }]]);
  // For five seconds.
  asked.mockImplementationOnce(async () => {
    jest.advanceTimersByTime(5000);
    throw new Error('away again');
  }).mockResolvedValueOnce(true);
  await expect(follower.isCommitted({ seq: 2, token: 'own' })).rejects.toThrow('away again');
  await follower.stop();
});
