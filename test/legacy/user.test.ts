import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { testApis, type Api } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';

const made = new Date(2026, 10, 21, 9);
const plain = {
  Id: 1,
  UserName: 'alice',
  Password: '',
  Status: true,
  Remark: '',
  ClientCount: 0,
  TunnelCount: 0,
  MaxClientNum: 0,
  MaxTunnelNum: 0,
  ExpireTime: '',
  CreateTime: '2026-11-21 09:00:00',
};

eitherDialect('the endpoints under /user', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start();
  });
  beforeEach(() => api.reset());

  const body = async (path: string, parameters: Record<string, string | number | boolean> = {}) => (await api.signed(path, parameters)).body;
  const refused = (msg: string) => ({ status: 0, msg });
  const row = (id = 1) => api.store.db.user.findUniqueOrThrow({ where: { id } });
  const client = (id = 1) => api.store.db.client.findUniqueOrThrow({ where: { id } });
  async function addUser(parameters: Record<string, string> = {}): Promise<void> {
    const id = await api.store.db.user.count() + 1;
    const answer = await body('/user/add/', { username: 'alice', password: 'secret', ...parameters });
    expect(answer).toEqual({ status: 1, msg: 'add success', id });
    await api.store.db.user.update({ where: { id }, data: { createdAt: made } });
  }
  const addClient = (parameters: Record<string, string> = {}) => body('/client/add/', { user_id: '1', ...parameters });
  const list = (parameters: Record<string, string> = {}) => body('/user/list/', parameters);

  describe('/user/add/', () => {
    test('makes a user of every parameter, the password hashed', async () => {
      await addUser({ remark: 'team <A>', max_tunnel: '10', max_client: '3', expire_time: '2027-01-01' });
      expect(await list()).toEqual({
        total: 1,
        rows: [
          { ...plain, Remark: 'team <A>', MaxClientNum: 3, MaxTunnelNum: 10, ExpireTime: '2027-01-01 00:00:00' },
        ],
      });
      expect((await row()).passwordHash).toMatch(/^\$argon2id\$/);
    });

    test('of many with one name at once one is made', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => body('/user/add/', { username: 'alice', password: 'secret' })));
      expect(answers.filter((answer) => JSON.stringify(answer).includes('add success'))).toHaveLength(1);
      expect(await list()).toMatchObject({ total: 1 });
    });
  });

  describe('/user/list/', () => {
    test('searches, sorts and pages', async () => {
      await addUser({ remark: 'z' });
      await addUser({ username: 'Bob', remark: 'a', max_tunnel: '5' });
      await addUser({ username: 'carol', expire_time: '2027-01-01' });
      const names = async (parameters: Record<string, string>) => {
        const answer = await list(parameters);
        return JSON.stringify(answer).match(/"UserName":"\w+/g)?.map((text) => text.slice(12)).join(' ') ?? '';
      };
      expect(await names({ sort: 'UserName', order: 'desc' })).toBe('carol Bob alice');
      expect(await names({ sort: 'Remark' })).toBe('carol Bob alice');
      expect(await names({ sort: 'MaxTunnelNum', order: 'desc' })).toBe('Bob carol alice');
      expect(await names({ sort: 'ExpireTime', order: 'desc' })).toBe('carol Bob alice');
      expect(await names({ sort: 'nothing', order: 'desc' })).toBe('alice Bob carol');
      expect(await names({ search: 'BO' })).toBe('Bob');
      expect(await names({ search: '3' })).toBe('carol');
      expect(await list({ limit: '0' })).toEqual({ rows: [], total: 3 });
      expect(await names({ offset: '1', limit: '1' })).toBe('Bob');
    });
  });

  describe('/user/edit/', () => {
    test('changes what is sent and keeps the rest; a blank password keeps the old one', async () => {
      await addUser({ remark: 'old', max_tunnel: '4' });
      const { passwordHash } = await row();
      expect(await body('/user/edit/', { id: 1, username: 'bob', password: '', max_client: '2' })).toEqual({ status: 1, msg: 'save success' });
      expect(await list()).toEqual({ total: 1, rows: [{ ...plain, UserName: 'bob', Remark: 'old', MaxTunnelNum: 4, MaxClientNum: 2 }] });
      expect((await row()).passwordHash).toBe(passwordHash);
      await body('/user/edit/', { id: 1, password: 'another' });
      expect((await row()).passwordHash).not.toBe(passwordHash);
    });

    test('refuses what is not allowed', async () => {
      await addUser();
      await addUser({ username: 'bob' });
      await addClient({ expire_time: '2027-06-01' });
      await addClient();
      // A disabled client counts, too: it may be enabled again.
      await body('/client/changestatus/', { id: 1, status: '0' });
      for (
        const [parameters, msg] of [
          [{ id: 9 }, 'user ID not found'],
          [{ id: 'x' }, 'user ID not found'],
          [{}, 'user ID not found'],
          [{ id: 1, username: 'bob' }, 'username duplicate, please reset'],
          [{ id: 1, username: 'admin' }, 'username duplicate, please reset'],
          [{ id: 1, password: '12345' }, 'password must be at least 6 characters'],
          [{ id: 1, max_client: 1 }, 'max clients below assigned count'],
          [{ id: 1, expire_time: '2027-05-31' }, "user expiry earlier than client 1's"],
          [{ id: 1, expire_time: 'x' }, 'invalid expiration time'],
        ] as const
      ) {
        expect(await body('/user/edit/', parameters)).toEqual(refused(msg));
      }
      expect(await row()).toMatchObject({ username: 'alice', maxClients: 0, expiresAt: null });
      for (const [name, value] of [['max_client', '2'], ['max_client', '0'], ['expire_time', '2027-06-01'], ['expire_time', '']] as const) {
        expect(await body('/user/edit/', { id: 1, [name]: value })).toEqual({ status: 1, msg: 'save success' });
      }
    });

    test('a new expiry applies to the agents at once', async () => {
      await addUser();
      await addClient();
      await body('/user/edit/', { id: 1, expire_time: '2026-01-01' });
      expect(api.engine.wantedClients.get(1)?.expiresAt).toBe(new Date(2026, 0, 1).getTime());
      expect(await body('/client/getclient/', { id: 1 })).toMatchObject({ data: { Status: false, EffectiveExpireTime: '2026-01-01 00:00:00' } });
      expect(await list()).toMatchObject({ rows: [{ Status: false }] });
      await body('/user/edit/', { id: 1, expire_time: '' });
      expect(await body('/client/getclient/', { id: 1 })).toMatchObject({ data: { Status: true } });
    });
  });

  describe('/user/changepassword/', () => {
    test('an administrator sets it, also by the names that others of the family use', async () => {
      await addUser();
      const { passwordHash } = await row();
      expect(await body('/user/changepassword/', { id: 1, new_password: 'another', confirm_password: 'another' })).toEqual({
        status: 1,
        msg: 'password changed',
      });
      expect((await row()).passwordHash).not.toBe(passwordHash);
      expect(await body('/user/changepassword/', { id: 1, password: 'another', password_confirm: 'another' })).toEqual({ status: 1, msg: 'password changed' });
      for (
        const [parameters, msg] of [
          [{ new_password: 'another' }, 'user ID not found'],
          [{ id: 9, new_password: 'another' }, 'user ID not found'],
          [{ id: 1 }, 'new password empty'],
          [{ id: 1, new_password: '      ' }, 'new password empty'],
          [{ id: 1, new_password: 'äöüäö' }, 'password must be at least 6 characters'],
          [{ id: 1, new_password: 'another', confirm_password: 'other' }, 'password mismatch'],
        ] as const
      ) {
        expect(await body('/user/changepassword/', parameters)).toEqual(refused(msg));
      }
    });
  });

  describe('/user/changestatus/', () => {
    test('disabling disconnects the agents of the clients and ends logins, enabling accepts them again; nothing is deleted', async () => {
      await addUser();
      const { db } = api.store;
      await db.session.create({ data: { id: 'login', kind: 'user', userId: 1 } });
      await addClient();
      await body('/index/add/', { client_id: 1, type: 'tcp', target: '22' });
      expect(await body('/user/changestatus/', { id: 1, status: '0' })).toEqual({ status: 1, msg: 'modified success' });
      expect(api.engine.wantedClients.get(1)?.enabled).toBe(false);
      expect(await db.session.count()).toBe(0);
      expect(await list()).toMatchObject({ rows: [{ Status: false, ClientCount: 1, TunnelCount: 1 }] });
      expect(await body('/user/changestatus/', { id: 1, status: 'true' })).toEqual({ status: 1, msg: 'modified success' });
      expect(api.engine.wantedClients.get(1)?.enabled).toBe(true);
      for (
        const [parameters, msg] of [[{ id: 9, status: '1' }, 'user ID not found'], [{ id: 1 }, 'invalid status'], [
          { id: 1, status: 'maybe' },
          'invalid status',
        ]] as const
      ) {
        expect(await body('/user/changestatus/', parameters)).toEqual(refused(msg));
      }
    });
  });

  describe('/user/del/', () => {
    test('leaves the clients disabled and without an owner, with tunnels and hosts', async () => {
      await addUser();
      await addClient();
      await addClient();
      await body('/index/add/', { client_id: 1, type: 'tcp', target: '22' });
      expect(await body('/user/del/', { id: 1 })).toEqual({ status: 1, msg: 'delete success' });
      expect(await list()).toEqual({ rows: [], total: 0 });
      expect(await client()).toMatchObject({ userId: null, enabled: false, disabledByAdmin: true, tunnelCount: 1 });
      expect(api.engine.wantedClients.get(2)?.enabled).toBe(false);
      expect(await body('/index/gettunnel/')).toMatchObject({ total: 1 });
      expect(await body('/client/list/')).toMatchObject({ total: 2, rows: [{ UserId: 0, Status: false }, {}] });
      expect(await body('/user/del/', { id: 1 })).toEqual(refused('user ID not found'));
      await addUserAgain();
    });

    /** The id of a deleted user is not given to another one. */
    async function addUserAgain(): Promise<void> {
      expect(await body('/user/add/', { username: 'alice', password: 'secret' })).toEqual({ status: 1, msg: 'add success', id: 2 });
    }
  });
});
