import { expect, jest, test } from '@jest/globals';
import argon2 from '@node-rs/argon2';
import { z } from 'zod';
import { fastHash } from '../../src/schema/access/fast-hash.ts';
import { identify } from '../../src/schema/access/login.ts';
import { hashPassword } from '../../src/schema/access/password.ts';
import { Sessions } from '../../src/schema/access/sessions.ts';
import { nameFormerTokens, newToken, tokenCaller } from '../../src/schema/access/tokens.ts';
import { cheapPasswords } from '../support/cheap-passwords.ts';
import { testDatabases } from '../support/database.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { testApps } from '../support/http.ts';
import { openTestSchema } from '../support/schema.ts';

cheapPasswords();
const start = testApps();
const databases = testDatabases('sqlite');
const settings = { adminUsername: 'root', adminPassword: 'the password', allowVkeyLogin: true };
const listed = z.object({ data: z.object({ sessions: z.array(z.object({ id: z.string(), role: z.string(), isOwn: z.boolean() })) }) });

/** A session of the administrator. */
function session(id: string, lastSeenAt: Date, createdAt = lastSeenAt) {
  return { id: id.repeat(64 / id.length), kind: 'admin', stamp: '', createdAt, lastSeenAt };
}

test('administrators see the sessions that were used in the last hour, without what identifies them to the server, and end one', async () => {
  const app = await start();
  const { db } = app.api.services.store;
  const now = Date.now();
  await db.session.createMany({ data: [session('ab', new Date(now)), session('cd', new Date(now - 60_000)), session('ef', new Date(now - 3_700_000))] });
  const list = async () => listed.parse(await (await app.graphql({ query: '{ sessions { id role isOwn } }' })).json()).data.sessions;
  expect(await list()).toEqual([
    { id: 'ab'.repeat(8), role: 'ADMINISTRATOR', isOwn: false },
    { id: 'cd'.repeat(8), role: 'ADMINISTRATOR', isOwn: false },
  ]);
  const end = async (id: string) => (await app.graphql({ query: 'mutation ($id: ID!) { endSession(id: $id) }', variables: { id } })).json();
  for (const id of ['', 'ab', '%'.repeat(16), 'ab'.repeat(32), '0'.repeat(16)]) {
    expect([id, await end(id)]).toMatchObject([id, { errors: [{ extensions: { code: 'NOT_FOUND' } }] }]);
  }
  expect(await end('cd'.repeat(8))).toEqual({ data: { endSession: 'cd'.repeat(8) } });
  expect((await list()).map(({ id }) => id)).toEqual(['ab'.repeat(8)]);
  const entries = await db.auditEntry.findMany({ where: { resource: 'session', action: 'delete' } });
  expect(entries.map(({ resourceId }) => resourceId)).toEqual(['cd'.repeat(6)]);
});

test('a session that is older than a week is not listed, however recently it was used', async () => {
  const app = await start();
  const now = Date.now();
  const week = 7 * 24 * 3_600_000;
  await app.api.services.store.db.session.createMany({
    data: [session('ab', new Date(now), new Date(now - week + 60_000)), session('cd', new Date(now), new Date(now - week - 1))],
  });
  const { sessions } = listed.parse(await (await app.graphql({ query: '{ sessions { id role isOwn } }' })).json()).data;
  expect(sessions.map(({ id }) => id)).toEqual(['ab'.repeat(8)]);
});

test('a session names the account that it belongs to, and the list knows which one is the own', async () => {
  const app = await start();
  const { db } = app.api.services.store;
  const user = await db.user.create({ data: { username: 'alice', passwordHash: '' } });
  await db.client.create({ data: { vkey: 'one', remark: 'another' } });
  const client = await db.client.create({ data: { vkey: 'two', remark: 'office' } });
  const now = Date.now();
  await db.session.createMany({
    data: [
      session('ab', new Date(now), new Date(now - 5000)),
      { ...session('cd', new Date(now - 1)), kind: 'user', userId: user.id },
      { ...session('ef', new Date(now - 2)), kind: 'client', clientId: client.id },
    ],
  });
  const query = '{ sessions { role isOwn createdAt lastUsedAt user { username } client { remark } } }';
  const iso = (ago: number) => new Date(now - ago).toISOString();
  const others = Array.from({ length: 200 }, (_, n) => session((256 + n).toString(16).padStart(4, '0'), new Date(now - 3 - n)));
  await db.session.createMany({ data: others });
  const { sessions } = z.object({ sessions: z.array(z.unknown()) }).parse((await app.api.run(query, {}, { kind: 'admin', sessionId: 'ab'.repeat(32) })).data);
  expect(sessions).toHaveLength(200);
  expect(sessions.slice(0, 3)).toEqual([
    { role: 'ADMINISTRATOR', isOwn: true, createdAt: iso(5000), lastUsedAt: iso(0), user: null, client: null },
    { role: 'USER', isOwn: false, createdAt: iso(1), lastUsedAt: iso(1), user: { username: 'alice' }, client: null },
    { role: 'CLIENT', isOwn: false, createdAt: iso(2), lastUsedAt: iso(2), user: null, client: { remark: 'office' } },
  ]);
});

test('users see no sessions, nor the traffic of the server, and the order by last connection puts the newest first', async () => {
  const app = await start();
  const { api } = app;
  const { store } = api.services;
  const { id } = await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
  const alice = { kind: 'user', userId: id } as const;
  const codes = async (query: string) => (await api.run(query, {}, alice)).errors?.map(({ extensions }) => extensions['code']);
  expect(await codes('{ sessions { id } }')).toEqual(['FORBIDDEN']);
  expect(await codes('mutation { endSession(id: "abababababababab") }')).toEqual(['FORBIDDEN']);
  expect(await codes('{ traffic(resource: SERVER, step: HOUR, from: "2026-01-01T00:00:00Z") { at } }')).toEqual(['FORBIDDEN']);
  expect(await codes('{ traffic(resource: CLIENT, step: HOUR, from: "2026-01-01T00:00:00Z") { at } }')).toEqual(['INVALID_INPUT']);
  for (const [vkey, lastOnlineAt] of [['early', new Date(1000)], ['never', null], ['late', new Date(2000)]] as const) {
    await store.db.client.create({ data: { vkey, remark: vkey, lastOnlineAt } });
  }
  const query = '{ clients(sort: { field: LAST_ONLINE_AT, direction: DESC }) { rows { remark } } }';
  expect((await api.run(query)).data).toEqual({ clients: { rows: [{ remark: 'late' }, { remark: 'early' }, { remark: 'never' }] } });
});

test('a login is the administrator, then the user, then the first of three clients with the name that may serve; a key only if that is allowed', async () => {
  const { services } = await openTestSchema(databases);
  const { db } = services.store;
  const login = (username: string, password: string, allowVkeyLogin = true) => identify(services, { ...settings, allowVkeyLogin }, username, password);
  const passwordHash = await hashPassword('secret');
  await db.user.createMany({ data: [{ username: 'both', passwordHash }, { username: 'root', passwordHash: await hashPassword('the password') }] });
  const shared = { webUsername: 'shared' };
  for (
    const data of [
      { webUsername: 'both', webPasswordHash: passwordHash },
      { ...shared, webPasswordHash: await hashPassword('of a disabled one'), enabled: false },
      { ...shared, webPasswordHash: passwordHash },
      { ...shared, webPasswordHash: await hashPassword('of the third') },
      { ...shared, webPasswordHash: await hashPassword('of the fourth') },
      {},
      { enabled: false },
      { userId: 1 },
    ]
  ) await db.client.create({ data: { ...data, vkey: `key ${await db.client.count() + 1}` } });
  expect(await login('root', 'the password')).toEqual({ kind: 'admin' });
  expect(await login('both', 'secret')).toEqual({ kind: 'user', userId: 1 });
  await db.user.update({ where: { id: 1 }, data: { enabled: false } });
  expect(await login('both', 'secret')).toEqual({ kind: 'client', clientId: 1, by: 'web' });
  await db.user.update({ where: { id: 1 }, data: { enabled: true } });
  expect(await login('shared', 'secret')).toEqual({ kind: 'client', clientId: 3, by: 'web' });
  expect(await login('shared', 'of the third')).toEqual({ kind: 'client', clientId: 4, by: 'web' });
  for (const password of ['of a disabled one', 'of the fourth']) expect([password, await login('shared', password)]).toEqual([password, undefined]);
  expect(await login('user', 'key 6')).toEqual({ kind: 'client', clientId: 6, by: 'vkey' });
  // Of a client with a web login, of one that is disabled, of one that has an owner.
  for (const key of ['key 1', 'key 7', 'key 8']) expect([key, await login('user', key)]).toEqual([key, undefined]);
  expect([await login('user', 'key 6', false), await login('users', 'key 6')]).toEqual([undefined, undefined]);
});

test('a session is of the credentials with which it was opened; its use is noted once a minute; a login removes those that have ended', async () => {
  let now = Date.UTC(2030, 0, 1);
  const { services } = await openTestSchema(databases, {}, () => now);
  const { store } = services;
  const { db } = store;
  const sessions = new Sessions(services, settings);
  await db.user.createMany({ data: ['alice', 'bob'].map((username) => ({ username, passwordHash: '' })) });
  await db.client.createMany({ data: [{ vkey: 'key 1', webUsername: 'web', webPasswordHash: 'hash' }, { vkey: 'key 2' }] });
  const cookies = {
    admin: await sessions.open({ kind: 'admin' }, '192.0.2.1'),
    user: await sessions.open({ kind: 'user', userId: 1 }, '192.0.2.1'),
    web: await sessions.open({ kind: 'client', clientId: 1, by: 'web' }, '192.0.2.1'),
    key: await sessions.open({ kind: 'client', clientId: 2, by: 'vkey' }, '192.0.2.1'),
  };
  expect((await db.user.findMany({ orderBy: { id: 'asc' } })).map(({ lastLoginAt }) => lastLoginAt)).toEqual([new Date(now), null]);
  const ended = async (given = {}) => {
    const names: string[] = [];
    for (const [name, cookie] of Object.entries(cookies)) {
      if (await new Sessions(services, { ...settings, ...given }).caller(cookie) === undefined) names.push(name);
    }
    return names;
  };
  expect(await ended()).toEqual([]);
  expect([await ended({ adminUsername: 'admin' }), await ended({ adminPassword: 'another' })]).toEqual([['admin'], ['admin']]);
  const endedBy = async (id: number, data: Parameters<typeof db.client.update>[0]['data']) => {
    const before = await db.client.findUniqueOrThrow({ where: { id } });
    await db.client.update({ where: { id }, data });
    const names = await ended();
    await db.client.update({ where: { id }, data: before });
    return names;
  };
  expect(await endedBy(1, { vkey: 'another' })).toEqual([]);
  for (const data of [{ webUsername: 'another' }, { webPasswordHash: 'another' }]) expect(await endedBy(1, data)).toEqual(['web']);
  expect(await endedBy(2, { vkey: 'another' })).toEqual(['key']);

  const lastSeen = async () => (await db.session.findFirstOrThrow({ where: { kind: 'user' } })).lastSeenAt.getTime();
  const opened = now;
  now += 59_999;
  await sessions.caller(cookies.user);
  // What the use of the session would write comes before this.
  await store.transaction(async () => undefined);
  expect(await lastSeen()).toBe(opened);
  now += 1;
  await sessions.caller(cookies.user);
  await eventuallyAsync(lastSeen, (seen) => seen === now);
  now = opened + 3_600_001;
  await sessions.open({ kind: 'user', userId: 2 }, '192.0.2.1');
  expect((await db.session.findMany({ orderBy: { userId: 'asc' } })).map(({ kind, userId }) => [kind, userId])).toEqual([['user', 1], ['user', 2]]);
});

test('the use of a token is noted once a minute; the log names 50 tokens from before secrets could be chosen, the oldest', async () => {
  const api = await openTestSchema(databases);
  const { services } = api;
  const { db, transaction } = services.store;
  const { token, hash } = newToken();
  await db.apiToken.create({ data: { name: 'one', hash, secrets: null } });
  const lastUsed = async () => (await db.apiToken.findUniqueOrThrow({ where: { hash } })).lastUsedAt?.getTime();
  const used = Date.UTC(2030, 0, 1);
  expect(await tokenCaller(services, token, used)).toMatchObject({ kind: 'admin', by: 'token', tokenId: 1, tokenName: 'one', withoutSecrets: false });
  await eventuallyAsync(lastUsed, (at) => at === used);
  await tokenCaller(services, token, used + 59_999);
  // What the use of the token would write comes before this.
  await transaction(async () => undefined);
  expect(await lastUsed()).toBe(used);
  await tokenCaller(services, token, used + 60_000);
  await eventuallyAsync(lastUsed, (at) => at === used + 60_000);

  await db.apiToken.createMany({ data: Array.from({ length: 51 }, (_, n) => ({ name: `${n}`, hash: `hash ${n}`, secrets: n === 9 ? false : null })) });
  await nameFormerTokens(services.store, services.log);
  const ids = Array.from({ length: 51 }, (_, n) => n + 1).filter((id) => id !== 11);
  expect(api.logged).toMatchObject([{ count: 51, tokens: ids.map((id) => ({ id })) }]);
});

test('while the disk of the database is full, tokens and sessions still work, and nobody can log in', async () => {
  let now = Date.UTC(2030, 0, 1);
  const api = await openTestSchema(databases, {}, () => now);
  const { services } = api;
  const { token, hash } = newToken();
  await services.store.db.apiToken.create({ data: { name: 'one', hash, secrets: false } });
  const sessions = new Sessions(services, settings);
  const cookie = await sessions.open({ kind: 'admin' }, '192.0.2.1');
  now += 60_000; // their use is to be noted
  const full = Object.assign(new Error('no room'), { code: '53100' });
  const transaction = jest.spyOn(services.store, 'transaction').mockRejectedValue(full);
  try {
    expect(await tokenCaller(services, token, now)).toMatchObject({ by: 'token' });
    expect(await sessions.caller(cookie)).toMatchObject({ by: 'session' });
    await expect(sessions.open({ kind: 'admin' }, '192.0.2.1')).rejects.toBe(full);
    expect(api.logged).toMatchObject(['token', 'session'].map((what) => ({ msg: `the time when a ${what} was last used could not be stored` })));
  } finally {
    transaction.mockRestore();
  }
});

test('guesses of the current password are throttled by address and by user; of two changes with the same one, the second fails', async () => {
  const api = await openTestSchema(databases);
  const { attempts, store: { db } } = api.services;
  for (const username of ['alice', 'bob', 'carol']) await db.user.create({ data: { username, passwordHash: await hashPassword('secret') } });
  const change = (userId: number, address: string, current = 'secret', next = 'secret') =>
    api.code('mutation ($current: String!, $next: String!) { changePassword(currentPassword: $current, newPassword: $next) { id } }', { current, next }, {
      kind: 'user',
      userId,
      address,
    });
  const wrong = 'CURRENT_PASSWORD_WRONG';
  // The right one is no guess.
  for (let n = 0; n < 12; n++) expect(await change(1, '192.0.2.1')).toBeUndefined();
  for (let n = 0; n < 10; n++) expect(await change(1, '192.0.2.1', 'a guess')).toBe(wrong);
  expect([await change(1, '192.0.2.1'), await change(1, '192.0.2.2')]).toEqual([wrong, undefined]);
  for (let n = 0; n < 50; n++) attempts.begin('password', `198.51.100.${n}`, 'user 1', Date.now()).failed();
  expect([await change(1, '192.0.2.3'), await change(2, '192.0.2.3')]).toEqual([wrong, undefined]);
  const both = await Promise.all(['first of two', 'second of two'].map((next) => change(3, '192.0.2.4', 'secret', next)));
  expect(both.filter((code) => code !== undefined)).toEqual([wrong]);
});

test('the login with an imported password does not replace a password that was changed meanwhile', async () => {
  const { services } = await openTestSchema(databases);
  const { db } = services.store;
  const imported = fastHash('secret');
  await db.user.create({ data: { username: 'alice', passwordHash: imported } });
  await db.client.create({ data: { vkey: 'k', webUsername: 'web', webPasswordHash: imported } });
  jest.spyOn(argon2, 'hash').mockImplementationOnce(async () => {
    await db.user.update({ where: { id: 1 }, data: { passwordHash: 'another' } });
    return 'a hash of secret';
  }).mockImplementationOnce(async () => {
    await db.client.update({ where: { id: 1 }, data: { webPasswordHash: 'another' } });
    return 'a hash of secret';
  });
  expect(await identify(services, settings, 'alice', 'secret')).toEqual({ kind: 'user', userId: 1 });
  expect(await identify(services, settings, 'web', 'secret')).toEqual({ kind: 'client', clientId: 1, by: 'web' });
  expect([(await db.user.findFirst())?.passwordHash, (await db.client.findFirst())?.webPasswordHash]).toEqual(['another', 'another']);
});
