import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { readNpsFolder } from '../../src/migration/nps/folder.ts';
import { npsClient, npsFolder, npsHost, npsText, npsTunnel, npsUser } from '../support/nps-folder.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

afterAll(removeScratchDirectories);

const digest = (digit: string) => digit.repeat(64);

test('each field of a folder is that field of a record, in the form of the schema', () => {
  const folder = npsFolder({
    // What is wrong with keys that an import does not use is no concern of it.
    conf: 'web_port=1\nweb_port=2\nnonsense',
    users: [
      npsUser({
        Id: 4,
        UserName: 'al&amp;ice',
        Password: 'pw &amp; 1',
        Status: false,
        Remark: '&lt;r&gt;',
        MaxClientNum: 41,
        MaxTunnelNum: 42,
        ExpireTime: '2031-01-02 03:04:05',
        CreateTime: '2021-01-02 03:04:05',
      }),
    ],
    clients: [
      npsClient({
        UserId: 4,
        VerifyKey: 'k&amp;2',
        Remark: 'r&amp;2',
        Status: false,
        Cnf: { U: 'u&amp;', P: 'p&amp;', Compress: true, Crypt: false },
        RateLimit: 5,
        MaxConn: 6,
        MaxTunnelNum: 7,
        Flow: { InletFlow: 10, ExportFlow: 20, FlowLimit: 8 },
        WebUserName: 'w&amp;',
        WebPassword: 'wp&amp;',
        BlackIpList: ['1.2.3.4', '1.2.3.5'],
        IpWhite: true,
        IpWhitePass: 'ip&amp;',
        IpWhiteList: ['5.6.7.8'],
        ConfigConnAllow: false,
        ExpireTime: '2032-01-02 03:04:05',
        CreateTime: '2022-01-02 03:04:05',
        LastOnlineTime: '2023-05-06 07:08:09',
        Addr: '203.0.113.9:1234',
        LocalAddr: '192.168.1.2',
        Version: '0.26.10',
      }),
    ],
    tasks: [
      npsTunnel({
        Mode: 'tcp',
        Port: 9001,
        ServerIp: '127.0.0.1',
        Remark: 't&amp;',
        Target: { TargetStr: '10.0.0.1：1\r\n10.0.0.2：2', LocalProxy: true },
        ProtoVersion: 'v1',
        Flow: { InletFlow: 11, ExportFlow: 21 },
      }),
      npsTunnel({ Id: 6, Mode: 'secret', Port: 9002, Status: false, Password: 'pw&amp;6', Target: { TargetStr: '10.0.0.6:1' } }),
      npsTunnel({ Id: 7, Mode: 'file', Port: 9003, LocalPath: '/s&amp;v', StripPre: '/x&amp;', Target: null }),
      npsTunnel({ Id: 8, Mode: 'socks5', Target: null, MultiAccount: { AccountMap: { alice: 'hers', bob: 'two' } } }),
    ],
    hosts: [
      npsHost({
        Host: 'h&amp;.example.com',
        Location: '/a&amp;',
        Scheme: ' HTTPS ',
        Remark: 'h&amp;',
        Target: { TargetStr: '10.0.0.7:1\n10.0.0.8:2', LocalProxy: true },
        HeaderChange: 'X-A: 1&amp;\nX-B: 2',
        HostChange: 'in&amp;ner',
        CertFilePath: 'c.pem',
        KeyFilePath: '/etc/k.pem',
        AutoHttps: true,
        PlatformDomainID: ' p ',
        Flow: { InletFlow: 12, ExportFlow: 22 },
      }),
    ],
    global: {
      BlackIpList: ['9.9.9.9', '8.8.8.8'],
      ServerUrl: 'https://n&amp;.example.net',
      PlatformDomains: [{ ID: ' p ', Wildcard: '*.example.org', CertFilePath: 'pc.pem', KeyFilePath: 'pk.pem' }, { ID: '', Wildcard: '*.example.net' }],
    },
  });
  // Relative paths count from the directory of the program.
  const program = path.dirname(folder);
  for (const name of ['c.pem', 'pc.pem']) writeFileSync(path.join(program, name), '');
  const { set, problems, leftOut, notes, remarks } = readNpsFolder(folder);
  expect(problems).toEqual([]);
  expect(leftOut).toEqual([]);
  expect(notes.map(({ source, text }) => `${source}: ${text}`)).toEqual([
    expect.stringMatching(/^tasks\.json: Id 7: the agent serves its files only/),
    'hosts.json: Id 3: KeyFilePath: there is no file /etc/k.pem: put it there before you start Adit',
    `global.json: PlatformDomains  p : KeyFilePath: there is no file ${program}/pk.pem: put it there before you start Adit`,
  ]);
  expect(remarks).toEqual(['All limits in the records apply.']);
  const at = (year: number, ...more: [number, number, number, number, number]) => new Date(year, ...more).getTime();
  expect([...set.all()]).toEqual([
    {
      kind: 'user',
      source: 'users.json: Id 4',
      id: 4,
      username: 'al&ice',
      password: 'pw &amp; 1',
      enabled: false,
      remark: '<r>',
      maxClients: 41,
      maxTunnels: 42,
      expiresAt: at(2031, 0, 2, 3, 4, 5),
      createdAt: at(2021, 0, 2, 3, 4, 5),
      tokenHash: '',
    },
    {
      kind: 'client',
      source: 'clients.json: Id 2',
      id: 2,
      ownerId: 4,
      verifyKey: 'k&amp;2',
      remark: 'r&2',
      enabled: false,
      basicUser: 'u&',
      basicPassword: 'p&',
      compress: true,
      encrypt: false,
      configAllowed: false,
      rateLimit: 5,
      flowLimit: 8,
      maxConnections: 6,
      maxTunnels: 7,
      webUsername: 'w&',
      webPassword: 'wp&',
      blocklist: ['1.2.3.4', '1.2.3.5'],
      allowlistEnabled: true,
      allowlistPassword: 'ip&',
      allowlist: ['5.6.7.8'],
      expiresAt: at(2032, 0, 2, 3, 4, 5),
      createdAt: at(2022, 0, 2, 3, 4, 5),
      lastOnlineAt: at(2023, 4, 6, 7, 8, 9),
      lastAddress: '203.0.113.9',
      localAddress: '192.168.1.2',
      agentVersion: '0.26.10',
      inletBytes: 10,
      exportBytes: 20,
    },
    {
      kind: 'tunnel',
      source: 'tasks.json: Id 5',
      id: 5,
      clientId: 2,
      mode: 'tcp',
      remark: 't&',
      port: 9001,
      serverIp: '127.0.0.1',
      targets: ['10.0.0.1:1', '10.0.0.2:2'],
      localProxy: true,
      password: '',
      localPath: '',
      stripPrefix: '',
      proxyProtocol: 'V1',
      accounts: [],
      enabled: true,
      inletBytes: 11,
      exportBytes: 21,
    },
    expect.objectContaining({ id: 6, mode: 'secret', port: 0, enabled: false, password: 'pw&amp;6', targets: ['10.0.0.6:1'], localProxy: false }),
    expect.objectContaining({ id: 7, mode: 'file', port: 9003, localPath: '/s&v', stripPrefix: '/x&', targets: [] }),
    expect.objectContaining({
      id: 8,
      mode: 'socks5',
      port: 10_008,
      accounts: [{ user: 'alice', password: 'hers' }, { user: 'bob', password: 'two' }],
      targets: [],
    }),
    {
      kind: 'host',
      source: 'hosts.json: Id 3',
      id: 3,
      clientId: 2,
      host: 'h&.example.com',
      location: '/a&',
      scheme: 'https',
      remark: 'h&',
      targets: ['10.0.0.7:1', '10.0.0.8:2'],
      localProxy: true,
      headers: ['X-A: 1&', 'X-B: 2'],
      hostChange: 'in&ner',
      certificate: `${program}/c.pem`,
      privateKey: '/etc/k.pem',
      autoHttps: true,
      acme: false,
      platformDomainId: 'p',
      enabled: true,
      inletBytes: 12,
      exportBytes: 22,
    },
    {
      kind: 'platformDomain',
      source: 'global.json: PlatformDomains  p ',
      id: 'p',
      wildcard: '*.example.org',
      certificatePath: `${program}/pc.pem`,
      privateKeyPath: `${program}/pk.pem`,
    },
    expect.objectContaining({
      source: 'global.json: PlatformDomains *.example.net',
      id: expect.stringMatching(/./),
      wildcard: '*.example.net',
      certificatePath: '',
    }),
    { kind: 'globalSettings', source: 'global.json', blocklist: ['9.9.9.9', '8.8.8.8'], serverUrl: 'https://n&.example.net' },
  ]);
});

test('fields of the lineage D', () => {
  const folder = npsFolder({
    users: [
      npsUser({ ApiKeyHash: digest('A') }),
      npsUser({ Id: 2, ApiTokenHash: digest('b') }),
      npsUser({ Id: 3, ApiTokenDigest: digest('c') }),
      npsUser({ Id: 4, ApiTokenHash: 'abc', Password: '$argon2id$v=19$x' }),
    ],
    clients: [
      npsClient({ Flow: { InletFlow: 1, ExportFlow: 20, TimeLimit: '2033-01-02T03:04:05Z' }, InletFlow: 10, ExportFlow: 2 }),
      npsClient({ Id: 3, Flow: { TimeLimit: '0001-01-01T00:00:00Z' }, WebUserName: 'w', WebPassword: 'p', WebTotpSecret: 's' }),
      npsClient({ Id: 4, Addr: '::1', WebUserName: 'w', WebPassword: 'pw:JBSWY3DPEHPK3PXPJBSWY3DP' }),
      npsClient({ Id: 5, Addr: 'host:80', WebUserName: 'alone' }),
      npsClient({ Id: 6, UserId: -1, WebPassword: 'alone' }),
      npsClient({ Id: 7, NoDisplay: true }),
    ],
    tasks: [
      npsTunnel({ Target: { TargetStr: '1', ProxyProtocol: 1 } }),
      npsTunnel({ Id: 6, Mode: 'udp', Target: null, TargetAddr: '10.0.0.1:1' }),
      npsTunnel({ Id: 7, Target: { TargetStr: '1', ProxyProtocol: 2 }, WhitelistPass: 'x' }),
      npsTunnel({ Id: 8, ProtoVersion: 'V3', Target: { TargetStr: '1', ProxyProtocol: 1 } }),
      npsTunnel({ Id: 9, Mode: 'mixProxy', Socks5Proxy: true, Target: null, UserAuth: { Content: '' }, MultiAccount: { AccountMap: { a: 'b' } } }),
      npsTunnel({ Id: 10, Mode: 'httpProxy', Target: null, UserAuth: 'a=b' }),
      npsTunnel({ Id: 11, MultiAccount: { AccountMap: { a: 'b' } } }),
      npsTunnel({ Id: 12, Mode: 'p2p', Target: null, Password: 'x' }),
      npsTunnel({ Id: 13, Mode: 'secret', Target: null, Password: 'x' }),
      npsTunnel({ Id: 14, Mode: 'p2p' }),
      npsTunnel({ Id: 15, Mode: 'udp', Target: null }),
      npsTunnel({ Id: 16, Target: null }),
    ],
    hosts: [
      npsHost({ CertFile: '/c.pem', KeyFile: '-----BEGIN PRIVATE KEY-----\n', AutoSSL: true, Scheme: 'http', AutoHttps: true }),
      npsHost({ Id: 4, CertFilePath: '/a.pem', KeyFilePath: '/b.pem', HttpsJustProxy: true, UserAuth: { Content: 'x' } }),
      npsHost({ Id: 5, RespHeaderChange: 'x', PathRewrite: 'x', RedirectURL: 'x', TlsOffload: true, AutoCORS: true, CompatMode: true, TargetIsHttps: true }),
      npsHost({ Id: 6, IsClose: true }),
    ],
  });
  const { set, problems, leftOut, notes } = readNpsFolder(folder);
  expect(problems).toEqual([{ source: 'users.json: Id 4', field: 'ApiTokenHash', text: 'must be a SHA-256 digest in hex' }]);
  expect(leftOut.map(({ source }) => source)).toEqual(['clients.json: Id 7', ...[13, 14, 15, 16].map((id) => `tasks.json: Id ${id}`)]);
  const line = (source: string, text: string) => expect.stringContaining(`${source}: ${text}`);
  expect(notes.map(({ source, text }) => `${source}: ${text}`)).toEqual([
    line('users.json: Id 4', 'the password is stored as a hash'),
    line('clients.json: Id 3', 'the second factor of the web login is not carried over'),
    line('clients.json: Id 4', 'the password of the web login seems to end in the secret'),
    line('clients.json: Id 5', 'the web login has only'),
    line('clients.json: Id 6', 'the web login has only'),
    line('tasks.json: Id 7', 'imported as stopped: its own whitelist'),
    line('tasks.json: Id 8', 'ProtoVersion "V3" means nothing'),
    line('tasks.json: Id 10', 'imported as stopped: it asks visitors for accounts'),
    line('tasks.json: Id 11', 'imported as stopped: it asks visitors for accounts'),
    line('hosts.json: Id 3', 'CertFilePath: there is no file /c.pem'),
    line('hosts.json: Id 4', 'imported as stopped: its own accounts'),
    'hosts.json: Id 5: not carried over, since it has no equivalent: RespHeaderChange, PathRewrite, RedirectURL, TlsOffload, AutoCORS, CompatMode, TargetIsHttps',
  ]);
  expect(set.users.map(({ id, tokenHash }) => [id, tokenHash])).toEqual([[1, digest('a')], [2, digest('b')], [3, digest('c')]]);
  expect(set.clients.map(({ id, ownerId, inletBytes, exportBytes, expiresAt, lastAddress, webUsername, webPassword }) => [
    id,
    ownerId,
    inletBytes,
    exportBytes,
    expiresAt,
    lastAddress,
    webUsername,
    webPassword,
  ])).toEqual([
    [2, 0, 10, 20, Date.UTC(2033, 0, 2, 3, 4, 5), '', '', ''],
    [3, 0, 0, 0, null, '', 'w', 'p'],
    [4, 0, 0, 0, null, '::1', 'w', 'pw:JBSWY3DPEHPK3PXPJBSWY3DP'],
    [5, 0, 0, 0, null, 'host', '', ''],
    [6, 0, 0, 0, null, '', '', ''],
  ]);
  expect(set.tunnels.map(({ id, mode, targets, proxyProtocol, accounts, enabled }) => [id, mode, targets, proxyProtocol, accounts.length, enabled])).toEqual([
    [5, 'tcp', ['1'], 'V1', 0, true],
    [6, 'udp', ['10.0.0.1:1'], '', 0, true],
    [7, 'tcp', ['1'], 'V2', 0, false],
    [8, 'tcp', ['1'], '', 0, true],
    [9, 'socks5', [], '', 1, true],
    [10, 'httpProxy', [], '', 0, false],
    [11, 'tcp', ['127.0.0.1:22'], '', 0, false],
    [12, 'p2p', [], '', 0, true],
  ]);
  expect(set.hosts.map(({ id, certificate, privateKey, acme, autoHttps, enabled }) => [id, certificate, privateKey, acme, autoHttps, enabled])).toEqual([
    [3, '/c.pem', '-----BEGIN PRIVATE KEY-----\n', true, false, true],
    [4, '', '', false, false, false],
    [5, '', '', false, false, true],
    [6, '', '', false, false, false],
  ]);
});

test('a number or a time that cannot be is a problem of its field', () => {
  const high = 2 ** 31;
  const bytes = { InletFlow: -1, ExportFlow: -1 };
  const folder = npsFolder({
    users: [npsUser({ Id: 0, MaxClientNum: high, MaxTunnelNum: high, ExpireTime: 'a', CreateTime: 'b' })],
    clients: [
      npsClient({
        RateLimit: high,
        Flow: { FlowLimit: high, TimeLimit: 'c', ...bytes },
        ...bytes,
        MaxConn: high,
        MaxTunnelNum: high,
        CreateTime: 'd',
        LastOnlineTime: 'e',
      }),
      npsClient({ Id: 3, ExpireTime: 'f' }),
      npsClient({ Id: 4, RateLimit: high - 1, Flow: { FlowLimit: -5 }, MaxConn: -1, MaxTunnelNum: high - 1 }),
    ],
    tasks: [npsTunnel({ Flow: bytes }), npsTunnel({ Id: -1 })],
    hosts: [npsHost({ Flow: bytes }), npsHost({ Id: 0 })],
  });
  const { problems, set } = readNpsFolder(folder);
  const most = `must be at most ${high - 1}`;
  const noTime = (text: string) => `"${text}" is not a time such as 2026-12-31 23:59:59`;
  expect(problems.map(({ source, field, text }) => `${source} ${field}: ${text}`)).toEqual([
    'users.json: Id 0 Id: must be at least 1',
    `users.json: Id 0 MaxClientNum: ${most}`,
    `users.json: Id 0 MaxTunnelNum: ${most}`,
    `users.json: Id 0 ExpireTime: ${noTime('a')}`,
    `users.json: Id 0 CreateTime: ${noTime('b')}`,
    `clients.json: Id 2 RateLimit: ${most}`,
    `clients.json: Id 2 Flow.FlowLimit: ${most}`,
    `clients.json: Id 2 MaxConn: ${most}`,
    `clients.json: Id 2 MaxTunnelNum: ${most}`,
    `clients.json: Id 2 Flow.TimeLimit: ${noTime('c')}`,
    `clients.json: Id 2 CreateTime: ${noTime('d')}`,
    `clients.json: Id 2 LastOnlineTime: ${noTime('e')}`,
    'clients.json: Id 2 Flow.InletFlow: must not be negative',
    'clients.json: Id 2 Flow.ExportFlow: must not be negative',
    `clients.json: Id 3 ExpireTime: ${noTime('f')}`,
    'tasks.json: Id 5 Flow.InletFlow: must not be negative',
    'tasks.json: Id 5 Flow.ExportFlow: must not be negative',
    'tasks.json: Id -1 Id: must be at least 1',
    'hosts.json: Id 3 Flow.InletFlow: must not be negative',
    'hosts.json: Id 3 Flow.ExportFlow: must not be negative',
    'hosts.json: Id 0 Id: must be at least 1',
  ]);
  expect(set.clients).toMatchObject([{ id: 4, rateLimit: high - 1, flowLimit: 0, maxConnections: 0, maxTunnels: high - 1 }]);
  // Their ids are used up.
  expect(set.leftOut).toEqual({ user: new Set(), client: new Set([2, 3]), tunnel: new Set([5]), host: new Set([3]) });
});

test('a record that cannot be read uses up its id, as far as that can be read', () => {
  const users = '{"Id":4,"UserName":"a","UserName":"b"}\n*#*{"Id": 5,\n*#*{"Id":2147483648,}\n*#*{"Id":6';
  // The id of its client comes before its own.
  const tasks = '{"Client":{"Id":9},"Id":7,}\n*#*';
  expect(readNpsFolder(npsFolder({ users, tasks })).set.leftOut).toMatchObject({ user: new Set([4, 5, 6]), tunnel: new Set([7]) });
});

test('each limit applies unless nps.conf switches it off', () => {
  const clients = [npsClient({ RateLimit: 5, MaxConn: 6, MaxTunnelNum: 7, Flow: { FlowLimit: 8 } })];
  const keys = {
    allow_rate_limit: 'rateLimit',
    allow_connection_num_limit: 'maxConnections',
    allow_tunnel_num_limit: 'maxTunnels',
    allow_flow_limit: 'flowLimit',
  };
  const on = { rateLimit: 5, maxConnections: 6, maxTunnels: 7, flowLimit: 8 };
  for (const [key, field] of Object.entries(keys)) {
    for (const off of ['false', '0', 'F', 'no', 'off']) {
      const { set, notes, remarks } = readNpsFolder(npsFolder({ clients, conf: `${key}=${off}` }));
      expect(set.clients).toMatchObject([{ ...on, [field]: 0 }]);
      expect(notes).toEqual([{ source: 'clients.json: Id 2', text: expect.stringContaining(`${key} is false in nps.conf`) }]);
      expect(remarks).toEqual([`nps.conf switches limits off (${key}): they are imported as unlimited.`]);
    }
    expect(readNpsFolder(npsFolder({ clients, conf: `${key}=true` })).set.clients).toMatchObject([on]);
  }
});

test('each sign of a health check is named, of tunnels and hosts', () => {
  const signs = [{ HealthCheckInterval: 5 }, { HealthCheckType: 'tcp' }, { HealthCheckTarget: '127.0.0.1:1' }];
  const others = { HealthCheckTimeout: 3, HealthMaxFail: 3, HttpHealthUrl: '/' };
  const tasks = [others, ...signs].map((sign, at) => npsTunnel({ Id: 5 + at, ...sign }));
  const hosts = [others, ...signs].map((sign, at) => npsHost({ Id: 5 + at, ...sign }));
  const { notes } = readNpsFolder(npsFolder({ clients: [npsClient()], tasks, hosts }));
  const health = (name: string) =>
    [6, 7, 8].map((id) => ({ source: `${name}.json: Id ${id}`, text: expect.stringMatching(/^its health check is not carried/) }));
  expect(notes).toEqual([...health('tasks'), ...health('hosts')]);
});

test('what agents declare, what belongs to the hidden client, and what NPS does not load is left out, of tunnels and hosts; their ids are used up', () => {
  const signs = [{}, { NoStore: true }, { Client: { Id: 0 } }, { Client: { Id: -1 } }, { Target: null }];
  const tasks = signs.map((sign, at) => npsTunnel({ Id: 5 + at, ...sign }));
  const hosts = signs.map((sign, at) => npsHost({ Id: 5 + at, ...sign }));
  const { set, problems, leftOut } = readNpsFolder(npsFolder({ clients: [npsClient()], tasks, hosts }));
  const reasons = [/^comes from an agent/, /^belongs to the hidden client/, /^belongs to the hidden client/, /^has no Target/];
  const named = (name: string) => reasons.map((reason, at) => ({ source: `${name}.json: Id ${6 + at}`, text: expect.stringMatching(reason) }));
  expect([problems, leftOut]).toEqual([[], [...named('tasks'), ...named('hosts')]]);
  expect([set.tunnels.map(({ id }) => id), set.hosts.map(({ id }) => id)]).toEqual([[5], [5]]);
  expect(set.leftOut).toMatchObject({ tunnel: new Set([6, 7, 8, 9]), host: new Set([6, 7, 8, 9]) });
});

test('objects may be 32 deep inside each other', () => {
  const nested = (depth: number) => npsUser({ More: JSON.parse('{"a":'.repeat(depth - 1) + '1' + '}'.repeat(depth - 1)) });
  const { set, problems } = readNpsFolder(npsFolder({ users: [nested(32), { ...nested(33), Id: 2 }] }));
  expect(set.users.map(({ id }) => id)).toEqual([1]);
  expect(problems).toEqual([{ source: 'users.json: Id 2', field: expect.stringMatching(/^More\.a\.a/), text: 'is more than 32 levels deep' }]);
});

test('what is the hash of a password is none, and what may be a password stays', () => {
  const hashes = ['$2a$10$x', '$2b$10$x', '$2y$x', '$argon2i$v', '$scrypt$ln', '$pbkdf2-sha256$1', '$5$salt$x', '$6$salt$x', '{SSHA}x', '{SHA512}x'];
  const passwords = ['$2c$10$x', '$5', '$money$', '{ssha}x', '{}x', 'a$6$salt$x', ''];
  const users = [...hashes, ...passwords].map((Password, at) => npsUser({ Id: 1 + at, UserName: `user ${at}`, Password }));
  const { set, notes } = readNpsFolder(npsFolder({ users }));
  expect(set.users.map(({ password }) => password)).toEqual([...hashes.map(() => ''), ...passwords]);
  expect(notes.map(({ text }) => text)).toEqual([
    ...hashes.map(() => expect.stringMatching(/^the password is stored as a hash/)),
    expect.stringMatching(/^has no password/),
  ]);
});

test('what NPS skips is left out, and writes that never finished are named', () => {
  const folder = npsFolder({ users: `null\n*#*${npsText([npsUser({ Id: 2 })])}\n\n*#*`, global: ' null ' });
  for (const name of ['users.json', 'hosts.json', 'global.json', 'nps.conf']) writeFileSync(path.join(folder, `${name}.tmp`), '{');
  const { set, problems, leftOut, remarks } = readNpsFolder(folder);
  expect([problems, set.users.map(({ id }) => id)]).toEqual([[], [2]]);
  expect(leftOut).toEqual([{ source: 'users.json: record 1', text: 'is null: NPS skips it, too' }]);
  expect(remarks.filter((remark) => remark.includes('.tmp')).toSorted()).toEqual(
    ['global.json', 'hosts.json', 'nps.conf', 'users.json'].map((name) => `${name}.tmp is a write that never finished: it is not read.`),
  );
  writeFileSync(path.join(folder, 'global.json'), ' \n');
  expect(readNpsFolder(folder).problems).toEqual([]);
});

test('a separator may be anywhere, also where one part of the file ends that is read at once', () => {
  const megabyte = 1024 * 1024;
  for (let cut = 0; cut <= 4; cut++) {
    const first = npsText([npsUser({ Id: 1, Remark: 'REMARK' })]);
    // The first one ends some bytes behind a megabyte.
    const users = first.replace('REMARK', 'x'.repeat(megabyte + cut - first.length + 'REMARK'.length)) + npsText([npsUser({ Id: 2 }), npsUser({ Id: 3 })]);
    const { set, problems } = readNpsFolder(npsFolder({ users }));
    expect([cut, problems, set.users.map(({ id }) => id)]).toEqual([cut, [], [1, 2, 3]]);
  }
});
