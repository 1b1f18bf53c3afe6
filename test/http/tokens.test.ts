import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Api, type CallParameters, testApis } from '../support/api.ts';
import { eachDialect } from '../support/database.ts';

const key = z.object({ status: z.literal(1), msg: z.literal('regenerate success'), api_token: z.string() });

eachDialect('API tokens', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => { api = await apis.start(); });
  beforeEach(async () => {
    await api.reset();
    api.clock.now = undefined;
    await api.signed('/user/add/', { username: 'alice', password: 'alices password' });
    await api.signed('/client/add/', { user_id: 1 });
    await api.signed('/client/add/');
  });

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const totals = async (token: string) => {
    const { status, body } = await api.call('/client/list/', {}, { headers: bearer(token) });
    return status === 200 && typeof body === 'object' && body !== null && 'total' in body ? body.total : [status, body];
  };
  const body = async (path: string, parameters: CallParameters = {}) => (await api.signed(path, parameters)).body;
  const regenerate = async (parameters: CallParameters) => key.parse(await body('/user/regenerateapikey/', parameters)).api_token;
  const invalid = [401, { status: 0, msg: 'invalid token' }];

  async function graphql(query: string, headers: Record<string, string>): Promise<unknown> {
    const response = await fetch(`${api.url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ query }) });
    return response.json();
  }

  test('the legacy key of a user: made, replaced, looked at and revoked; stored as a digest', async () => {
    const none = { status: 1, msg: 'success', exists: false, CreateTime: '', LastUsedTime: '' };
    expect(await body('/user/apikeystatus/', { id: 1 })).toEqual(none);
    const first = await regenerate({ id: 1 });
    expect(first).toMatch(/^adit_[\w-]{43}$/);
    expect(await totals(first)).toBe(1);
    const second = await regenerate({ id: 1 });
    expect([await totals(first), await totals(second)]).toEqual([invalid, 1]);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(await body('/user/apikeystatus/', { id: 1 })).toEqual({ ...none, exists: true, CreateTime: time, LastUsedTime: time });
    expect(JSON.stringify(await api.store.db.apiToken.findMany())).not.toContain(second.slice(5));
    expect(await body('/user/revokeapikey/', { id: 1 })).toEqual({ status: 1, msg: 'revoke success' });
    expect(await totals(second)).toEqual(invalid);
    expect(await body('/user/revokeapikey/', { id: 1 })).toEqual({ status: 0, msg: 'no API key' });
    expect(await body('/user/regenerateapikey/', { id: 9 })).toEqual({ status: 0, msg: 'user ID not found' });
  });

  test("an administrator's token sees everything; a token with a valid signature is still no more than a token", async () => {
    const [administrators, alices] = [await regenerate({}), await regenerate({ id: 1 })];
    expect(await totals(administrators)).toBe(2);
    expect((await api.signed('/client/list/', {}, { headers: bearer(alices) })).body).toMatchObject({ total: 1 });
    expect((await api.signed('/user/list/', {}, { headers: bearer(alices) })).status).toBe(403);
    expect((await api.signed('/client/list/', {}, { headers: bearer('adit_x') })).body).toEqual(invalid[1]);
    expect((await api.call('/client/list/', { auth_key: 'bad', timestamp: 1 }, { headers: bearer(alices) })).body).toMatchObject({ total: 1 });
  });

  test('named, read-only and expiring tokens over GraphQL, made by an administrator and by a user for themself', async () => {
    const administrators = bearer(await regenerate({}));
    const { headers } = await api.call('/login/verify', { username: 'alice', password: 'alices password' });
    const alice = { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
    const made = z.object({ data: z.object({ createApiToken: z.object({ token: z.string(), apiToken: z.object({ id: z.number() }) }) }) });
    const end = new Date(Date.now() + 3_600_000);
    const { token, apiToken } = made.parse(await graphql(
      `mutation { createApiToken(input: { name: "backup", readOnly: true, expiresAt: "${end.toISOString()}" }) { token apiToken { id name readOnly user { username } } } }`, alice,
    )).data.createApiToken;
    expect(await totals(token)).toBe(1);
    expect(await api.call('/client/add/', {}, { headers: bearer(token) })).toMatchObject({ status: 403, body: { status: 0, msg: 'permission denied' } });
    expect(await graphql('{ viewer { role readOnly user { username } client { id } } }', bearer(token)))
      .toEqual({ data: { viewer: { role: 'USER', readOnly: true, user: { username: 'alice' }, client: null } } });
    expect(await graphql('{ apiTokens { name readOnly } }', alice)).toEqual({ data: { apiTokens: [{ name: 'backup', readOnly: true }] } });
    // A token makes no other, which could outlast it.
    expect(await graphql('mutation { createApiToken(input: { name: "more" }) { token } }', administrators)).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    api.clock.now = end.getTime();
    expect(await totals(token)).toEqual(invalid);
    api.clock.now = undefined;
    expect(await graphql(`mutation { revokeApiToken(id: ${apiToken.id}) }`, alice)).toEqual({ data: { revokeApiToken: apiToken.id } });
    expect(await totals(token)).toEqual(invalid);
    expect(await graphql('mutation { createApiToken(input: { name: " " }) { token } }', alice)).toMatchObject({ errors: [{ extensions: { code: 'INVALID_INPUT', field: 'name' } }] });
  });

  test('a token of a user who is disabled, has expired or is deleted opens nothing, at once', async () => {
    const token = await regenerate({ id: 1 });
    for (const [path, there, back] of [['/user/changestatus/', { status: 0 }, { status: 1 }], ['/user/edit/', { expire_time: '2020-01-01' }, { expire_time: '' }]] as const) {
      await api.signed(path, { id: 1, ...there });
      expect(await totals(token)).toEqual(invalid);
      await api.signed(path, { id: 1, ...back });
      expect(await totals(token)).toBe(1);
    }
    await api.signed('/user/del/', { id: 1 });
    expect(await totals(token)).toEqual(invalid);
  });

  test('a locked-out address is listed for administrators, who can free it', async () => {
    const administrators = bearer(await regenerate({}));
    const attempt = () => api.call('/login/verify', { username: 'alice', password: 'wrong' });
    for (let n = 0; n < 10; n++) await attempt();
    expect((await api.call('/login/verify', { username: 'alice', password: 'alices password' })).body).toMatchObject({ status: 0 });
    expect(await graphql('{ lockouts { credential kind source } }', administrators)).toEqual({ data: { lockouts: [{ credential: 'LOGIN', kind: 'ADDRESS', source: '127.0.0.1' }] } });
    expect(await graphql('mutation { freeLockout(kind: ADDRESS, source: "127.0.0.1") }', administrators)).toEqual({ data: { freeLockout: true } });
    expect((await api.call('/login/verify', { username: 'alice', password: 'alices password' })).body).toMatchObject({ status: 1 });
  });
});
