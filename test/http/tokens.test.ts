import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { nameFormerTokens } from '../../src/schema/access/tokens.ts';
import { type Api, type CallParameters, testAdminPassword, testApis } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';
import { isShort } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { parseWithNumbers } from '../support/record-ids.ts';

const key = z.object({ status: z.literal(1), msg: z.literal('regenerate success'), api_token: z.string() });

eitherDialect('API tokens', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start();
  });
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
    const response = await fetch(`${api.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    return parseWithNumbers(await response.text());
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
    // The time of the last use is stored after the response.
    expect(await eventuallyAsync(() => body('/user/apikeystatus/', { id: 1 }), (status) => !JSON.stringify(status).includes('"LastUsedTime":""')))
      .toEqual({ ...none, exists: true, CreateTime: time, LastUsedTime: time });
    await api.store.db.apiToken.updateMany({ data: { createdAt: new Date(2026, 0, 2), lastUsedAt: new Date(2026, 0, 3) } });
    expect(await body('/user/apikeystatus/', { id: 1 })).toMatchObject({ CreateTime: '2026-01-02 00:00:00', LastUsedTime: '2026-01-03 00:00:00' });
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
    for (const unknown of ['adit_x', 'x']) expect((await api.signed('/client/list/', {}, { headers: bearer(unknown) })).body).toEqual(invalid[1]);
    expect((await api.call('/client/list/', { auth_key: 'bad', timestamp: 1 }, { headers: bearer(alices) })).body).toMatchObject({ total: 1 });
  });

  test('named, read-only and expiring tokens over GraphQL, made by an administrator and by a user for themself', async () => {
    const administrators = bearer(await regenerate({}));
    const { headers } = await api.call('/login/verify', { username: 'alice', password: 'alices password' });
    const alice = { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
    const made = z.object({ data: z.object({ createApiToken: z.object({ token: z.string(), apiToken: z.object({ id: z.number() }) }) }) });
    const end = new Date(Date.now() + 3_600_000);
    const { token, apiToken } = made.parse(
      await graphql(
        `mutation { createApiToken(input: { name: "backup", readOnly: true, expiresAt: "${end.toISOString()}" }) { token apiToken { id name readOnly user { username } } } }`,
        alice,
      ),
    ).data.createApiToken;
    expect(await totals(token)).toBe(1);
    expect(await api.call('/client/add/', {}, { headers: bearer(token) })).toMatchObject({ status: 403, body: { status: 0, msg: 'permission denied' } });
    expect(await graphql('{ viewer { role readOnly user { username } client { id } } }', bearer(token)))
      .toEqual({ data: { viewer: { role: 'USER', readOnly: true, user: { username: 'alice' }, client: null } } });
    expect(await graphql('{ apiTokens { name readOnly } }', alice)).toEqual({ data: { apiTokens: [{ name: 'backup', readOnly: true }] } });
    // A token makes no other, which could outlast it.
    expect(await graphql('mutation { createApiToken(input: { name: "more" }) { token } }', administrators)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    api.clock.now = end.getTime();
    expect(await totals(token)).toEqual(invalid);
    api.clock.now = undefined;
    expect(await graphql(`mutation { revokeApiToken(id: ${apiToken.id}) }`, alice)).toEqual({ data: { revokeApiToken: apiToken.id } });
    expect(await totals(token)).toEqual(invalid);
    expect(await graphql('mutation { createApiToken(input: { name: " " }) { token } }', alice)).toMatchObject({
      errors: [{ extensions: { code: 'INVALID_INPUT', field: 'input.name' } }],
    });
  });

  if (!isShort) {
    test('100 tokens are the most that one user has', async () => {
      const { id } = await api.store.db.user.findFirstOrThrow({ where: { username: 'alice' } });
      await api.store.transaction((tx) =>
        tx.apiToken.createMany({ data: Array.from({ length: 99 }, (_, n) => ({ name: `${n}`, hash: `hash ${n}`, userId: id })) })
      );
      const { headers } = await api.call('/login/verify', { username: 'alice', password: 'alices password' });
      const create = () =>
        graphql('mutation { createApiToken(input: { name: "one more" }) { apiToken { name } } }', { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' });
      expect(await create()).toEqual({ data: { createApiToken: { apiToken: { name: 'one more' } } } });
      expect(await create()).toMatchObject({ errors: [{ message: 'at most 100 tokens are allowed', extensions: { code: 'TOKEN_LIMIT' } }] });
    });
  }

  const tokenOf = async (input: string, headers: Record<string, string>) =>
    z.object({ data: z.object({ createApiToken: z.object({ token: z.string() }) }) })
      .parse(await graphql(`mutation { createApiToken(input: { name: "test", ${input} }) { token } }`, headers)).data.createApiToken.token;
  const logIn = async (username: string, password: string) => ({
    cookie: (await api.call('/login/verify', { username, password })).headers.get('set-cookie')?.split(';')[0] ?? '',
  });

  test('see secrets if they were made with `secrets`, which those that only read have to ask for; the legacy API has "" for them', async () => {
    await api.signed('/client/edit/', { id: 1, vkey: 'alices-key' });
    await api.signed('/index/add/', { client_id: 1, type: 'secret', password: 'alices tunnel', target: '127.0.0.1:1' });
    await api.signed('/index/addhost/', { client_id: 1, host: 'a.example.com', target: '127.0.0.1:1', header: 'X-A: alices header' });
    const alice = await logIn('alice', 'alices password');
    const shown = { VerifyKey: 'alices-key', Password: 'alices tunnel', HeaderChange: 'X-A: alices header' };
    const blank = { VerifyKey: '', Password: '', HeaderChange: '' };
    for (
      const [input, seen] of [
        ['', true],
        ['secrets: false', false],
        ['readOnly: true', false],
        ['readOnly: true, secrets: true', true],
        ['readOnly: true, secrets: null', false],
        ['scope: ALL', true],
      ] as const
    ) {
      const headers = bearer(await tokenOf(input, alice));
      const get = async (path: string) => z.object({ data: z.record(z.string(), z.unknown()) }).parse((await api.call(path, { id: 1 }, { headers })).body).data;
      const [client, tunnel, host] = [await get('/client/getclient/'), await get('/index/getonetunnel/'), await get('/index/gethost/')];
      expect([input, { VerifyKey: client['VerifyKey'], Password: tunnel['Password'], HeaderChange: host['HeaderChange'] }]).toEqual([
        input,
        seen ? shown : blank,
      ]);
      const list = JSON.stringify(
        [
          await api.call('/client/list/', {}, { headers }),
          await api.call('/index/gettunnel/', {}, { headers }),
          await api.call('/index/hostlist/', {}, { headers }),
        ].map(({ body }) => body),
      );
      expect([input, /alices-key|alices tunnel|alices header/.test(list)]).toEqual([input, seen]);
      expect(await graphql('{ viewer { secrets } client(id: 1) { verifyKey } }', headers)).toEqual({
        data: { viewer: { secrets: seen }, client: { verifyKey: seen ? 'alices-key' : null } },
      });
    }
    expect(await graphql('{ apiTokens { readOnly secrets scope } }', alice)).toMatchObject({
      data: {
        apiTokens: [
          { readOnly: false, secrets: true, scope: 'ALL' },
          { readOnly: false, secrets: false },
          { readOnly: true, secrets: false },
          { readOnly: true, secrets: true },
          { readOnly: true, secrets: false },
          { secrets: true },
        ],
      },
    });
  });

  test('do not see a stored password in the error that it is taken, unless they see secrets', async () => {
    const { id } = z.object({ id: z.int() }).parse(
      (await api.signed('/index/add/', { client_id: 1, type: 'secret', password: 'aliceskey', target: '127.0.0.1:1' })).body,
    );
    const alice = await logIn('alice', 'alices password');
    const without = bearer(await tokenOf('secrets: false', alice));
    const change = (mutation: string, headers: Record<string, string>) => graphql(`mutation { ${mutation} { id } }`, headers);
    expect(await change(`copyTunnel(id: ${id})`, bearer(await tokenOf('', alice)))).toMatchObject({
      errors: [{ message: 'secret mode keys aliceskey must be unique' }],
    });
    const answers = [await change(`copyTunnel(id: ${id})`, without), await api.call('/index/copy/', { id }, { headers: without })];
    await change(`updateTunnel(id: ${id}, input: { mode: TCP })`, without);
    const copied =
      z.object({ data: z.object({ copyTunnel: z.object({ id: z.int() }) }) }).parse(await change(`copyTunnel(id: ${id})`, without)).data.copyTunnel.id;
    await change(`updateTunnel(id: ${id}, input: { mode: SECRET })`, without);
    answers.push(
      await change(`updateTunnel(id: ${copied}, input: { mode: SECRET })`, without),
      await api.call('/index/edit/', { id: copied, type: 'secret' }, { headers: without }),
    );
    expect(answers.map((answer) => /must be unique/.test(JSON.stringify(answer)))).toEqual([true, true, true, true]);
    expect(JSON.stringify(answers)).not.toContain('aliceskey');
    // The audit log keeps the name of the token that made a change.
    expect(await api.store.db.auditEntry.findFirst({ where: { method: 'token' }, orderBy: { id: 'desc' } })).toMatchObject({ tokenName: 'test' });
  });

  test('for a wall reach one query and nothing else, over both APIs', async () => {
    const alice = await logIn('alice', 'alices password');
    const administrator = await logIn('admin', testAdminPassword);
    for (
      const [headers, total] of [[bearer(await tokenOf('scope: WALL', alice)), 1], [
        bearer(await tokenOf('scope: WALL, readOnly: false', administrator)),
        2,
      ]] as const
    ) {
      expect(await graphql('{ wall { total enabled connected rows { connected } } }', headers)).toMatchObject({
        data: { wall: { total, enabled: total, connected: 0 } },
      });
      expect(await graphql('{ clients { total } }', headers)).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
      expect((await api.call('/client/list/', {}, { headers })).status).toBe(403);
    }
    expect(await graphql('mutation { createApiToken(input: { name: "x", scope: WALL, secrets: true }) { token } }', alice)).toMatchObject({
      errors: [{ extensions: { code: 'INVALID_INPUT', field: 'input.secrets' } }],
    });
  });

  test('from before secrets could be chosen keep them, and the log names them at the start', async () => {
    const old = await regenerate({ id: 1 });
    await nameFormerTokens(api.store, api.log.logger);
    expect(api.log.entries.filter(({ msg }) => msg.startsWith('API tokens from an earlier version'))).toEqual([]);
    await api.store.db.apiToken.updateMany({ data: { secrets: null, readOnly: true } });
    expect(await graphql('{ viewer { secrets } }', bearer(old))).toEqual({ data: { viewer: { secrets: true } } });
    await nameFormerTokens(api.store, api.log.logger);
    expect(await api.log.line(/^API tokens from an earlier version/)).toMatchObject({ count: 1, tokens: [{ name: 'API key', userId: 1, readOnly: true }] });
  });

  test("end when an administrator sets the user's password, by any call, and on request when users set their own", async () => {
    const alice = async (password: string) => logIn('alice', password);
    const session = await alice('alices password');
    const kept = await tokenOf('', session);
    const bobs = (await api.signed('/user/add/', { username: 'bob', password: 'bobs password' }), await regenerate({ id: 2 }));
    const own = (current: string, next: string, more = '') =>
      graphql(`mutation { changePassword(currentPassword: "${current}", newPassword: "${next}"${more}) { id } }`, session);
    expect(await own('alices password', 'second password')).toMatchObject({ data: { changePassword: { id: 1 } } });
    expect((await api.call('/user/changepassword/', { current_password: 'second password', new_password: 'third password' }, { headers: session })).body)
      .toMatchObject({ status: 1 });
    expect(await totals(kept)).toBe(1);
    expect(await own('third password', 'fourth password', ', revokeTokens: true')).toMatchObject({ data: { changePassword: { id: 1 } } });
    expect(await totals(kept)).toEqual(invalid);
    for (
      const reset of [
        () => body('/user/changepassword/', { id: 1, new_password: 'by legacy reset' }),
        () => body('/user/edit/', { id: 1, password: 'by legacy edit' }),
        async () => graphql('mutation { changePassword(id: 1, newPassword: "by GraphQL") { id } }', await logIn('admin', testAdminPassword)),
        async () => graphql('mutation { updateUser(id: 1, input: { password: "by an update" }) { id } }', await logIn('admin', testAdminPassword)),
      ]
    ) {
      const [one, other] = [await regenerate({ id: 1 }), await regenerate({})];
      await body('/user/edit/', { id: 1, remark: 'no password' });
      expect(await totals(one)).toBe(1);
      await reset();
      expect([await totals(one), await totals(bobs), await totals(other)]).toEqual([invalid, 0, 2]);
    }
    const revoked = await api.store.db.auditEntry.count({ where: { resource: 'apiToken', action: 'delete' } });
    expect(revoked).toBeGreaterThanOrEqual(5);
  });

  test('a token of a user who is disabled, expired or deleted stops working at once', async () => {
    const token = await regenerate({ id: 1 });
    for (
      const [path, there, back] of [['/user/changestatus/', { status: 0 }, { status: 1 }], ['/user/edit/', { expire_time: '2020-01-01' }, {
        expire_time: '',
      }]] as const
    ) {
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
    expect(await graphql('{ lockouts { credential kind source } }', administrators)).toEqual({
      data: { lockouts: [{ credential: 'LOGIN', kind: 'ADDRESS', source: '127.0.0.1' }] },
    });
    expect(await graphql('mutation { freeLockout(kind: ADDRESS, source: "127.0.0.1") }', administrators)).toEqual({ data: { freeLockout: true } });
    expect((await api.call('/login/verify', { username: 'alice', password: 'alices password' })).body).toMatchObject({ status: 1 });
  });
});
