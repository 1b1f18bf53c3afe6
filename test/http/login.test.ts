import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Api, testAdminPassword, testApis } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { subscribe, type Subscription } from '../support/sse.ts';

const incorrect = { status: 0, msg: 'username or password incorrect' };
const success = { status: 1, msg: 'login success' };

eitherDialect('logins and sessions', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start({ allowVkeyLogin: true });
  });
  beforeEach(async () => {
    await api.reset();
    api.clock.now = undefined;
    await api.signed('/user/add/', { username: 'alice', password: 'alices password' });
    await api.signed('/client/add/', { user_id: 1, vkey: 'owned-key', web_username: 'web', web_password: 'web password' });
    await api.signed('/client/add/', { vkey: 'free-key' });
  });

  const verify = (username: string, password: string, headers: Record<string, string> = {}) => api.call('/login/verify', { username, password }, { headers });
  async function logIn(username: string, password: string): Promise<{ cookie: string }> {
    const answer = await verify(username, password);
    expect(answer.body).toEqual(success);
    return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
  }
  const totals = async (headers: Record<string, string>) => {
    const { status, body } = await api.call('/client/list/', {}, { headers });
    return status === 200 && typeof body === 'object' && body !== null && 'total' in body ? body.total : status;
  };

  test('administrator, user, web login of a client and key of a client nobody owns: each sees what is theirs', async () => {
    expect(await totals(await logIn('admin', testAdminPassword))).toBe(2);
    expect(await totals(await logIn('alice', 'alices password'))).toBe(1);
    expect(await totals(await logIn('web', 'web password'))).toBe(1);
    expect(await totals(await logIn('user', 'free-key'))).toBe(1);
    for (
      const [name, password] of [['admin', 'alices password'], ['alice', 'x'], ['nobody', 'x'], ['', ''], ['user', 'owned-key'], ['web', ''], [
        'a\0',
        'b\0',
      ]] as const
    ) {
      const refused = await verify(name, password);
      expect([refused.status, refused.body, refused.headers.get('set-cookie')]).toEqual([200, incorrect, null]);
    }
  });

  test('an account is looked for among administrator, users and web logins in this order', async () => {
    for (const [username, web_password] of [['admin', testAdminPassword], ['alice', 'alices password']] as const) {
      await api.signed('/client/edit/', { id: 2, web_username: username, web_password });
      await logIn(username, web_password);
    }
    expect((await api.store.db.session.findMany({ orderBy: { kind: 'asc' } })).map(({ kind }) => kind)).toEqual(['admin', 'user']);
    // Of web logins with one name, it is the one whose password is right.
    await api.signed('/client/edit/', { id: 2, web_username: 'web', web_password: 'password of another' });
    await logIn('web', 'password of another');
    await logIn('web', 'web password');
    expect((await api.store.db.session.findMany({ where: { kind: 'client' }, orderBy: { clientId: 'asc' } })).map(({ clientId }) => clientId)).toEqual([1, 2]);
  });

  test.each([
    ['a client of a user', { user_id: 1 }],
    ['a client with a web login', { web_username: 'web', web_password: 'web password' }],
  ])('the key of %s opens nothing', async (_, whose) => {
    await api.signed('/client/add/', { ...whose, vkey: 'another-key' });
    expect((await verify('user', 'another-key')).body).toEqual(incorrect);
  });

  test('blanks around a password belong to it', async () => {
    await api.signed('/user/edit/', { id: 1, password: ' spaced out ' });
    expect((await verify('alice', 'spaced out')).body).toEqual(incorrect);
    await logIn('alice', ' spaced out ');
  });

  test('the cookie is out of reach of scripts and other sites, another at each login, and dead after logout', async () => {
    const answer = await verify('alice', 'alices password');
    expect(answer.headers.get('set-cookie')).toMatch(/^beegosessionID=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const first = { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
    const again = await verify('alice', 'alices password', first);
    const second = { cookie: again.headers.get('set-cookie')?.split(';')[0] ?? '' };
    expect([await totals(first), await totals(second)]).toEqual([401, 1]);
    const out = await api.call('/login/out', {}, { method: 'GET', encoding: 'query', headers: second });
    expect([out.status, out.headers.get('location')]).toEqual([302, '/login/index']);
    expect(await totals(second)).toBe(401);
    expect(JSON.stringify(await api.store.db.session.findMany())).not.toContain(second.cookie.slice('beegosessionID='.length));
  });

  describe('over HTTPS', () => {
    const hostCookie = /^__Host-beegosessionID=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/;
    const overTls = { 'x-forwarded-proto': 'https' };
    const setBy = async (of: Api, headers: Record<string, string>) => {
      const answer = await of.call('/login/verify', { username: 'admin', password: testAdminPassword }, { headers });
      expect(answer.body).toEqual(success);
      return answer.headers.get('set-cookie') ?? '';
    };
    const listed = async (of: Api, headers: Record<string, string>) => (await of.call('/client/list/', {}, { headers })).status;

    test('the cookie is for HTTPS only, and no other host of the domain can plant it', async () => {
      const proxied = await apis.start({ trustedProxies: ['127.0.0.1'] });
      const set = await setBy(proxied, overTls);
      expect(set).toMatch(hostCookie);
      const value = /=([^;]*)/.exec(set)?.[1] ?? '';
      expect(await listed(proxied, { ...overTls, cookie: `beegosessionID=planted; __Host-beegosessionID=${value}` })).toBe(200);
      expect(await listed(proxied, { ...overTls, cookie: `beegosessionID=${value}` })).toBe(401);
      const logOut = async (headers: Record<string, string>) =>
        (await proxied.call('/login/out', {}, { method: 'GET', encoding: 'query', headers })).headers.getSetCookie();
      const gone = 'Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly';
      const cookie = `__Host-beegosessionID=${value}`;
      expect(await logOut({ ...overTls, cookie })).toEqual([`__Host-beegosessionID=; ${gone}; Secure; SameSite=Lax`]);
      // Under each name that the browser has sent, and as it was set.
      expect((await logOut({ ...overTls, cookie: `${cookie}; beegosessionID=x` })).toSorted()).toEqual([
        `__Host-beegosessionID=; ${gone}; Secure; SameSite=Lax`,
        `beegosessionID=; ${gone}; Secure; SameSite=Lax`,
      ]);
      expect((await logOut({ cookie: `${cookie}; beegosessionID=x` })).toSorted()).toEqual([
        `__Host-beegosessionID=; ${gone}; Secure; SameSite=Lax`,
        `beegosessionID=; ${gone}; SameSite=Lax`,
      ]);
      expect(await listed(proxied, { ...overTls, cookie: `__Host-beegosessionID=${value}` })).toBe(401);
    });

    test('below a base path it keeps its name, and is for HTTPS only', async () => {
      const below = await apis.start({ trustedProxies: ['127.0.0.1'], basePath: '/adit' });
      const set = await setBy(below, overTls);
      expect(set).toMatch(/^beegosessionID=[\w-]{43}; Path=\/adit; HttpOnly; Secure; SameSite=Lax$/);
      expect(await listed(below, { ...overTls, cookie: set.split(';')[0] ?? '' })).toBe(200);
    });

    test('behind a proxy that is not trusted the origin of the page says so', async () => {
      expect(await setBy(api, overTls)).toMatch(/^beegosessionID=/);
      const set = await setBy(api, { origin: `https://${api.host}` });
      expect(set).toMatch(hostCookie);
      expect(await listed(api, { cookie: set.split(';')[0] ?? '' })).toBe(200);
      // What such a proxy reports of the scheme counts for nothing.
      expect(await setBy(api, { ...overTls, origin: `https://${api.host}` })).toMatch(hostCookie);
    });
  });

  test('what a session listens to ends with it: unused for an hour, logged out, or of a web login that is another now', async () => {
    const listen = async (headers: Record<string, string>) => {
      const events = await subscribe(api, 'subscription { clientChanged { id } }', headers);
      expect(events.contentType).toBe('text/event-stream');
      return events;
    };
    const ended = async (events: Subscription) => {
      while (await events.next() !== undefined);
    };
    const [alice, web] = [await logIn('alice', 'alices password'), await logIn('web', 'web password')];
    const [loggedOut, changed] = [await listen(alice), await listen(web)];
    await api.call('/login/out', {}, { method: 'GET', encoding: 'query', headers: alice });
    await ended(loggedOut);
    await api.signed('/client/edit/', { id: 1, web_password: 'another one' });
    await ended(changed);
    const idle = await listen(await logIn('alice', 'alices password'));
    api.clock.now = Date.now() + 3_601_000;
    await ended(idle);
  });

  test('a session ends when it is not used for an hour', async () => {
    const alice = await logIn('alice', 'alices password');
    const usedAt = (api.clock.now = Date.now() + 59 * 60_000);
    expect(await totals(alice)).toBe(1);
    // The time of use is stored after the response.
    await eventuallyAsync(async () => (await api.store.db.session.findFirstOrThrow()).lastSeenAt.getTime(), (stored) => stored === usedAt);
    api.clock.now = usedAt + 59 * 60_000;
    expect(await totals(alice)).toBe(1);
    await eventuallyAsync(async () => (await api.store.db.session.findFirstOrThrow()).lastSeenAt.getTime(), (stored) => stored > usedAt);
    api.clock.now += 3_601_000;
    expect(await totals(alice)).toBe(401);
  });

  test.each([
    ['the user is disabled', '/user/changestatus/', { id: 1, status: 0 }],
    ['the user has expired', '/user/edit/', { id: 1, expire_time: '2020-01-01' }],
    ['the user is deleted', '/user/del/', { id: 1 }],
    ['the password is another', '/user/edit/', { id: 1, password: 'another one' }],
    ['an administrator has set the password', '/user/changepassword/', { id: 1, new_password: 'another one' }],
  ])('a session is over at once when %s', async (_when, path, parameters) => {
    const alice = await logIn('alice', 'alices password');
    expect((await api.signed(path, parameters)).body).toMatchObject({ status: 1 });
    expect(await totals(alice)).toBe(401);
    expect((await verify('alice', 'alices password')).body).toEqual(incorrect);
  });

  test.each([
    ['its client is disabled', '/client/changestatus/', { id: 1, status: 0 }],
    ['its client has expired', '/client/edit/', { id: 1, expire_time: '2020-01-01' }],
    ["its client's owner is disabled", '/user/changestatus/', { id: 1, status: 0 }],
    ['its password is another', '/client/edit/', { id: 1, web_password: 'another one' }],
    ['its client is deleted', '/client/del/', { id: 1 }],
  ])('a web login is over at once when %s', async (_when, path, parameters) => {
    const web = await logIn('web', 'web password');
    expect((await api.signed(path, parameters)).body).toMatchObject({ status: 1 });
    expect(await totals(web)).toBe(401);
    expect((await verify('web', 'web password')).body).toEqual(incorrect);
  });

  test('a client that is given to another user is out of sight at once', async () => {
    const alice = await logIn('alice', 'alices password');
    await api.signed('/user/add/', { username: 'bob', password: 'bobs password' });
    await api.signed('/client/edit/', { id: 1, user_id: 2 });
    expect(await totals(alice)).toBe(0);
    expect((await api.call('/client/getclient/', { id: 1 }, { headers: alice })).body).toEqual({ code: 0 });
  });

  test('a changed password keeps the session it was changed in and ends the others', async () => {
    const [here, there] = [await logIn('alice', 'alices password'), await logIn('alice', 'alices password')];
    const change = (parameters: Record<string, string | number>) => api.call('/user/changepassword/', parameters, { headers: here });
    expect((await change({ current_password: 'wrong', new_password: 'a new one' })).body).toEqual({ status: 0, msg: 'current password wrong' });
    expect((await change({ id: 2, current_password: 'alices password', new_password: 'a new one' })).body).toEqual({ status: 0, msg: 'not your user' });
    expect((await change({ current_password: 'alices password', new_password: 'a new one', confirm_password: 'a new one' })).body).toEqual({
      status: 1,
      msg: 'password changed',
    });
    expect([await totals(here), await totals(there)]).toEqual([1, 401]);
    const web = await logIn('web', 'web password');
    expect((await api.call('/user/changepassword/', { new_password: 'a new one' }, { headers: web })).body).toEqual({
      status: 0,
      msg: 'session is a legacy client login',
    });
  });

  describe('other sites', () => {
    test.each([['origin', 'https://evil.example'], ['origin', 'http://127.0.0.1:1'], ['origin', 'null'], ['referer', 'https://evil.example/x'], [
      'sec-fetch-site',
      'cross-site',
    ], [
      'sec-fetch-site',
      'same-site',
    ]])(
      'a call with %s %s is refused with a session, and accepted with a signature',
      async (name, value) => {
        const alice = await logIn('alice', 'alices password');
        const foreign = { [name]: value };
        const refused = await api.call('/client/add/', {}, { headers: { ...alice, ...foreign } });
        expect([refused.status, refused.body]).toEqual([403, { status: 0, msg: 'invalid request origin' }]);
        expect(await verify('alice', 'alices password', foreign)).toMatchObject({ status: 403, body: { status: 0, msg: 'invalid request origin' } });
        expect((await api.signed('/client/add/', {}, { headers: { ...alice, ...foreign } })).body).toMatchObject({ status: 1 });
        expect((await api.call('/client/add/', {}, { headers: { ...alice, origin: api.url } })).body).toMatchObject({ status: 1 });
      },
    );
  });

  test('a valid signature makes an administrator for one call only; a bad one lets the session decide', async () => {
    const alice = await logIn('alice', 'alices password');
    expect((await api.signed('/client/list/', {}, { headers: alice })).body).toMatchObject({ total: 2 });
    expect(await totals(alice)).toBe(1);
    expect((await api.call('/client/list/', { auth_key: 'bad', timestamp: 1 }, { headers: alice })).body).toMatchObject({ total: 1 });
  });

  test('ten failures from an address stop the eleventh, also of the right password, for a minute; many at once are no way around', async () => {
    // An address of its own, so that the other tests aren't locked out.
    const own = await apis.start({ adminUsername: 'root' });
    const attempt = (password: string) => own.call('/login/verify', { username: 'root', password });
    own.clock.now = Date.now();
    await Promise.all(Array.from({ length: 15 }, () => attempt('wrong')));
    expect((await attempt(testAdminPassword)).body).toEqual(incorrect);
    own.clock.now += 60_001;
    expect((await attempt(testAdminPassword)).body).toEqual(success);
  });

  test('six addresses do not lock others out of a name, and addresses that logged in before are not affected', async () => {
    const own = await apis.start({ adminUsername: 'root', trustedProxies: ['127.0.0.1'] });
    own.clock.now = Date.now();
    const from = (address: string, password: string) => own.call('/login/verify', { username: 'root', password }, { headers: { 'x-forwarded-for': address } });
    expect((await from('203.0.113.1', testAdminPassword)).body).toEqual(success);
    const guess = (addresses: number) =>
      Promise.all(Array.from({ length: addresses }, (_, n) => Promise.all(Array.from({ length: 10 }, () => from(`198.51.100.${n}`, 'wrong')))));
    await guess(6);
    expect((await from('198.51.100.0', testAdminPassword)).body).toEqual(incorrect);
    expect((await from('203.0.113.2', testAdminPassword)).body).toEqual(success);
    for (let n = 0; n < 600; n++) own.attempts.begin('login', `198.18.1.${n}`, 'root', own.clock.now).failed();
    expect((await from('203.0.113.3', testAdminPassword)).body).toEqual(incorrect);
    expect((await from('203.0.113.1', testAdminPassword)).body).toEqual(success);
    own.clock.now += 60_001;
    expect((await from('203.0.113.3', testAdminPassword)).body).toEqual(success);
  });

  test('the GraphQL API knows the same callers', async () => {
    const ask = async (headers: Record<string, string>, query = '{ clients { total } }') => {
      const response = await fetch(`${api.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      });
      return [response.status, await response.json()];
    };
    expect(await ask(await logIn('alice', 'alices password'))).toEqual([200, { data: { clients: { total: 1 } } }]);
    expect(await ask(await logIn('admin', testAdminPassword), '{ users { rows { username lastLoginAt } } }'))
      .toEqual([200, { data: { users: { rows: [{ username: 'alice', lastLoginAt: expect.stringContaining('T') }] } } }]);
    expect((await ask({ cookie: 'beegosessionID=nothing' }))[0]).toBe(401);
  });
});
