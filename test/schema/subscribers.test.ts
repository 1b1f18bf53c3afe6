import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { ChangeWatch } from '../../src/schema/subscriptions/change-watch.ts';
import { validCallers } from '../../src/schema/subscriptions/valid-callers.ts';
import { testDatabases } from '../support/database.ts';

test('a value is looked at every five seconds, and each second for eight after a change; only another one is new', () => {
  const watch = new ChangeWatch();
  const due = (count: number) => Array.from({ length: count }, () => watch.isDue() ? 'x' : '.').join('');
  expect(due(13)).toBe('....x....x...');
  watch.recordChanged();
  expect(due(13)).toBe('xxxxxxxx...x.');
  expect([watch.isNew([1]), watch.isNew([1]), watch.isNew([2]), watch.isNew([1]), watch.isNew(undefined), watch.isNew(undefined)])
    .toEqual([true, false, true, true, true, false]);
});

describe('subscribers', () => {
  const databases = testDatabases('sqlite');

  test('stay while their account, session and token are valid', async () => {
    const store = await databases.openEmpty();
    const { db } = store;
    const now = Date.UTC(2030, 0, 8);
    const [past, hour] = [new Date(now), 3_600_000];
    // A user and a client with the same id differ, and so do a session and a token.
    for (const [username, data] of Object.entries({ off: { enabled: false }, on: {}, expired: { expiresAt: past } })) {
      await db.user.create({ data: { username, passwordHash: '', ...data } });
    }
    for (const [vkey, data] of Object.entries({ on: {}, off: { enabled: false }, owned: { userId: 2 }, 'of one who is off': { userId: 1 } })) {
      await db.client.create({ data: { vkey, ...data } });
    }
    const session = (id: string, createdAt: number, lastSeenAt: number) =>
      db.session.create({ data: { id, kind: 'user', userId: 2, createdAt: new Date(createdAt), lastSeenAt: new Date(lastSeenAt) } });
    await session('used', now - hour, now - 1);
    await session('idle', now - hour, now - hour);
    await session('old', now - 7 * 24 * hour, now);
    for (const [name, expiresAt] of [['expired', past], ['never', null], ['later', new Date(now + 1)]] as const) {
      await db.apiToken.create({ data: { name, hash: name, expiresAt } });
    }
    const [on, admin] = [{ kind: 'user', userId: 2 }, { kind: 'admin' }] as const;
    const callers: ReadonlyArray<readonly [Caller, boolean]> = [
      [{ kind: 'user', userId: 1 }, false],
      [on, true],
      [{ kind: 'user', userId: 3 }, false],
      [{ kind: 'user', userId: 99 }, false],
      [{ kind: 'client', clientId: 1 }, true],
      [{ kind: 'client', clientId: 2 }, false],
      [{ kind: 'client', clientId: 3 }, true],
      [{ kind: 'client', clientId: 4 }, false],
      [{ kind: 'client', clientId: 99 }, false],
      [{ ...on, sessionId: 'used' }, true],
      [{ ...on, sessionId: 'idle' }, false],
      [{ ...on, sessionId: 'old' }, false],
      [{ ...on, sessionId: 'none' }, false],
      [{ ...admin, sessionId: 'none' }, false],
      [admin, true],
      [{ ...admin, tokenId: 1 }, false],
      [{ ...admin, tokenId: 2 }, true],
      [{ ...on, tokenId: 3 }, true],
      [{ ...admin, tokenId: 99 }, false],
      [{ kind: 'anonymous' }, false],
    ];
    const isValid = await validCallers(store, callers.map(([caller]) => caller), now);
    expect(callers.map(([caller]) => [caller, isValid(caller)])).toEqual(callers);
    for (const [caller, valid] of callers) expect([caller, (await validCallers(store, [caller], now))(caller)]).toEqual([caller, valid]);
  });
});
