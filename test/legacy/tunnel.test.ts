import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { testApis, type Api } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';

const made = new Date(2026, 10, 21, 9, 30);

/** The owner's record inside a tunnel's (contract 1.1, without ip, bridgeType and bridgePort). */
const client = {
  Id: 1,
  UserId: 0,
  UserName: '',
  VerifyKey: 'key-1',
  Addr: '',
  LocalAddr: '',
  Remark: 'office',
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
  Cnf: { U: 'basic', P: '', Compress: false, Crypt: false },
  WebUserName: '',
  WebPassword: '',
};

/** The record of a started tcp tunnel on port 9001 (contract 1.3). */
const tunnel = {
  Id: 1,
  Port: 9001,
  ServerIp: '',
  Mode: 'tcp',
  Status: true,
  RunStatus: true,
  Client: client,
  Ports: '',
  Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 },
  Password: '',
  Remark: 'ssh',
  TargetAddr: '',
  NoStore: false,
  LocalPath: '',
  StripPre: '',
  ProtoVersion: '',
  Target: { TargetStr: '127.0.0.1:22', TargetArr: ['127.0.0.1:22'], LocalProxy: false },
  MultiAccount: null,
  HealthCheckTimeout: 0,
  HealthMaxFail: 0,
  HealthCheckInterval: 0,
  HealthNextTime: '0001-01-01T00:00:00Z',
  HealthMap: null,
  HttpHealthUrl: '',
  HealthRemoveArr: null,
  HealthCheckType: '',
  HealthCheckTarget: '',
};
const ssh = { client_id: 1, type: 'tcp', port: 9001, remark: 'ssh', target: '127.0.0.1:22' };
const portText = 'The port cannot be opened because it may has been occupied or is no longer allowed.';

eitherDialect('the endpoints for tunnels under /index', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start();
  });
  beforeEach(async () => {
    await api.reset();
    await api.store.db.client.create({ data: { vkey: 'key-1', remark: 'office', basicUser: 'basic', basicPassword: 'basic secret', createdAt: made } });
  });

  const body = async (path: string, parameters: Record<string, string | number | boolean> = {}) => (await api.signed(path, parameters)).body;
  const refused = (msg: string) => ({ status: 0, msg });
  const added = (id: number) => ({ status: 1, msg: 'add success', id });
  const modified = { status: 1, msg: 'modified success' };
  const record = async (id = 1) => (await body('/index/getonetunnel/', { id }));
  const portOf = async (id: number) => (await api.store.db.tunnel.findUniqueOrThrow({ where: { id } })).port;
  const count = () => api.store.db.tunnel.count();

  describe('/index/getonetunnel/', () => {
    test('answers a tunnel with its client', async () => {
      expect(await body('/index/add/', ssh)).toEqual(added(1));
      expect(await record()).toEqual({ code: 1, data: tunnel });
      // What is stored, while the engine does not have it.
      api.engine.wantedTunnels.clear();
      await api.store.db.tunnel.update({ where: { id: 1 }, data: { inletBytes: 3n, exportBytes: 4n } });
      expect(await record()).toEqual({ code: 1, data: { ...tunnel, RunStatus: false, Flow: { ExportFlow: 4, InletFlow: 3, FlowLimit: 0 } } });
    });
  });

  test('the health of targets that an agent checks is in the list and in the record, in the form of the family', async () => {
    expect(await body('/index/add/', { ...ssh, target: '10.0.0.1:80\n10.0.0.2:80\n10.0.0.3:80' })).toEqual(added(1));
    const state = (target: string, healthy: boolean, failures: number) => ({ target, healthy, failures, since: 0, lastError: 'refused' });
    // Shown in whole seconds, rounded up.
    const health = { type: 'http', intervalMs: 9001, timeoutMs: 2001, maxFailed: 3, path: '/healthz' } as const;
    const keys = {
      HealthCheckTimeout: 3,
      HealthMaxFail: 3,
      HealthCheckInterval: 10,
      HttpHealthUrl: '/healthz',
      HealthCheckType: 'http',
      HealthCheckTarget: '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80',
    };
    const shows = async (row: object) => {
      expect(await record()).toMatchObject({ data: row });
      expect(await body('/index/gettunnel/', { type: 'tcp', limit: 10 })).toMatchObject({ rows: [row] });
    };
    // None is out of rotation yet.
    api.engine.health.set('tunnel 1', { ...health, targets: [state('10.0.0.1:80', true, 2), state('10.0.0.2:80', true, 0), state('10.0.0.3:80', true, 0)] });
    await shows({ ...keys, HealthMap: { '10.0.0.1:80': 2 }, HealthRemoveArr: null });
    api.engine.health.set('tunnel 1', { ...health, targets: [state('10.0.0.1:80', false, 4), state('10.0.0.2:80', true, 1), state('10.0.0.3:80', true, 0)] });
    await shows({ ...keys, HealthMap: { '10.0.0.1:80': 4, '10.0.0.2:80': 1 }, HealthRemoveArr: ['10.0.0.1:80'] });
    api.engine.health.set('tunnel 1', { ...health, targets: ['10.0.0.1:80', '10.0.0.2:80', '10.0.0.3:80'].map((target) => state(target, true, 0)) });
    await shows({ ...keys, HealthMap: null, HealthRemoveArr: null, HealthNextTime: '0001-01-01T00:00:00Z' });
  });

  describe('/index/add/', () => {
    test('stores every parameter of a tcp tunnel', async () => {
      expect(
        await body('/index/add/', {
          ...ssh,
          server_ip: '127.0.0.1',
          target: '10.0.0.1:80\r\n\r\n10.0.0.2:80\n',
          local_proxy: 'true',
          proto_version: 'v2',
        }),
      ).toEqual(added(1));
      expect(await record()).toEqual({
        code: 1,
        data: {
          ...tunnel,
          ServerIp: '127.0.0.1',
          ProtoVersion: 'V2',
          Target: { TargetStr: '10.0.0.1:80\n10.0.0.2:80', TargetArr: ['10.0.0.1:80', '10.0.0.2:80'], LocalProxy: false },
        },
      });
    });

    test('stores a tunnel that opens no port', async () => {
      expect(await body('/index/add/', { client_id: 1, type: ' secret ', password: 'visitors', target: '127.0.0.1:22', remark: 'ssh' })).toEqual(added(1));
      expect(await record()).toEqual({ code: 1, data: { ...tunnel, Mode: 'secret', Port: 0, Password: 'visitors' } });
    });

    test('stores a file tunnel', async () => {
      expect(await body('/index/add/', { client_id: 1, type: 'file', port: 9001, local_path: '/srv', strip_pre: '/files', remark: 'ssh' })).toEqual(added(1));
      expect(await record()).toEqual({
        code: 1,
        data: {
          ...tunnel,
          Mode: 'file',
          LocalPath: '/srv',
          StripPre: '/files',
          Target: { TargetStr: '', TargetArr: [], LocalProxy: false },
        },
      });
    });

    test.each<Record<string, string>>([{}, { port: '' }, { port: '0' }, { port: '-1' }])('assigns a port for %j', async (port) => {
      const { port: _, ...rest } = ssh;
      expect(await body('/index/add/', { ...rest, ...port })).toEqual(added(1));
      expect(await portOf(1)).toBeGreaterThan(0);
    });

    test('refuses what is not there', async () => {
      expect(await body('/index/add/')).toEqual(refused('unsupported tunnel mode'));
      expect(await body('/index/add/', { type: 'tcp' })).toEqual(refused('client not found'));
    });

    test('refuses a port that another tunnel has', async () => {
      await body('/index/add/', ssh);
      expect(await body('/index/add/', ssh)).toEqual(refused(portText));
      expect(await count()).toBe(1);
    });

    test('refuses more than the quotas of client and owner', async () => {
      await api.store.db.user.create({ data: { username: 'alice', passwordHash: 'none', maxTunnels: 1 } });
      await body('/client/edit/', { id: 1, user_id: 1 });
      expect(await body('/index/add/', { ...ssh, port: '' })).toEqual(added(1));
      expect(await body('/index/add/', { ...ssh, port: '' })).toEqual(refused('The number of user tunnels exceeds the limit'));
      await body('/client/edit/', { id: 1, user_id: '', max_tunnel: 1 });
      expect(await body('/index/add/', { ...ssh, port: '' })).toEqual(refused('The number of tunnels exceeds the limit'));
      expect(await count()).toBe(1);
    });

    test('refuses a password that another secret or p2p tunnel has', async () => {
      await body('/index/add/', { client_id: 1, type: 'secret', password: 'visitors' });
      expect(await body('/index/add/', { client_id: 1, type: 'p2p', password: 'visitors' })).toEqual(refused('secret mode keys visitors must be unique'));
      expect(await count()).toBe(1);
    });
  });

  describe('/index/copy/', () => {
    test('copies all but id and port', async () => {
      await body('/index/add/', { ...ssh, server_ip: '127.0.0.1', proto_version: 'V1' });
      expect(await body('/index/copy/', { id: 1 })).toEqual(added(2));
      const port = await portOf(2);
      expect(port).not.toBe(9001);
      expect(await record(2)).toEqual({ code: 1, data: { ...tunnel, Id: 2, Port: port, ServerIp: '127.0.0.1', ProtoVersion: 'V1' } });
    });

    test('refuses to copy a password that has to be unique', async () => {
      await body('/index/add/', { client_id: 1, type: 'secret', password: 'visitors' });
      expect(await body('/index/copy/', { id: 1 })).toEqual(refused('secret mode keys visitors must be unique'));
    });

    test.each(['9', '', 'x'])('knows no tunnel "%s"', async (id) => {
      expect(await body('/index/copy/', { id })).toEqual(refused('tunnel ID not found'));
    });
  });

  describe('/index/edit/', () => {
    beforeEach(async () => {
      await body('/index/add/', ssh);
      await api.store.db.client.create({ data: { vkey: 'key-2', createdAt: made } });
    });

    test('keeps what is left out', async () => {
      expect(await body('/index/edit/', { id: 1, remark: 'b' })).toEqual(modified);
      expect(await record()).toEqual({ code: 1, data: { ...tunnel, Remark: 'b' } });
    });

    test('sets what is blank to its empty value, but keeps client, type and password', async () => {
      await body('/index/edit/', { id: 1, password: 'visitors', local_path: '/srv', strip_pre: '/a', proto_version: 'V1', server_ip: '127.0.0.1' });
      expect(
        await body('/index/edit/', {
          id: 1,
          client_id: '',
          type: '',
          server_ip: '',
          target: '',
          remark: '',
          password: '',
          local_path: '',
          strip_pre: '',
          proto_version: '',
          local_proxy: '',
        }),
      ).toEqual(modified);
      expect(await record()).toEqual({
        code: 1,
        data: {
          ...tunnel,
          Remark: '',
          Password: 'visitors',
          Target: { TargetStr: '', TargetArr: [], LocalProxy: false },
        },
      });
    });

    test('changes everything', async () => {
      expect(
        await body('/index/edit/', {
          id: 1,
          client_id: 2,
          type: 'socks5',
          port: 9002,
          server_ip: '127.0.0.1',
          target: '10.0.0.1:80',
          remark: 'new',
          password: 'new',
          local_path: '/new',
          strip_pre: '/n',
          proto_version: 'V2',
        }),
      ).toEqual(modified);
      expect(await record()).toEqual({
        code: 1,
        data: {
          ...tunnel,
          Client: { ...client, Id: 2, VerifyKey: 'key-2', Remark: '', Cnf: { U: '', P: '', Compress: false, Crypt: false } },
          Mode: 'socks5',
          Port: 9002,
          ServerIp: '127.0.0.1',
          Remark: 'new',
          Password: 'new',
          LocalPath: '/new',
          StripPre: '/n',
          ProtoVersion: 'V2',
          Target: { TargetStr: '10.0.0.1:80', TargetArr: ['10.0.0.1:80'], LocalProxy: false },
        },
      });
    });

    test.each(['0', ''])('port "%s" assigns a new one', async (port) => {
      expect(await body('/index/edit/', { id: 1, port })).toEqual(modified);
      expect(await portOf(1)).not.toBe(9001);
      expect(await portOf(1)).toBeGreaterThan(0);
    });

    test('leaves a stopped tunnel stopped', async () => {
      await body('/index/stop/', { id: 1 });
      expect(await body('/index/edit/', { id: 1, remark: 'b', port: 9003 })).toEqual(modified);
      expect(await record()).toEqual({ code: 1, data: { ...tunnel, Remark: 'b', Port: 9003, Status: false, RunStatus: false } });
    });
  });

  describe('/index/stop/ and /index/start/', () => {
    test('stop and start, and do so again', async () => {
      await body('/index/add/', ssh);
      for (const path of ['stop', 'stop', 'start', 'start', 'stop'] as const) {
        expect(await body(`/index/${path}/`, { id: 1 })).toEqual({ status: 1, msg: `${path} success` });
        const started = path === 'start';
        expect(await record()).toEqual({ code: 1, data: { ...tunnel, Status: started, RunStatus: started } });
      }
    });

    // The family says `start error` here; the port and who has it is what operators need.
    test('start fails while the port is in use, with an error', async () => {
      await body('/index/add/', ssh);
      await body('/index/stop/', { id: 1 });
      api.engine.taken.add(9001);
      expect(await body('/index/start/', { id: 1 })).toEqual(refused('port 9001 is in use'));
      expect(await record()).toEqual({ code: 1, data: { ...tunnel, Status: false, RunStatus: false } });
    });

    test('a start on a port that is allowed no more fails as it always did', async () => {
      await body('/index/add/', ssh);
      await body('/index/stop/', { id: 1 });
      api.engine.forbidden.add(9001);
      expect(await body('/index/start/', { id: 1 })).toEqual(refused('start error'));
      api.engine.forbidden.clear();
    });

    test.each(['/index/stop/', '/index/start/', '/index/del/'])('%s knows only ids of tunnels', async (path) => {
      for (const id of ['9', '', '0', '-1', 'x']) expect(await body(path, { id })).toEqual(refused('tunnel ID not found'));
      expect(await body(path)).toEqual(refused('tunnel ID not found'));
    });
  });

  test('/index/del/ deletes a tunnel', async () => {
    await body('/index/add/', ssh);
    expect(await body('/index/del/', { id: 1 })).toEqual({ status: 1, msg: 'delete success' });
    expect(await record()).toEqual({ code: 0 });
    expect(await body('/index/del/', { id: 1 })).toEqual(refused('tunnel ID not found'));
  });

  describe('/index/gettunnel/', () => {
    const ids = async (parameters: Record<string, string | number>) => {
      const { rows, total } = JSON.parse(JSON.stringify(await body('/index/gettunnel/', parameters)));
      return [rows.map(({ Id }: { Id: number }) => Id), total];
    };
    beforeEach(async () => {
      await api.store.db.client.create({ data: { vkey: 'key-2' } });
      await body('/index/add/', ssh);
      await body('/index/add/', { client_id: 2, type: 'udp', port: 9000, remark: 'dns', target: '127.0.0.1:53' });
      await body('/index/add/', { client_id: 1, type: 'secret', password: 'visitors', remark: 'Abc' });
    });

    test('answers whole rows', async () => {
      expect(await body('/index/gettunnel/', { client_id: 1, type: 'tcp' })).toEqual({ rows: [tunnel], total: 1 });
      expect(await body('/index/gettunnel/', { client_id: 9 })).toEqual({ rows: [], total: 0 });
    });

    test('filters by client and type; 0, blank and garbage filter nothing', async () => {
      expect(await ids({})).toEqual([[1, 2, 3], 3]);
      expect(await ids({ client_id: 1 })).toEqual([[1, 3], 2]);
      expect(await ids({ client_id: 0, type: '' })).toEqual([[1, 2, 3], 3]);
      expect(await ids({ client_id: 'x' })).toEqual([[1, 2, 3], 3]);
      expect(await ids({ client_id: -1 })).toEqual([[], 0]);
      expect(await ids({ type: 'udp' })).toEqual([[2], 1]);
    });

    test('a type that no tunnel can have finds none', async () => {
      expect(await ids({ type: 'gopher' })).toEqual([[], 0]);
      expect(await ids({ type: 'constructor' })).toEqual([[], 0]);
    });

    test('pages', async () => {
      expect(await ids({ offset: 1, limit: 1 })).toEqual([[2], 3]);
      expect(await ids({ limit: 0 })).toEqual([[], 3]);
      expect(await ids({ limit: 'x' })).toEqual([[1, 2, 3], 3]);
    });

    test('sorts by the names of the record', async () => {
      expect(await ids({ sort: 'Port' })).toEqual([[3, 2, 1], 3]);
      expect(await ids({ sort: 'Remark', order: 'desc' })).toEqual([[1, 2, 3], 3]);
      expect(await ids({ sort: 'ClientId', order: 'desc', limit: 1 })).toEqual([[2], 3]);
      expect(await ids({ sort: 'Mode' })).toEqual([[3, 1, 2], 3]);
      expect(await ids({ sort: 'port', order: 'desc' })).toEqual([[1, 2, 3], 3]);
    });

    test('searches id, port, password, remark and target', async () => {
      expect(await ids({ search: '9001' })).toEqual([[1], 1]);
      expect(await ids({ search: 'visitors' })).toEqual([[3], 1]);
      expect(await ids({ search: 'DNS' })).toEqual([[2], 1]);
      expect(await ids({ search: '127.0.0.1:22' })).toEqual([[1], 1]);
    });
  });
});
