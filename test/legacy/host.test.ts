import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { testApis, type Api } from '../support/api.ts';
import { onlineState } from '../support/client-state.ts';
import { eitherDialect } from '../support/database.ts';

/** The record of a started host (contract 1.4). */
const host = {
  Id: 1,
  Host: 'app.example.com',
  PlatformDomainID: '',
  PlatformManaged: false,
  HeaderChange: '',
  HostChange: '',
  Location: '/',
  Remark: 'web',
  Scheme: 'all',
  CertFilePath: '',
  KeyFilePath: '',
  NoStore: false,
  IsClose: false,
  AutoHttps: false,
  Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 },
  Client: { Id: 1, Remark: 'office', IsConnect: false },
  Target: { TargetStr: '127.0.0.1:80', TargetArr: ['127.0.0.1:80'], LocalProxy: false },
};
const web = { client_id: 1, host: 'app.example.com', remark: 'web', target: '127.0.0.1:80' };
const platform = { client_id: 1, domain_mode: 'platform', platform_domain_id: 'd', platform_prefix: 'app', scheme: 'http' };
const pem = '-----BEGIN PRIVATE KEY-----\nplanted secret\n-----END PRIVATE KEY-----\n';

eitherDialect('the endpoints for hosts under /index', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start();
  });
  beforeEach(async () => {
    await api.reset();
    await api.store.db.client.create({ data: { vkey: 'key-1', remark: 'office' } });
    await api.store.db.platformDomain.create({ data: { id: 'd', wildcard: '*.p.example.com' } });
  });

  type Parameters = Record<string, string | number | boolean>;
  const body = async (path: string, parameters: Parameters = {}) => (await api.signed(path, parameters)).body;
  const refused = (msg: string) => ({ status: 0, msg });
  const added = (id: number) => ({ status: 1, msg: 'add success', id });
  const modified = { status: 1, msg: 'modified success' };
  const record = (id = 1) => body('/index/gethost/', { id });

  describe('/index/gethost/', () => {
    test('answers a host with the client it leads to', async () => {
      expect(await body('/index/addhost/', web)).toEqual(added(1));
      expect(await record()).toEqual({ code: 1, data: host });
      api.engine.clients.set(1, onlineState());
      await body('/index/hoststop/', { id: 1 });
      expect(await record()).toEqual({ code: 1, data: { ...host, IsClose: true, Client: { ...host.Client, IsConnect: true } } });
    });

    test('shows paths, and no text of a certificate or key', async () => {
      await body('/index/addhost/', { ...web, cert_file_path: '/etc/a.pem', key_file_path: '/etc/a.key' });
      expect(await record()).toEqual({ code: 1, data: { ...host, CertFilePath: '/etc/a.pem', KeyFilePath: '/etc/a.key' } });
      expect(await body('/index/edithost/', { id: 1, cert_file_path: pem, key_file_path: pem })).toEqual(modified);
      expect(await record()).toEqual({ code: 1, data: host });
      expect(await api.store.db.host.findUniqueOrThrow({ where: { id: 1 } })).toMatchObject({ certFilePath: pem, keyFilePath: pem });
      expect(JSON.stringify(await body('/index/hostlist/'))).not.toContain('planted');
    });
  });

  describe('/index/addhost/', () => {
    test('stores every parameter', async () => {
      expect(
        await body('/index/addhost/', {
          ...web,
          host: 'App.Example.com',
          domain_mode: 'custom',
          scheme: 'https',
          location: 'api/',
          target: '10.0.0.1:80\r\n\r\n10.0.0.2:80\n',
          local_proxy: 'true',
          header: 'X-A: 1\r\nX-B: 2',
          hostchange: 'inside',
          AutoHttps: 'true',
        }),
      ).toEqual(added(1));
      expect(await record()).toEqual({
        code: 1,
        data: {
          ...host,
          Scheme: 'https',
          Location: '/api',
          HeaderChange: 'X-A: 1\nX-B: 2',
          HostChange: 'inside',
          AutoHttps: true,
          Target: { TargetStr: '10.0.0.1:80\n10.0.0.2:80', TargetArr: ['10.0.0.1:80', '10.0.0.2:80'], LocalProxy: false },
        },
      });
    });

    test('composes the name of a platform host, and ignores other parameters', async () => {
      expect(await body('/index/addhost/', { ...web, ...platform, domain_mode: ' platform ', cert_file_path: '/mine', key_file_path: '/mine', AutoHttps: '1' }))
        .toEqual(added(1));
      expect(await record()).toEqual({ code: 1, data: { ...host, Host: 'app.p.example.com', PlatformDomainID: 'd', PlatformManaged: true, Scheme: 'http' } });
    });

    test('answers the limits of client and owner', async () => {
      const user = await api.store.db.user.create({ data: { username: 'alice', passwordHash: '', maxTunnels: 2 } });
      await api.store.db.client.create({ data: { vkey: 'key-2', maxTunnels: 1, userId: user.id } });
      await api.store.db.client.create({ data: { vkey: 'key-3', userId: user.id } });
      expect(await body('/index/addhost/', { ...web, client_id: 2 })).toEqual(added(1));
      expect(await body('/index/addhost/', { ...web, client_id: 2, host: 'b.com' })).toEqual(refused('The number of tunnels exceeds the limit'));
      expect(await body('/index/addhost/', { ...web, client_id: 3, host: 'c.com' })).toEqual(added(2));
      expect(await body('/index/addhost/', { ...web, client_id: 3, host: 'd.com' })).toEqual(refused('The number of user tunnels exceeds the limit'));
    });
  });

  describe('/index/edithost/', () => {
    test('keeps what is left out, clears what is blank', async () => {
      await body('/index/addhost/', {
        ...web,
        location: '/a',
        header: 'X: 1',
        hostchange: 'h',
        AutoHttps: '1',
        cert_file_path: '/c',
        key_file_path: '/k',
        scheme: 'https',
      });
      await body('/index/hoststop/', { id: 1 });
      const full = {
        ...host,
        Location: '/a',
        HeaderChange: 'X: 1',
        HostChange: 'h',
        AutoHttps: true,
        CertFilePath: '/c',
        KeyFilePath: '/k',
        Scheme: 'https',
        IsClose: true,
      };
      expect(await body('/index/edithost/', { id: 1, remark: 'new' })).toEqual(modified);
      expect(await record()).toEqual({ code: 1, data: { ...full, Remark: 'new' } });
      expect(
        await body('/index/edithost/', {
          id: 1,
          client_id: 0,
          remark: '',
          location: '',
          header: '',
          hostchange: '',
          target: '',
          scheme: '',
          cert_file_path: '',
          key_file_path: '',
          auto_https: '',
        }),
      ).toEqual(modified);
      expect(await record()).toEqual({ code: 1, data: { ...host, Remark: '', IsClose: true, Target: { TargetStr: '', TargetArr: [], LocalProxy: false } } });
    });

    test.each([true, false])('keeps whether the host uses ACME (%s), as do stop and start', async (acme) => {
      await body('/index/addhost/', web);
      await api.store.db.host.update({ where: { id: 1 }, data: { acme } });
      const edited = { host: 'b.example.com', scheme: 'https', location: '/b', remark: 'b', AutoHttps: '1', target: '81', header: 'X: 1', hostchange: 'h' };
      for (const values of [edited, { cert_file_path: pem, key_file_path: pem }, { cert_file_path: '', key_file_path: '' }]) {
        expect(await body('/index/edithost/', { id: 1, ...values })).toEqual(modified);
        await body('/index/hoststop/', { id: 1 });
        await body('/index/hoststart/', { id: 1 });
        expect([values, await api.store.db.host.findUniqueOrThrow({ where: { id: 1 }, select: { acme: true } })]).toEqual([values, { acme }]);
      }
    });

    test('keeps the name of a platform host, unless another is given', async () => {
      await body('/index/addhost/', platform);
      expect(await body('/index/edithost/', { id: 1, remark: 'x' })).toEqual(modified);
      expect(await body('/index/edithost/', { id: 1, domain_mode: 'platform', platform_domain_id: 'd', platform_prefix: 'app' })).toEqual(modified);
      expect(await record()).toMatchObject({ data: { Host: 'app.p.example.com', PlatformManaged: true, Remark: 'x' } });
      expect(await body('/index/edithost/', { id: 1, domain_mode: 'custom' })).toEqual(refused('modified error,custom host inside a platform namespace'));
      expect(await body('/index/edithost/', { id: 1, host: 'own.com' })).toEqual(modified);
      expect(await record()).toMatchObject({ data: { Host: 'own.com', PlatformManaged: false, PlatformDomainID: '' } });
    });

    test.each<[Parameters, string]>([
      [{ id: 99 }, 'host ID not found'],
      [{ id: '' }, 'host ID not found'],
      [{ id: 'x' }, 'host ID not found'],
      [{ client_id: 99 }, 'modified error,the client is not exist'],
      [{ host: '' }, 'modified error,invalid host'],
      [{ host: 'other.com' }, 'modified error,host has exist'],
      [{ client_id: 2, host: 'other.com', location: '/x' }, 'modified error,host route overlaps another tenant'],
      [{ domain_mode: 'platform' }, 'modified error,domain id empty'],
      [{ domain_mode: 'platform', platform_domain_id: 'x' }, 'modified error,unknown domain'],
      [{ domain_mode: 'platform', platform_domain_id: 'd' }, 'modified error,bad prefix'],
      [
        { domain_mode: 'platform', platform_domain_id: 'd', platform_prefix: 'a' },
        'modified error,platform domain *.p.example.com has no certificate: only http allowed',
      ],
      [{ scheme: 'x' }, 'invalid scheme'],
    ])('refuses %j, and changes nothing', async (wrong, msg) => {
      await api.store.db.client.create({ data: { vkey: 'key-2' } });
      await body('/index/addhost/', web);
      await body('/index/addhost/', { ...web, host: 'other.com' });
      expect(await body('/index/edithost/', { id: 1, remark: 'lost', ...wrong })).toEqual(refused(msg));
      expect(await record()).toEqual({ code: 1, data: host });
    });
  });

  test('/index/hoststop/, hoststart/ and delhost/ can be repeated, but not on a host that is not there', async () => {
    await body('/index/addhost/', web);
    for (const _ of [1, 2]) expect(await body('/index/hoststop/', { id: 1 })).toEqual({ status: 1, msg: 'stop success' });
    expect(await record()).toEqual({ code: 1, data: { ...host, IsClose: true } });
    // It keeps its name.
    expect(await body('/index/addhost/', web)).toEqual(refused('add failhost has exist'));
    for (const _ of [1, 2]) expect(await body('/index/hoststart/', { id: 1 })).toEqual({ status: 1, msg: 'start success' });
    expect(await record()).toEqual({ code: 1, data: host });
    expect(await body('/index/delhost/', { id: 1 })).toEqual({ status: 1, msg: 'delete success' });
    for (const path of ['hoststop', 'hoststart', 'delhost']) {
      for (const id of [1, 0, '', 'x']) expect(await body(`/index/${path}/`, { id })).toEqual(refused('host ID not found'));
    }
    expect(await body('/index/addhost/', web)).toEqual(added(2));
  });

  test('/index/hostlist/ filters, searches and pages', async () => {
    await api.store.db.client.create({ data: { vkey: 'key-2', remark: 'home' } });
    await body('/index/addhost/', web);
    await body('/index/addhost/', { ...web, client_id: 2, host: 'b.com', remark: 'Second' });
    const second = { ...host, Id: 2, Host: 'b.com', Remark: 'Second', Client: { Id: 2, Remark: 'home', IsConnect: false } };
    expect(await body('/index/hostlist/')).toEqual({ rows: [host, second], total: 2 });
    expect(await body('/index/hostlist/', { client_id: 2 })).toEqual({ rows: [second], total: 1 });
    expect(await body('/index/hostlist/', { search: 'second' })).toEqual({ rows: [second], total: 1 });
    expect(await body('/index/hostlist/', { search: 'B.COM', sort: 'nonsense', order: 'desc' })).toEqual({ rows: [second], total: 1 });
    expect(await body('/index/hostlist/', { limit: 1, offset: 1 })).toEqual({ rows: [second], total: 2 });
    expect(await body('/index/hostlist/', { sort: 'Id', order: 'desc', limit: 1 })).toEqual({ rows: [second], total: 2 });
    expect(await body('/index/hostlist/', { limit: 0 })).toEqual({ rows: [], total: 2 });
    expect(await body('/index/hostlist/', { client_id: 99 })).toEqual({ rows: [], total: 0 });
  });

  test('/index/platformhostavailable/ is a hint that knows the host being edited', async () => {
    const answer = (available: boolean) => ({ status: 1, msg: 'success', available, host: 'app.p.example.com' });
    const { client_id: _, domain_mode: __, scheme: ___, ...asked } = { ...platform, platform_prefix: ' APP ' };
    expect(await body('/index/platformhostavailable/', asked)).toEqual(answer(true));
    await body('/index/addhost/', platform);
    expect(await body('/index/platformhostavailable/', asked)).toEqual(answer(false));
    expect(await body('/index/platformhostavailable/', { ...asked, id: 1 })).toEqual(answer(true));
    expect(await body('/index/platformhostavailable/', { ...asked, id: 2 })).toEqual(answer(false));
    expect(await body('/index/platformhostavailable/', { ...asked, platform_domain_id: '' })).toEqual(refused('domain id empty'));
    expect(await body('/index/platformhostavailable/', { ...asked, platform_domain_id: 'x' })).toEqual(refused('unknown domain'));
    expect(await body('/index/platformhostavailable/', { ...asked, platform_prefix: '-' })).toEqual(refused('bad prefix'));
  });

  describe('/index/hostdiagnose/', () => {
    const ask = (parameters: Parameters) => body('/index/hostdiagnose/', { scheme: 'http', ...parameters });
    const data = (rest: object) => ({ status: 1, msg: 'success', data: { path: '/', scheme: 'http', matched: false, reason: '', ...rest } });

    test('reports which rule matches a request', async () => {
      await api.store.db.client.create({ data: { vkey: 'key-2' } });
      await body('/index/addhost/', { ...web, target: '10.0.0.1:80\n10.0.0.2:80' });
      const rule = {
        id: 1,
        host: 'app.example.com',
        location: '/',
        scheme: 'all',
        remark: 'web',
        client: 'client 1 · office',
        clientId: 1,
        clientRemark: 'office',
        target: '10.0.0.1:80',
        platformManaged: false,
      };
      expect(await ask({ host: 'APP.example.com:8000', path: '/x?y' })).toEqual(data({ host: 'app.example.com', path: '/x?y', matched: true, rule }));
      await body('/index/addhost/', { ...platform, location: '/a', client_id: 2, target: '80' });
      const managed = { id: 2, host: 'app.p.example.com', location: '/a', scheme: 'http', remark: '', target: '127.0.0.1:80', platformManaged: true };
      expect(await ask({ host: 'app.p.example.com', path: '/a/b' })).toEqual(
        data({ host: 'app.p.example.com', path: '/a/b', matched: true, rule: { ...managed, client: 'client 2', clientId: 2, clientRemark: '' } }),
      );
      await body('/index/edithost/', { id: 1, target: '' });
      expect(await ask({ host: 'app.example.com', path: '', scheme: ' https ' })).toEqual(data({
        host: 'app.example.com',
        scheme: 'https',
        matched: true,
        reason: 'the rule matches, but there is no usable target',
        rule: { ...rule, target: '' },
      }));
    });

    test('reports why none matches', async () => {
      await body('/index/addhost/', { ...web, scheme: 'https', location: '/x' });
      expect(await ask({ host: 'b.com' })).toEqual(data({ host: 'b.com', reason: 'no host rule matches' }));
      expect(await ask({ host: 'app.example.com' })).toEqual(data({ host: 'app.example.com', reason: 'the scheme differs from that of the matching rules' }));
      expect(await ask({ host: 'app.example.com', scheme: 'https' })).toEqual(
        data({ host: 'app.example.com', scheme: 'https', reason: 'the path does not match the location of any started rule' }),
      );
      await body('/index/hoststop/', { id: 1 });
      expect(await ask({ host: 'app.example.com' })).toEqual(data({ host: 'app.example.com', reason: 'all matching rules are stopped' }));
    });

    test('leads a GET to the panel', async () => {
      const { status, headers } = await api.signed('/index/hostdiagnose/', {}, { method: 'GET', encoding: 'query' });
      // This API stands alone: the pages are the next handler's.
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect((await api.call('/index/hostdiagnose/', {}, { method: 'GET', encoding: 'query' })).status).toBe(401);
    });
  });
});
