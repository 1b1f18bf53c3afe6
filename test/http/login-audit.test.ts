import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Api, signature, testAdminPassword, testApis, testAuthKey } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';
import { eventuallyAsync } from '../support/eventually.ts';

eitherDialect('the audit log', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start({ allowVkeyLogin: true });
  });
  beforeEach(async () => {
    await api.reset();
    await api.signed('/user/add/', { username: 'alice', password: 'alices password' });
    await api.signed('/client/add/', { web_username: 'web', web_password: 'web password' });
    await api.signed('/client/add/', { vkey: 'free-key' });
    await api.store.db.auditEntry.deleteMany();
  });

  /** The entries in the order they were written, once there are as many. */
  async function entries(count: number) {
    const rows = await eventuallyAsync(() => api.store.db.auditEntry.findMany({ orderBy: { id: 'asc' } }), (found) => found.length >= count);
    expect(rows).toHaveLength(count);
    return rows;
  }
  const verify = (username: string, password: string) => api.call('/login/verify', { username, password });
  async function logIn(username: string, password: string): Promise<{ cookie: string }> {
    return { cookie: (await verify(username, password)).headers.get('set-cookie')?.split(';')[0] ?? '' };
  }
  const byPassword = { authorization: `Basic ${btoa(`admin:${testAdminPassword}`)}` };
  const graphql = (query: string, headers: Record<string, string> = byPassword) => api.call('/graphql', { query }, { encoding: 'json', headers });

  test('has who logged in, by what and from where, and the logout of that session', async () => {
    const alice = await logIn('alice', 'alices password');
    for (const [name, password] of [['admin', testAdminPassword], ['web', 'web password'], ['user', 'free-key']] as const) await logIn(name, password);
    await api.call('/login/out', {}, { method: 'GET', encoding: 'query', headers: alice });
    await api.call('/login/out', {}, { method: 'GET', encoding: 'query', headers: alice });
    const rows = await entries(5);
    expect(rows.map(({ resource, action, callerKind, callerId, method, address }) => [resource, action, callerKind, callerId, method, address])).toEqual([
      ['session', 'create', 'user', 1, 'password', '127.0.0.1'],
      ['session', 'create', 'admin', null, 'password', '127.0.0.1'],
      ['session', 'create', 'client', 1, 'password', '127.0.0.1'],
      ['session', 'create', 'client', 2, 'vkey', '127.0.0.1'],
      ['session', 'delete', 'user', 1, 'session', '127.0.0.1'],
    ]);
    expect(rows[4]?.resourceId).toBe(rows[0]?.resourceId);
    expect(JSON.parse(rows[0]?.after ?? '')).toEqual({ kind: 'user', userId: 1, clientId: null });
    expect(JSON.stringify(rows)).not.toContain(alice.cookie.slice('beegosessionID='.length));
  });

  test('has the first of any number of wrong passwords, the lockout, and who ended it', async () => {
    for (let n = 0; n < 20; n++) await verify(n === 0 ? 'alice' : `name ${n}`, 'a guess');
    await entries(2);
    expect((await graphql('mutation { freeLockout(kind: ADDRESS, source: "127.0.0.1") }')).status).toBe(429);
    const { auth_key, timestamp } = signature(testAuthKey, Date.now());
    const freed = await graphql('mutation { freeLockout(kind: ADDRESS, source: "127.0.0.1") }', {
      'x-adit-auth-key': auth_key,
      'x-adit-timestamp': String(timestamp),
    });
    expect(freed.body).toEqual({ data: { freeLockout: true } });
    const rows = await entries(3);
    expect(rows.map(({ resource, resourceId, action, callerKind, method, address }) => [resource, resourceId, action, callerKind, method, address])).toEqual([
      ['failedAttempt', 'alice', 'create', 'anonymous', '', '127.0.0.1'],
      ['lockout', '127.0.0.1', 'create', 'anonymous', '', '127.0.0.1'],
      ['lockout', '127.0.0.1', 'delete', 'admin', 'signature', '127.0.0.1'],
    ]);
    expect(JSON.parse(rows[1]?.after ?? '')).toEqual({ credential: 'login', kind: 'address', source: '127.0.0.1', until: expect.any(String) });
    expect(rows[2]?.before).toBe(rows[1]?.after);
    expect(JSON.stringify(rows)).not.toContain('a guess');
  });

  test('has wrong present passwords where one is changed, for they are guesses too', async () => {
    const alice = await logIn('alice', 'alices password');
    await api.call('/user/changepassword/', { current_password: 'a guess', new_password: 'a new one' }, { headers: alice });
    const [, failed] = await entries(2);
    expect(failed).toMatchObject({ resource: 'failedAttempt', resourceId: 'user 1', after: '{"credential":"password","name":"user 1"}' });
  });

  test('has the tokens that are made, replaced and revoked, without the tokens', async () => {
    const made = await graphql('mutation { createApiToken(input: { name: "backup" }) { token } }');
    for (let n = 0; n < 2; n++) await api.signed('/user/regenerateapikey/', { id: 1 });
    await api.signed('/user/revokeapikey/', { id: 1 });
    const rows = await entries(5);
    expect(rows.map(({ resource, resourceId, action, method }) => [resource, resourceId, action, method])).toEqual([
      ['apiToken', '1', 'create', 'password'],
      ['apiToken', '2', 'create', 'signature'],
      ['apiToken', '2', 'delete', 'signature'],
      ['apiToken', '3', 'create', 'signature'],
      ['apiToken', '3', 'delete', 'signature'],
    ]);
    const { token } = z.object({ data: z.object({ createApiToken: z.object({ token: z.string() }) }) }).parse(made.body).data.createApiToken;
    expect(token).toMatch(/^adit_/);
    expect(JSON.stringify(rows)).not.toContain(token.slice(5));
    expect(JSON.parse(rows[0]?.after ?? '')).toMatchObject({ name: 'backup', hash: '(hidden)' });
  });

  test('has the address from which each change came, whatever its caller has shown', async () => {
    const change = 'mutation { createClient(input: {}) { id } }';
    const made = await graphql('mutation { createApiToken(input: { name: "backup" }) { token } }');
    const { token } = z.object({ data: z.object({ createApiToken: z.object({ token: z.string() }) }) }).parse(made.body).data.createApiToken;
    const { auth_key, timestamp } = signature(testAuthKey, Date.now());
    const session = await logIn('admin', testAdminPassword);
    await api.store.db.auditEntry.deleteMany();
    for (const headers of [byPassword, { authorization: `Bearer ${token}` }, { 'x-adit-auth-key': auth_key, 'x-adit-timestamp': String(timestamp) }, session]) {
      await graphql(change, headers);
    }
    expect((await entries(4)).map(({ method, address }) => [method, address])).toEqual(
      ['password', 'token', 'signature', 'session'].map((method) => [method, '127.0.0.1']),
    );
  });
});
