import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Changes, type FollowedChange } from '../../src/schema/writes/followed-changes.ts';
import type { LoggedChange } from '../../src/schema/writes/logged-changes.ts';
import { UnappliedChanges } from '../../src/schema/writes/unapplied-changes.ts';
import { testDatabases } from '../support/database.ts';
import { LogRecorder } from '../support/log-recorder.ts';

const error = new Error('refused');
/** A change that needs no row. */
const acme = (name: string): LoggedChange => ({ resource: 'acme', name });

describe('changes that could not be applied', () => {
  const databases = testDatabases('sqlite');

  /** Rows are read when `readRows` returns, and a listener notes what it gets and when, in seconds. It fails as long as `refused` has the name. */
  async function opened() {
    const { db, follower } = await databases.openEmpty();
    const log = new LogRecorder();
    const changes = new Changes();
    const refused = new Set<string>();
    const seen: Array<readonly [seconds: number, name: string, change: FollowedChange]> = [];
    const rows = { read: () => undefined as void };
    const unapplied = new UnappliedChanges({
      store: {
        db,
        follower,
        changed: async () => {
          rows.read();
          return [];
        },
      },
      changes,
      log: log.logger,
    });
    const start = Date.now();
    changes.subscribe((change) => {
      const name = 'id' in change ? `${change.resource} ${change.id}` : 'name' in change ? change.name : change.resource;
      seen.push([(Date.now() - start) / 1000, name, change]);
      if (refused.has(name)) throw error;
    });
    const times = () => seen.splice(0).map(([seconds, name]) => [seconds, name]);
    return { unapplied, refused, seen, times, rows, log };
  }
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'], now: 0 }));
  afterEach(() => void jest.useRealTimers());
  const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000);

  test('are tried again after a second, then after twice as long each time up to half a minute; when all are applied, after a second again', async () => {
    const { unapplied, refused, times, log } = await opened();
    refused.add('a');
    unapplied.add(acme('a'), error);
    unapplied.add(acme('a'), error);
    unapplied.add(acme('b'), error);
    expect(unapplied.size).toBe(2);
    await pass(120);
    expect(times()).toEqual([[1, 'a'], [1, 'b'], ...[3, 7, 15, 31, 61, 91].map((seconds) => [seconds, 'a'])]);
    expect([unapplied.size, log.entries.map(({ msg, record }) => [msg.split(';')[0], record])]).toEqual([1, [
      ['a stored change could not be applied', 'acme a'],
      ['a stored change could not be applied', 'acme b'],
    ]]);
    refused.clear();
    await pass(30);
    expect([times(), unapplied.size, log.entries.at(-1)?.msg]).toEqual([[[121, 'a']], 0, 'all stored changes are applied']);
    unapplied.add(acme('c'), error);
    await pass(60);
    expect(times()).toEqual([[151, 'c']]);
  });

  test('are applied again however many there are, with the rows of that time, and without the reset of traffic, which is not made twice', async () => {
    const { unapplied, seen, rows } = await opened();
    unapplied.add({ resource: 'tunnel', id: 7, was: { id: 3, userId: 5 }, reset: { inletBytes: 1, exportBytes: 2 } }, error);
    for (let n = 1; n <= 400; n++) unapplied.add(acme(`${n}`), error);
    let attempts = 0;
    rows.read = () => {
      if (++attempts === 1) throw new Error('the database is gone');
    };
    await pass(1);
    // The rows of the first 200 could not be read.
    expect([seen.length, unapplied.size]).toEqual([201, 200]);
    await pass(2);
    expect([seen.length, unapplied.size, new Set(seen.map(([, name]) => name)).size]).toEqual([401, 0, 401]);
    const tunnel = seen.find(([, name]) => name === 'tunnel 7')?.[2];
    expect(tunnel).toEqual({ resource: 'tunnel', id: 7, was: { id: 3, userId: 5 }, reset: undefined, row: null });
  });

  test('are forgotten when everything that is stored is applied; later ones are tried after a second', async () => {
    const { unapplied, refused, times } = await opened();
    refused.add('a');
    unapplied.add(acme('a'), error);
    await pass(4);
    expect(times()).toEqual([[1, 'a'], [3, 'a']]);
    unapplied.clear();
    expect(unapplied.size).toBe(0);
    await pass(60);
    expect(times()).toEqual([]);
    unapplied.add(acme('b'), error);
    await pass(1);
    expect(times()).toEqual([[65, 'b']]);
  });

  test('are not applied any more if they are forgotten while they are tried', async () => {
    const { unapplied, seen, rows } = await opened();
    unapplied.add({ resource: 'tunnel', id: 7 }, error);
    for (let n = 1; n <= 400; n++) unapplied.add(acme(`${n}`), error);
    rows.read = () => unapplied.clear();
    await pass(60);
    expect([seen.length, unapplied.size]).toEqual([200, 0]);
  });
});
