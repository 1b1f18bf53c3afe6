import { beforeAll, describe, expect, test } from '@jest/globals';
import { newToken } from '../../src/schema/access/tokens.ts';
import { testApis, type Api, type CallParameters } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';

const denied = [403, { status: 0, msg: 'permission denied' }];
const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----';

eitherDialect('hosts and global settings by who calls', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  let alice: string;
  let bob: string;
  let reader: string;

  /** Clients 1 of alice, 2 of bob, 3 of nobody; hosts 1 of alice, 2 of bob. */
  beforeAll(async () => {
    api = await apis.start();
    [alice, bob] = [await token('alice'), await token('bob')];
    const { token: reading, hash } = newToken();
    reader = reading;
    await api.store.db.apiToken.create({ data: { userId: 1, name: 'reading', hash, readOnly: true } });
    await api.store.db.client.create({ data: { vkey: 'key-3' } });
    await api.store.db.platformDomain.create({ data: { id: 'd', wildcard: '*.p.example.com' } });
    await api.signed('/index/addhost/', { client_id: 1, host: 'alice.com', target: '80', cert_file_path: '/etc/alice.pem', key_file_path: '/etc/alice.key' });
    await api.signed('/index/addhost/', { client_id: 2, host: 'bob.com', target: '10.9.9.9:80', remark: 'bob only' });
  });

  async function token(username: string): Promise<string> {
    const { token, hash } = newToken();
    await api.store.db.user.create({
      data: { username, passwordHash: '', clients: { create: { vkey: `key of ${username}` } }, tokens: { create: { name: 'test', hash } } },
    });
    return token;
  }

  async function as(bearer: string, path: string, parameters: CallParameters = {}, method = 'POST'): Promise<unknown[]> {
    const { status, body } = await api.call(path, parameters, {
      method,
      headers: { authorization: `Bearer ${bearer}` },
      ...(method === 'GET' && { encoding: 'query' }),
    });
    return [status, body];
  }
  const stored = async () =>
    JSON.stringify(
      [await api.store.db.host.findMany({ orderBy: { id: 'asc' } }), await api.store.db.platformDomain.findMany()],
      (_, value: unknown) => typeof value === 'bigint' ? String(value) : value,
    );

  test.each(['/global/index/', '/global/save/'])('%s is for administrators', async (path) => {
    for (const who of [alice, bob, reader]) expect(await as(who, path, { serverUrl: 'mine' })).toEqual(denied);
    expect((await api.call(path)).status).toBe(401);
    expect((await api.signed(path)).status).toBe(200);
  });

  test('a user lists and reads the own hosts, without the paths of their certificates', async () => {
    expect(await as(alice, '/index/hostlist/')).toMatchObject([200, { total: 1, rows: [{ Id: 1, CertFilePath: '', KeyFilePath: '' }] }]);
    expect(await as(alice, '/index/hostlist/', { search: 'bob' })).toEqual([200, { rows: [], total: 0 }]);
    expect(await as(alice, '/index/hostlist/', { client_id: 2 })).toEqual(denied);
    expect(await as(alice, '/index/gethost/', { id: 1 })).toMatchObject([200, { code: 1, data: { Host: 'alice.com' } }]);
    for (const id of [2, 99]) expect(await as(alice, '/index/gethost/', { id })).toEqual([200, { code: 0 }]);
  });

  describe.each([2, 99])('host %s, not the own', (id) => {
    test.each(['/index/edithost/', '/index/hoststop/', '/index/hoststart/', '/index/delhost/'])('stays as it is: %s', async (path) => {
      const before = await stored();
      expect(await as(alice, path, { id, remark: 'mine', client_id: 1 })).toEqual(denied);
      expect(await stored()).toBe(before);
    });
  });

  test('a host cannot be moved to a client of another user, without an owner, or that does not exist', async () => {
    const before = await stored();
    for (const client of [2, 3, 99]) {
      expect(await as(alice, '/index/addhost/', { client_id: client, host: 'new.com' })).toEqual(denied);
      expect(await as(alice, '/index/edithost/', { id: 1, client_id: client, remark: 'moved' })).toEqual(denied);
    }
    expect(await stored()).toBe(before);
  });

  test("a user sends certificates as text, and what is not the user's to set stays unset", async () => {
    for (const name of ['cert_file_path', 'key_file_path']) {
      expect(await as(alice, '/index/addhost/', { client_id: 1, host: 'new.com', [name]: '/etc/passwd' })).toEqual([200, {
        status: 0,
        msg: `invalid ${name}: only PEM text is accepted, no file path`,
      }]);
    }
    expect(
      await as(alice, '/index/addhost/', {
        client_id: 1,
        host: 'new.com',
        cert_file_path: pem,
        key_file_path: pem,
        local_proxy: true,
        id: 77,
        IsClose: true,
        Flow: 'x',
      }),
    ).toEqual([200, { status: 1, msg: 'add success', id: 3 }]);
    expect(await api.store.db.host.findUniqueOrThrow({ where: { id: 3 } })).toMatchObject({ localProxy: false, enabled: true, certFilePath: pem });
    expect(await as(alice, '/index/delhost/', { id: 3 })).toEqual([200, { status: 1, msg: 'delete success' }]);
  });

  test("a diagnosis by a user only considers the user's own rules", async () => {
    const ask = (host: string) => as(alice, '/index/hostdiagnose/', { host, scheme: 'http' });
    expect(await ask('alice.com')).toMatchObject([200, { data: { matched: true, rule: { id: 1 } } }]);
    expect(await ask('bob.com')).toEqual([200, {
      status: 1,
      msg: 'success',
      data: { host: 'bob.com', path: '/', scheme: 'http', matched: false, reason: 'no host rule matches' },
    }]);
  });

  test('a token that only reads changes nothing', async () => {
    const before = await stored();
    expect(await as(reader, '/index/gethost/', { id: 1 })).toMatchObject([200, { code: 1 }]);
    for (const path of ['edithost', 'hoststop', 'delhost', 'addhost']) {
      expect((await as(reader, `/index/${path}/`, { id: 1, client_id: 1, host: 'x.com' }))[0]).toBe(403);
    }
    expect(await stored()).toBe(before);
  });

  test('a browser is led to the panel when it is logged in, and to the login when it is not', async () => {
    const open = async (path: string, authorization?: string, more: Record<string, string> = {}) => {
      const { status, headers } = await api.call(path, {}, {
        method: 'GET',
        encoding: 'query',
        headers: { accept: 'text/html', ...(authorization && { authorization }), ...more },
      });
      return [status, headers.get('location')];
    };
    for (const path of ['/index/hostdiagnose/', '/global/index/', '/index/hostlist/']) expect(await open(path)).toEqual([302, '/login/index']);
    expect(await open('/index/hostlist/', `Bearer ${alice}`)).toEqual([302, '/']);
    // This API stands alone: the pages are the next handler's.
    expect(await open('/index/hostdiagnose/', `Bearer ${alice}`)).toEqual([404, null]);
    expect(await open('/global/index/', `Bearer ${alice}`)).toEqual([403, null]);
    await api.signed('/client/edit/', { id: 3, web_username: 'web', web_password: 'web password' });
    const login = await api.call('/login/verify', { username: 'web', password: 'web password' });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(await open('/index/hostdiagnose/', undefined, { cookie })).toEqual([404, null]);
    expect(await open('/global/index/', undefined, { cookie })).toEqual([403, null]);
    const { token: root, hash } = newToken();
    await api.store.db.apiToken.create({ data: { name: 'administrator', hash } });
    expect(await open('/global/index/', `Bearer ${root}`)).toEqual([404, null]);
  });

  test('a user finds out whether a prefix is free', async () => {
    expect(await as(bob, '/index/platformhostavailable/', { platform_domain_id: 'd', platform_prefix: 'x' })).toEqual([200, {
      status: 1,
      msg: 'success',
      available: true,
      host: 'x.p.example.com',
    }]);
  });
});
