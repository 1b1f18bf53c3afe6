import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { testApis, type Api } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';
import { onlineState } from '../support/client-state.ts';

const made = new Date(2026, 10, 21, 9, 30);

/** The record of a client that was made with its key alone (contract 1.1). */
const plain = {
  Id: 1,
  UserId: 0,
  UserName: '',
  VerifyKey: 'key-1',
  Addr: '',
  LocalAddr: '',
  Remark: '',
  Status: true,
  IsConnect: false,
  RateLimit: 0,
  Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 },
  Rate: { NowRate: 0 },
  NoStore: false,
  NoDisplay: false,
  MaxConn: 0,
  NowConn: 0,
  ConfigConnAllow: false,
  MaxTunnelNum: 0,
  Version: '',
  BlackIpList: [],
  IpWhite: false,
  IpWhitePass: '',
  IpWhiteList: [],
  CreateTime: '2026-11-21 09:30:00',
  LastOnlineTime: '',
  ExpireTime: '',
  UserExpireTime: '',
  EffectiveExpireTime: '',
  Cnf: { U: '', P: '', Compress: false, Crypt: false },
  WebUserName: '',
  WebPassword: '',
};

/** Every parameter of /client/add/ but the owner, and what of the record they make. */
const full = {
  remark: 'office <b>&"\'</b> é',
  vkey: 'key-1',
  u: 'basic',
  p: 'basic secret',
  compress: '1',
  crypt: 'true',
  config_conn_allow: 'T',
  rate_limit: '100',
  flow_limit: '200',
  max_conn: '30',
  max_tunnel: '4',
  web_username: 'web',
  web_password: 'web secret',
  blackiplist: '1.1.1.1\r\n2.2.2.2',
  ipwhite: 'True',
  ipwhitepass: 'white secret',
  ipwhitelist: '3.3.3.3',
  expire_time: '2027-01-01',
};
const fullRecord = {
  ...plain,
  Remark: 'office <b>&"\'</b> é',
  RateLimit: 100,
  Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 200 },
  MaxConn: 30,
  ConfigConnAllow: true,
  MaxTunnelNum: 4,
  BlackIpList: ['1.1.1.1', '2.2.2.2'],
  IpWhite: true,
  IpWhiteList: ['3.3.3.3'],
  ExpireTime: '2027-01-01 00:00:00',
  EffectiveExpireTime: '2027-01-01 00:00:00',
  Cnf: { U: 'basic', P: '', Compress: true, Crypt: true },
  WebUserName: 'web',
};

eitherDialect('the endpoints under /client', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start();
  });
  beforeEach(() => api.reset());

  const body = async (path: string, parameters: Record<string, string | number | boolean> = {}) => (await api.signed(path, parameters)).body;
  const refused = (msg: string) => ({ status: 0, msg });
  const saved = { status: 1, msg: 'save success' };
  async function addClient(parameters: Record<string, string> = {}): Promise<void> {
    const id = await api.store.db.client.count() + 1;
    expect(await body('/client/add/', { vkey: `key-${id}`, ...parameters })).toEqual({ status: 1, msg: 'add success', id });
    await api.store.db.client.update({ where: { id }, data: { createdAt: made } });
  }
  const record = async (id = 1) => (await body('/client/getclient/', { id }));
  async function addUser(columns: { expiresAt?: Date; maxClients?: number; maxTunnels?: number } = {}): Promise<void> {
    await api.store.db.user.create({ data: { username: 'alice', passwordHash: 'none', ...columns } });
  }

  describe('/client/getclient/', () => {
    test('answers a client', async () => {
      await addClient();
      expect(await record()).toEqual({ code: 1, data: plain });
    });

    test('answers what the agent does now', async () => {
      await addClient({ flow_limit: '5' });
      api.engine.clients.set(
        1,
        onlineState({
          localAddress: '192.168.1.20',
          version: '0.1.0',
          connections: 3,
          rate: 512,
          inletBytes: 2097152,
          exportBytes: 1048576,
          lastOnlineAt: new Date(2026, 10, 21, 10).getTime(),
        }),
      );
      expect(await record()).toEqual({
        code: 1,
        data: {
          ...plain,
          Addr: '203.0.113.9',
          LocalAddr: '192.168.1.20',
          Version: '0.1.0',
          IsConnect: true,
          NowConn: 3,
          Rate: { NowRate: 512 },
          Flow: { ExportFlow: 1048576, InletFlow: 2097152, FlowLimit: 5 },
          LastOnlineTime: '2026-11-21 10:00:00',
        },
      });
    });

    test('answers the owner and the earlier expiry', async () => {
      await addUser({ expiresAt: new Date(2027, 5, 1) });
      await addClient({ user_id: '1', expire_time: '2027-01-01' });
      const owned = { ...plain, UserId: 1, UserName: 'alice', UserExpireTime: '2027-06-01 00:00:00' };
      expect(await record()).toEqual({ code: 1, data: { ...owned, ExpireTime: '2027-01-01 00:00:00', EffectiveExpireTime: '2027-01-01 00:00:00' } });
      expect(await body('/client/edit/', { id: 1, expire_time: '' })).toEqual(saved);
      expect(await record()).toEqual({ code: 1, data: { ...owned, EffectiveExpireTime: '2027-06-01 00:00:00' } });
    });

    test('has nothing without an id', async () => {
      expect(await body('/client/getclient/')).toEqual({ code: 0 });
    });
  });

  describe('/client/add/', () => {
    test('stores every parameter', async () => {
      await addClient(full);
      expect(await record()).toEqual({ code: 1, data: fullRecord });
    });

    test('generates a key, and ids go up', async () => {
      expect(await body('/client/add/', { vkey: '' })).toEqual({ status: 1, msg: 'add success', id: 1 });
      expect(await body('/client/add/')).toEqual({ status: 1, msg: 'add success', id: 2 });
      const keys = (await api.store.db.client.findMany()).map(({ vkey }) => vkey);
      expect(keys[0]).toMatch(/^[\w-]{20,}$/);
      expect(keys[1]).not.toBe(keys[0]);
    });

    test('takes blank and negative limits as unlimited, and blank switches as off', async () => {
      await addClient({ rate_limit: '', flow_limit: ' ', max_conn: '-5', max_tunnel: '0', compress: '', ipwhite: ' ', user_id: '', expire_time: ' ' });
      expect(await record()).toEqual({ code: 1, data: plain });
    });

    test('drops blank list items and all but the last of equal ones', async () => {
      await addClient({ blackiplist: '1.1.1.1\r\n\r\n2.2.2.2\r\n1.1.1.1\n' });
      expect(await record()).toEqual({ code: 1, data: { ...plain, BlackIpList: ['2.2.2.2', '1.1.1.1'] } });
    });

    test("refuses more clients than the owner may have, and an expiry later than the owner's", async () => {
      await addUser({ maxClients: 1, expiresAt: new Date(2027, 0, 1) });
      expect(await body('/client/add/', { user_id: 1, expire_time: '2027-01-02' })).toEqual(refused('client expiry later than owner expiry'));
      await addClient({ user_id: '1', expire_time: '2027-01-01' });
      expect(await body('/client/add/', { user_id: 1 })).toEqual(refused("client count reached the owner's quota"));
      expect(await api.store.db.client.count()).toBe(1);
    });
  });

  describe('/client/edit/', () => {
    beforeEach(() => addClient(full));

    test('keeps what is left out', async () => {
      const before = await api.store.db.client.findUnique({ where: { id: 1 } });
      expect(await body('/client/edit/', { id: 1, remark: 'b' })).toEqual(saved);
      expect(await record()).toEqual({ code: 1, data: { ...fullRecord, Remark: 'b' } });
      expect(await api.store.db.client.findUnique({ where: { id: 1 } })).toEqual({ ...before, remark: 'b' });
    });

    test('sets what is blank to its empty value, but keeps key and passwords', async () => {
      const blank = Object.fromEntries(Object.keys(full).map((name) => [name, '']));
      const before = await api.store.db.client.findUniqueOrThrow({ where: { id: 1 } });
      expect(await body('/client/edit/', { id: 1, ...blank })).toEqual(saved);
      expect(await record()).toEqual({ code: 1, data: { ...plain, WebUserName: 'web' } });
      const { basicPassword, webPasswordHash, ipWhitePassword } = await api.store.db.client.findUniqueOrThrow({ where: { id: 1 } });
      expect({ basicPassword, webPasswordHash, ipWhitePassword })
        .toEqual({ basicPassword: 'basic secret', webPasswordHash: before.webPasswordHash, ipWhitePassword: '' });
    });

    test('changes everything', async () => {
      expect(
        await body('/client/edit/', {
          id: 1,
          remark: 'new',
          vkey: 'new-key',
          u: 'new',
          p: 'new',
          compress: 'false',
          crypt: '0',
          config_conn_allow: 'F',
          rate_limit: 1,
          flow_limit: 2,
          max_conn: 3,
          max_tunnel: 5,
          web_username: 'other',
          blackiplist: '9.9.9.9',
          ipwhite: '0',
          ipwhitelist: '',
          expire_time: '2028-02-29T12:30',
        }),
      ).toEqual(saved);
      expect(await record()).toEqual({
        code: 1,
        data: {
          ...plain,
          VerifyKey: 'new-key',
          Remark: 'new',
          RateLimit: 1,
          Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 2 },
          MaxConn: 3,
          MaxTunnelNum: 5,
          BlackIpList: ['9.9.9.9'],
          ExpireTime: '2028-02-29 12:30:00',
          EffectiveExpireTime: '2028-02-29 12:30:00',
          Cnf: { U: 'new', P: '', Compress: false, Crypt: false },
          WebUserName: 'other',
        },
      });
    });

    test('assigns a client to a user, and removes the owner', async () => {
      await addUser();
      expect(await body('/client/edit/', { id: 1, user_id: 1 })).toEqual(saved);
      expect(await record()).toEqual({ code: 1, data: { ...fullRecord, UserId: 1, UserName: 'alice' } });
      expect(await body('/client/edit/', { id: 1, remark: full.remark })).toEqual(saved);
      expect(await record()).toMatchObject({ data: { UserId: 1 } });
      expect(await body('/client/edit/', { id: 1, user_id: '' })).toEqual(saved);
      expect(await record()).toEqual({ code: 1, data: fullRecord });
    });

    test('removes the web login when asked', async () => {
      expect(await body('/client/edit/', { id: 1, clear_legacy_web_login: '1' })).toEqual(saved);
      expect(await record()).toEqual({ code: 1, data: { ...fullRecord, WebUserName: '' } });
    });

    test('replaces the web login when asked to remove it and given another one', async () => {
      expect(await body('/client/edit/', { id: 1, clear_legacy_web_login: '1', web_username: 'other', web_password: 'another' })).toEqual(saved);
      expect(await record()).toEqual({ code: 1, data: { ...fullRecord, WebUserName: 'other' } });
      expect(await body('/login/verify', { username: 'other', password: 'another' })).toMatchObject({ status: 1 });
    });

    test('refuses half of another web login when asked to remove it', async () => {
      for (const half of ['web_username', 'web_password']) {
        expect(await body('/client/edit/', { id: 1, clear_legacy_web_login: '1', [half]: 'another' })).toMatchObject({
          status: 0,
          msg: 'legacy web user and password must come together',
        });
      }
      expect(await record()).toEqual({ code: 1, data: fullRecord });
    });

    test("refuses an expiry later than the owner's", async () => {
      await addUser({ expiresAt: new Date(2027, 5, 1) });
      expect(await body('/client/edit/', { id: 1, user_id: 1, expire_time: '2027-06-01 00:00:01' })).toEqual(refused('client expiry later than owner expiry'));
      expect(await record()).toEqual({ code: 1, data: fullRecord });
    });
  });

  describe('/client/changestatus/', () => {
    test.each(['/client/changestatus/', '/client/change_status/'])('%s disables and enables', async (path) => {
      await addClient();
      for (const [status, enabled] of [['false', false], ['1', true], ['', false], ['true', true], ['0', false]] as const) {
        expect(await body(path, { id: 1, status })).toEqual({ status: 1, msg: 'modified success' });
        expect(await record()).toEqual({ code: 1, data: { ...plain, Status: enabled } });
      }
    });
  });

  describe('/client/del/', () => {
    test('deletes a client with its tunnels', async () => {
      await addClient();
      expect(await body('/index/add/', { client_id: 1, type: 'tcp', target: '127.0.0.1:22' })).toMatchObject({ status: 1 });
      expect(await body('/client/del/', { id: 1 })).toEqual({ status: 1, msg: 'delete success' });
      expect(await record()).toEqual({ code: 0 });
      expect(await body('/index/gettunnel/')).toEqual({ rows: [], total: 0 });
    });

    test.each(['1', '', 'abc', '0'])('knows no client "%s"', async (id) => {
      expect(await body('/client/del/', { id })).toEqual(refused('client ID not found'));
    });
  });

  describe('/client/list/', () => {
    const seen = { ip: '127.0.0.1', bridgeType: 'tcp', bridgePort: 8024 };
    const ids = async (parameters: Record<string, string | number>) => {
      const { rows, total } = JSON.parse(JSON.stringify(await body('/client/list/', parameters)));
      return [rows.map(({ Id }: { Id: number }) => Id), total];
    };

    test('answers nothing of an empty store', async () => {
      expect(await body('/client/list/')).toEqual({ rows: [], total: 0, ...seen });
    });

    test("answers whole rows, and the server's address in them and beside them", async () => {
      await addClient(full);
      await addClient();
      const rows = [{ ...fullRecord, ...seen }, { ...plain, Id: 2, VerifyKey: 'key-2', ...seen }];
      expect(await body('/client/list/')).toEqual({ rows, total: 2, ...seen });
    });

    test('pages by row offset and limit', async () => {
      await addClient();
      await addClient();
      await addClient();
      expect(await ids({ limit: 2 })).toEqual([[1, 2], 3]);
      expect(await ids({ offset: 1, limit: 1 })).toEqual([[2], 3]);
      expect(await ids({ offset: 2 })).toEqual([[3], 3]);
      expect(await ids({ offset: 3, limit: 10 })).toEqual([[], 3]);
      expect(await ids({ offset: -1, limit: '' })).toEqual([[1, 2, 3], 3]);
      expect(await ids({ limit: 0 })).toEqual([[], 3]);
      expect(await ids({ limit: -1 })).toEqual([[], 3]);
      expect(await ids({ limit: 'ten', offset: 'one' })).toEqual([[1, 2, 3], 3]);
    });

    test('sorts by the names of the record, and by id for any other', async () => {
      await addClient({ remark: 'b' });
      await addClient({ remark: 'C' });
      await addClient({ remark: 'a' });
      await body('/client/changestatus/', { id: 2, status: 'false' });
      expect(await ids({ sort: 'Remark' })).toEqual([[3, 1, 2], 3]);
      expect(await ids({ sort: 'Remark', order: 'DESC' })).toEqual([[2, 1, 3], 3]);
      expect(await ids({ sort: 'VerifyKey', order: 'desc' })).toEqual([[3, 2, 1], 3]);
      expect(await ids({ sort: 'Id', order: 'desc' })).toEqual([[3, 2, 1], 3]);
      expect(await ids({ sort: 'Status' })).toEqual([[2, 1, 3], 3]);
      expect(await ids({ sort: 'remark', order: 'desc' })).toEqual([[1, 2, 3], 3]);
      expect(await ids({ order: 'desc' })).toEqual([[1, 2, 3], 3]);
    });

    test('searches id, key and remark', async () => {
      await addClient({ remark: 'The Office' });
      await addClient({ vkey: 'office-key' });
      await addClient({ remark: '50%' });
      expect(await ids({ search: 'office' })).toEqual([[1, 2], 2]);
      expect(await ids({ search: '3' })).toEqual([[3], 1]);
      expect(await ids({ search: '%', limit: 1 })).toEqual([[3], 1]);
      expect(await ids({ search: 'nowhere' })).toEqual([[], 0]);
      expect(await ids({ search: '\0' })).toEqual([[], 0]);
    });
  });
});
