import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { ChangeWatch } from '../../src/schema/subscriptions/change-watch.ts';
import { validCallers } from '../../src/schema/subscriptions/valid-callers.ts';
import { testDatabases } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients, seedTunnels, seedUsers } from '../support/seed.ts';

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

describe('subscriptions', () => {
  const databases = testDatabases('sqlite');
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] }));
  afterEach(() => void jest.useRealTimers());
  const [admin, alice, bob] = [{ kind: 'admin' }, { kind: 'user', userId: 1 }, { kind: 'user', userId: 2 }] as const satisfies readonly Caller[];

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  /** Alice, who has the first client with a tunnel, and Bob, who has the second. */
  async function opened() {
    const { services } = await openTestSchema(databases);
    const { store, live, changes } = services;
    await seedUsers(store, 2);
    await seedClients(store, 2, (n) => ({ userId: n }));
    await seedTunnels(store, 1, 1);
    const rows = { client: await store.db.client.findMany({ include: { user: true } }), tunnel: await store.db.tunnel.findMany() };
    return { store, live, changes, rows };
  }

  test('there are 500 at most, 20 of a user or of a web login, and as many as there is room for of administrators; one that ends makes room', async () => {
    const { live } = await opened();
    const refused = expect.objectContaining({ code: 'SUBSCRIPTION_LIMIT' });
    const own = Array.from({ length: 20 }, () => live.audit(alice));
    expect(() => live.audit({ ...alice, sessionId: 'another' })).toThrow(refused);
    live.audit(bob);
    const web: Caller = { kind: 'client', clientId: 1 };
    for (let count = 0; count < 20; count++) live.audit(web);
    expect(() => live.audit(web)).toThrow(refused);
    while (live.subscribers < 500) live.audit(admin);
    expect(() => live.audit(admin)).toThrow(refused);
    expect(() => live.users(bob)).toThrow(refused);
    await own[0]?.return?.();
    live.audit(alice);
    expect([live.subscribers, live.hasAuditors]).toEqual([500, true]);
    live.close();
    expect([live.subscribers, live.hasAuditors]).toEqual([0, false]);
  });

  test('a record that changes twice within a moment is published once: to the user who had it first, and to the one who has it then', async () => {
    const { store, live, changes, rows } = await opened();
    const [one, two] = [live.states(alice, 'client'), live.states(bob, 'client')];
    const row = rows.client[0] ?? null;
    await changes.publish({ resource: 'client', id: 1, row, was: { id: 1, userId: 1 } });
    await store.db.client.update({ where: { id: 1 }, data: { userId: 2 } });
    await changes.publish({ resource: 'client', id: 1, row, was: { id: 1, userId: 99 } });
    await pass(50);
    expect(await one.next()).toMatchObject({ value: { kind: 'client', id: 1, row: null } });
    expect(await two.next()).toMatchObject({ value: { kind: 'client', id: 1, row: { userId: 2 } } });
    // A later one is published again, to the owner alone.
    await changes.publish({ resource: 'client', id: 1, row, was: { id: 1, userId: 2 } });
    await pass(50);
    expect(await two.next()).toMatchObject({ value: { id: 1 } });
    live.close();
    expect(await one.next()).toEqual({ done: true, value: undefined });
  });

  test('the clients of a changed user are published', async () => {
    const { live, changes, rows } = await opened();
    const states = live.states(admin, 'client');
    await changes.publish({ resource: 'user', id: 1, clients: rows.client.filter(({ userId }) => userId === 1) });
    await pass(50);
    await changes.publish({ resource: 'client', id: 2, row: rows.client[1] ?? null });
    await pass(50);
    expect([await states.next(), await states.next()]).toMatchObject([{ value: { id: 1 } }, { value: { id: 2 } }]);
    live.close();
  });

  test('a value is read at once, every five seconds, and each second after a record of the caller has changed or is gone; it is published when it differs', async () => {
    const { live, changes, rows } = await opened();
    let [reads, value] = [0, 'a'];
    const values = live.whenChanged(alice, async () => {
      reads++;
      return value;
    });
    const readIn = async (seconds: number) => {
      reads = 0;
      await pass(seconds * 1000);
      return reads;
    };
    expect([reads, await readIn(4), await readIn(1), await readIn(5)]).toEqual([1, 0, 1, 1]);
    // Those that subscribe later get each change later.
    const published = { client: live.states(admin, 'client'), tunnel: live.states(admin, 'tunnel') };
    await changes.publish({ resource: 'client', id: 2, row: rows.client[1] ?? null, was: { id: 2, userId: 2 } });
    await pass(50);
    await published.client.next();
    expect(await readIn(4)).toBe(0);
    const tunnel = rows.tunnel[0] ?? null;
    for (const change of [{ id: 1, row: tunnel }, { id: 9, row: null, was: { id: 1, userId: 1 } }]) {
      await readIn(12);
      await changes.publish({ resource: 'tunnel', ...change });
      await pass(50);
      await published.tunnel.next();
      expect(await readIn(7)).toBe(7);
    }
    expect(await values.next()).toEqual({ done: false, value: 'a' });
    value = 'b';
    await pass(20_000);
    value = 'a';
    await pass(20_000);
    expect([await values.next(), await values.next()]).toEqual([{ done: false, value: 'b' }, { done: false, value: 'a' }]);
    live.close();
  });

  test('a value is read once a second, never twice at once, by as many as subscribe; the timer goes on for those that come later', async () => {
    const { live } = await opened();
    await live.audit(admin).return?.();
    let reads = 0;
    let end: (value: number | undefined) => void = () => undefined;
    const values = live.everySecond(admin, () => {
      reads++;
      return new Promise<number | undefined>((resolve) => {
        end = resolve;
      });
    });
    await pass(3000);
    expect(reads).toBe(1);
    end(7);
    await pass(1000);
    expect([reads, await values.next()]).toEqual([2, { done: false, value: 7 }]);
    end(undefined);
    expect(await values.next()).toEqual({ done: true, value: undefined });
    await pass(2000);
    expect([reads, live.subscribers]).toEqual([2, 0]);
    live.close();
  });

  test('a value that cannot be read is read again at the next second', async () => {
    const { live } = await opened();
    let reads = 0;
    const values = live.everySecond(admin, async () => {
      if (++reads === 1) throw new Error('the database is away');
      return reads;
    });
    await pass(2000);
    expect(reads).toBe(2);
    expect(await values.next()).toEqual({ done: false, value: 2 });
    live.close();
  });

  test('of a caller who may no longer log in end within five seconds, though nobody has reported that', async () => {
    const { store, live } = await opened();
    const [ofAlice, ofBob] = [live.states(alice, 'client'), live.states(bob, 'client')];
    await store.db.user.update({ where: { id: 1 }, data: { enabled: false } });
    await pass(5000);
    expect([await ofAlice.next(), live.subscribers]).toEqual([{ done: true, value: undefined }, 1]);
    await ofBob.return?.();
  });
});
