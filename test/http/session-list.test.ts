import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { testApps } from '../support/http.ts';

const start = testApps();
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
