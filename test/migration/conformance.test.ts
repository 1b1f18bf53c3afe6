import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Api, testApis } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { importFolder, npsClient, npsFolder, npsHost, type NpsRecord, npsTunnel, npsUser } from '../support/nps-folder.ts';

/*
 * What callers see of an imported folder, field by field. The expected values are those of the old server, derived from the folder by the rules of its data
 * format: `same` = the value of the file. Where a decision of the contract changes a value, the table cites it.
 */

const apis = testApis(testDatabases('sqlite'));

const users = [
  npsUser({ Id: 4, UserName: 'alice', Remark: 'a', MaxClientNum: 3, MaxTunnelNum: 4, ExpireTime: '2099-12-31 23:59:59' }),
  npsUser({ Id: 9, Status: false }),
];
const clients = [
  npsClient({
    UserId: 4,
    VerifyKey: 'k2',
    Remark: 'Büro',
    Cnf: { U: 'u', P: 'p', Compress: true, Crypt: true },
    RateLimit: 5,
    MaxConn: 6,
    MaxTunnelNum: 7,
    Flow: { InletFlow: 10, ExportFlow: 20, FlowLimit: 30 },
    WebUserName: 'web',
    WebPassword: 'secret',
    BlackIpList: ['1.2.3.4', '5.6.7.8'],
    IpWhite: true,
    IpWhitePass: 'open',
    IpWhiteList: ['9.9.9.9'],
    ExpireTime: '2098-01-02 03:04:05',
    LastOnlineTime: '2024-05-06 07:08:09',
    Addr: '203.0.113.9',
    LocalAddr: '192.168.1.2',
    Version: '0.26.10',
  }),
  npsClient({ Id: 7, Status: false, ConfigConnAllow: false }),
];
const tunnels = [
  npsTunnel({ Flow: { InletFlow: 1, ExportFlow: 2, FlowLimit: 0 }, Remark: 'ssh', ServerIp: '127.0.0.1', ProtoVersion: 'V1' }),
  npsTunnel({ Id: 11, Mode: 'udp', Status: false, RunStatus: false, Client: { Id: 7 } }),
  npsTunnel({ Id: 12, Mode: 'secret', Password: 'key', Port: 0 }),
  npsTunnel({ Id: 13, Mode: 'file', LocalPath: '/srv', StripPre: '/x', Target: { TargetStr: '', TargetArr: null, LocalProxy: false } }),
  npsTunnel({ Id: 14, Mode: 'httpProxy', Target: { TargetStr: '', TargetArr: null, LocalProxy: false }, MultiAccount: { AccountMap: { alice: 'hers' } } }),
];
const hosts = [
  npsHost({ HeaderChange: 'X-A: 1', HostChange: 'inner', Location: '/a', Scheme: 'http', Remark: 'r', Flow: { InletFlow: 3, ExportFlow: 4, FlowLimit: 0 } }),
  npsHost({ Id: 8, IsClose: true, AutoHttps: true, CertFilePath: '/c.pem', KeyFilePath: '/k.pem', Client: { Id: 7 } }),
];
const global = { BlackIpList: ['6.6.6.6'], ServerUrl: 'https://nps.example.net', PlatformDomains: [] };

type Rule = 'same' | ((record: NpsRecord) => unknown);
type Table = Readonly<Record<string, Rule>>;

const owner = (client: NpsRecord) => users.find(({ Id }) => Id === client['UserId']);
const clientOf = (record: NpsRecord) => clients.find(({ Id }) => Id === z.object({ Id: z.number() }).parse(record['Client']).Id) ?? {};
const orZero = (field: string, zero: unknown): Rule => (record) => record[field] ?? zero;
const target: Rule = (record) => {
  const { TargetStr, LocalProxy } = z.object({ TargetStr: z.string(), LocalProxy: z.boolean() }).parse(record['Target']);
  return { TargetStr, TargetArr: TargetStr === '' ? [] : TargetStr.split('\n'), LocalProxy };
};

const userTable: Table = {
  Id: 'same',
  UserName: 'same',
  Password: () => '', // D16
  Status: 'same',
  Remark: 'same',
  ClientCount: (user) => clients.filter(({ UserId }) => UserId === user['Id']).length,
  TunnelCount: (user) => [...tunnels, ...hosts].filter((record) => clientOf(record)['UserId'] === user['Id']).length,
  MaxClientNum: 'same',
  MaxTunnelNum: 'same',
  ExpireTime: 'same',
  CreateTime: 'same',
};

const clientTable: Table = {
  Id: 'same',
  UserId: orZero('UserId', 0),
  UserName: (client) => owner(client)?.['UserName'] ?? '',
  VerifyKey: 'same',
  Addr: 'same',
  LocalAddr: orZero('LocalAddr', ''),
  Remark: 'same',
  Status: 'same',
  IsConnect: () => false,
  RateLimit: 'same',
  Flow: 'same',
  Rate: () => ({ NowRate: 0 }),
  NoStore: 'same',
  NoDisplay: 'same',
  MaxConn: 'same',
  NowConn: () => 0,
  ConfigConnAllow: 'same',
  MaxTunnelNum: 'same',
  Version: orZero('Version', ''),
  BlackIpList: 'same',
  IpWhite: orZero('IpWhite', false),
  IpWhitePass: () => '', // D16
  IpWhiteList: orZero('IpWhiteList', []), // D22
  CreateTime: 'same',
  LastOnlineTime: orZero('LastOnlineTime', ''),
  ExpireTime: orZero('ExpireTime', ''),
  UserExpireTime: (client) => owner(client)?.['ExpireTime'] ?? '',
  EffectiveExpireTime: orZero('ExpireTime', ''), // earlier than the owner's here
  Cnf: (client) => ({ ...z.record(z.string(), z.unknown()).parse(client['Cnf']), P: '' }), // D16
  WebUserName: 'same',
  WebPassword: () => '', // D16
};

const tunnelTable: Table = {
  Id: 'same',
  Port: 'same',
  ServerIp: 'same',
  Mode: 'same',
  Status: 'same',
  RunStatus: () => false, // there are no listeners in this test
  Client: (tunnel) => expected(clientTable, clientOf(tunnel)),
  Ports: 'same',
  Flow: 'same',
  Password: 'same',
  Remark: 'same',
  TargetAddr: 'same',
  NoStore: 'same',
  LocalPath: 'same',
  StripPre: 'same',
  ProtoVersion: orZero('ProtoVersion', ''),
  Target: target,
  MultiAccount: (tunnel) => tunnel['MultiAccount'] === null ? null : { AccountMap: { alice: '' } }, // D16
  HealthCheckTimeout: 'same',
  HealthMaxFail: 'same',
  HealthCheckInterval: 'same',
  HealthNextTime: 'same',
  HealthMap: 'same',
  HttpHealthUrl: 'same',
  HealthRemoveArr: 'same',
  HealthCheckType: 'same',
  HealthCheckTarget: 'same',
};

const hostTable: Table = {
  Id: 'same',
  Host: 'same',
  PlatformDomainID: orZero('PlatformDomainID', ''),
  PlatformManaged: () => false,
  HeaderChange: 'same',
  HostChange: 'same',
  Location: 'same',
  Remark: 'same',
  Scheme: 'same',
  CertFilePath: 'same',
  KeyFilePath: 'same',
  NoStore: 'same',
  IsClose: 'same',
  AutoHttps: 'same',
  Flow: 'same',
  Client: (host) => ({ Id: clientOf(host)['Id'], Remark: clientOf(host)['Remark'], IsConnect: false }),
  Target: target,
};

function expected(table: Table, record: NpsRecord): NpsRecord {
  return Object.fromEntries(Object.entries(table).map(([field, rule]) => [field, rule === 'same' ? record[field] : rule(record)]));
}

const listed = z.object({ rows: z.array(z.record(z.string(), z.unknown())), total: z.number() });
const single = z.object({ code: z.literal(1), data: z.record(z.string(), z.unknown()) });

const resources: ReadonlyArray<
  readonly [name: string, records: readonly NpsRecord[], table: Table, list: string, get: string | undefined, edit: string, success: string]
> = [
  ['users', users, userTable, '/user/list/', undefined, '/user/edit/', 'save success'],
  ['clients', clients, clientTable, '/client/list/', '/client/getclient/', '/client/edit/', 'save success'],
  ['tunnels', tunnels, tunnelTable, '/index/gettunnel/', '/index/getonetunnel/', '/index/edit/', 'modified success'],
  ['hosts', hosts, hostTable, '/index/hostlist/', '/index/gethost/', '/index/edithost/', 'modified success'],
];

async function imported(): Promise<Api> {
  const api = await apis.start();
  const report = await importFolder(api.store, npsFolder({ users, clients, tasks: tunnels, hosts, global }));
  expect(report.outcome).toBe('done');
  return api;
}

test.each(resources)('%s: list, get and edit answer what the old server answered, in every field', async (name, records, table, list, get, edit, success) => {
  const api = await imported();
  const { rows, total } = listed.parse((await api.signed(list, { limit: 100 })).body);
  expect(total).toBe(records.length);
  // Rows of clients also have what is the same for all (D2).
  const fields = Object.keys(table);
  expect(rows.map((row) => Object.fromEntries(Object.entries(row).filter(([field]) => fields.includes(field))))).toEqual(
    records.map((record) => expected(table, record)),
  );
  if (name !== 'clients') expect(Object.keys(rows[0] ?? {}).toSorted()).toEqual(fields.toSorted());
  for (const record of records) {
    const id = z.number().parse(record['Id']);
    if (get !== undefined) expect(single.parse((await api.signed(get, { id })).body).data).toEqual(expected(table, record));
    expect((await api.signed(edit, { id, remark: 'changed' })).body).toEqual({ status: 1, msg: success });
    const changed = { ...record, Remark: 'changed' };
    const found = get === undefined
      ? listed.parse((await api.signed(list, { limit: 100 })).body).rows.find(({ Id }) => Id === id)
      : single.parse((await api.signed(get, { id })).body).data;
    // An edit of a remark changes nothing else. The engine of this test counts from 0, and has listeners for tunnels that are changed.
    const settings = (of: NpsRecord) =>
      Object.fromEntries(Object.entries(of).filter(([field]) => fields.includes(field) && field !== 'RunStatus' && field !== 'Flow'));
    expect(settings(found ?? {})).toEqual(settings(expected(table, changed)));
  }
});

test('the global settings answer what the old server had', async () => {
  const api = await imported();
  expect((await api.signed('/global/index/')).body).toMatchObject({
    status: 1,
    globalBlackIpList: '6.6.6.6',
    serverUrl: 'https://nps.example.net',
    platform_domains: [],
  });
});
