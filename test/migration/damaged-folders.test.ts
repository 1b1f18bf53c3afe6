import { expect, test } from '@jest/globals';
import { testDatabases } from '../support/database.ts';
import { isShort } from '../support/endurance.ts';
import { everything, importFolder, type NpsFiles, npsClient, npsFolder, npsHost, npsText, npsTunnel, npsUser } from '../support/nps-folder.ts';

const databases = testDatabases('sqlite');

/** A folder in which nothing is wrong. */
const sound = {
  clients: [npsClient()],
  tasks: [npsTunnel()],
  hosts: [npsHost()],
  users: [npsUser()],
  global: { BlackIpList: [], ServerUrl: '', PlatformDomains: [] },
};
const text = (records: ReadonlyArray<Readonly<Record<string, unknown>>>) => npsText(records);
const latin1 = (before: string) => Buffer.from(before.replace('REMARK', 'caf\u00E9'), 'latin1');

/** What is wrong with a folder, and the file, record and field that the import names. */
const damages: ReadonlyArray<readonly [damage: string, files: NpsFiles, source: string, field: string, text: RegExp]> = [
  ['a file that ends in a record', { clients: text([npsClient(), npsClient({ Id: 3 })]).slice(0, -60) }, 'clients.json: Id 3', '', /truncated/],
  ['a file that ends before a separator', { tasks: text([npsTunnel()]).slice(0, -4) }, 'tasks.json: Id 5', '', /truncated/],
  ['a file that ends in a separator', { hosts: text([npsHost()]).slice(0, -1) }, 'hosts.json: Id 3', '', /truncated/],
  ['a byte order mark', { clients: `\uFEFF${text([npsClient()])}` }, 'clients.json', '', /byte order mark/],
  ['a byte order mark in global.json', { global: '\uFEFF{}' }, 'global.json', '', /byte order mark/],
  ['a byte order mark in nps.conf', { conf: '\uFEFFweb_port=8080' }, 'nps.conf', '', /byte order mark/],
  ['UTF-16', { users: Buffer.from(`\uFEFF${text([npsUser()])}`, 'utf16le') }, 'users.json', '', /UTF-16/],
  ['UTF-16 with the high bytes first', { users: Buffer.from(`\uFEFF${text([npsUser()])}`, 'utf16le').swap16() }, 'users.json', '', /UTF-16/],
  ['UTF-16 without a mark', { users: Buffer.from(text([npsUser()]), 'utf16le') }, 'users.json', '', /NUL/],
  ['Latin-1', { clients: latin1(text([npsClient({ Id: 7, Remark: 'REMARK' })])) }, 'clients.json: Id 7', '', /UTF-8 \(Remark\)/],
  ['the same switch twice in nps.conf', { conf: 'allow_flow_limit=true\nallow_flow_limit=false' }, 'nps.conf', '', /line 2: allow_flow_limit .*second time/],
  ['Latin-1 in nps.conf', { conf: Buffer.from('web_username=caf\u00E9', 'latin1') }, 'nps.conf', '', /UTF-8/],
  ['a JSON array', { tasks: JSON.stringify([npsTunnel()]) }, 'tasks.json', '', /array/],
  ['a record that is not JSON', { hosts: '{"Id": 4, "Host": }\n*#*' }, 'hosts.json: Id 4', '', /not JSON/],
  ['a record that is no object', { users: '"alice"\n*#*' }, 'users.json: record 1', '', /object/],
  ['global.json that is not JSON', { global: '{"ServerUrl":' }, 'global.json', '', /not JSON/],
  ['global.json that is a list', { global: '[1]' }, 'global.json', '', /object/],
  ['the same key twice', { clients: '{"Id":4,"VerifyKey":"a","VerifyKey":"b"}\n*#*' }, 'clients.json: Id 4', 'VerifyKey', /twice/],
  ['the same key twice in an object', { clients: '{"Id":4,"VerifyKey":"a","Cnf":{"U":"a","U":"b"}}\n*#*' }, 'clients.json: Id 4', 'Cnf.U', /twice/],
  ['the same id twice', { clients: [npsClient(), npsClient({ VerifyKey: 'other' })] }, 'clients.json: Id 2', 'Id', /occurs twice: record 2 and record 1/],
  ['the same verify key twice', { clients: [npsClient(), npsClient({ Id: 3, VerifyKey: 'key2' })] }, 'clients.json: Id 3', 'VerifyKey', /clients\.json: Id 2/],
  ['the same user name twice', { users: [npsUser(), npsUser({ Id: 2, UserName: 'user1' })] }, 'users.json: Id 2', 'UserName', /users\.json: Id 1/],
  ['the name of the administrator', { users: [npsUser({ UserName: 'admin' })] }, 'users.json: Id 1', 'UserName', /duplicate/],
  ['an empty user name', { users: [npsUser({ UserName: ' ' })] }, 'users.json: Id 1', 'UserName', /empty/],
  ['the same port twice', { tasks: [npsTunnel(), npsTunnel({ Id: 6, Port: 10_005 })] }, 'tasks.json: Id 6', 'Port', /tasks\.json: Id 5/],
  ['the port of the server', { tasks: [npsTunnel({ Port: 8024 })] }, 'tasks.json: Id 5', 'Port', /the server itself/],
  [
    'the same visitor password twice',
    {
      tasks: [npsTunnel({ Mode: 'secret', Password: 'x' }), npsTunnel({ Id: 6, Mode: 'p2p', Password: 'x' })],
    },
    'tasks.json: Id 6',
    'Password',
    /tasks\.json: Id 5/,
  ],
  ['a tunnel of a client that does not exist', { tasks: [npsTunnel({ Client: { Id: 99 } })] }, 'tasks.json: Id 5', 'Client.Id', /client 99/],
  ['a host of a client that does not exist', { hosts: [npsHost({ Client: { Id: 99 } })] }, 'hosts.json: Id 3', 'Client.Id', /client 99/],
  ['a tunnel without a client', { tasks: [npsTunnel({ Client: null })] }, 'tasks.json: Id 5', 'Client', /object/],
  ['a host of a platform domain that does not exist', { hosts: [npsHost({ PlatformDomainID: 'gone' })] }, 'hosts.json: Id 3', 'PlatformDomainID', /gone/],
  ['a text where a number belongs', { tasks: [npsTunnel({ Port: '9001' })] }, 'tasks.json: Id 5', 'Port', /whole number/],
  ['a number where a text belongs', { clients: [npsClient({ Remark: 5 })] }, 'clients.json: Id 2', 'Remark', /text/],
  ['a text where a switch belongs', { clients: [npsClient({ Status: 'true' })] }, 'clients.json: Id 2', 'Status', /true or false/],
  ['a text where a list belongs', { clients: [npsClient({ BlackIpList: '1.2.3.4' })] }, 'clients.json: Id 2', 'BlackIpList', /list/],
  ['a list where an object belongs', { clients: [npsClient({ Flow: [] })] }, 'clients.json: Id 2', 'Flow', /object/],
  ['a fraction', { clients: [npsClient({ MaxConn: 1.5 })] }, 'clients.json: Id 2', 'MaxConn', /whole number/],
  ['a number above 2^53', { clients: '{"Id":4,"VerifyKey":"a","Flow":{"InletFlow":9007199254740993}}\n*#*' }, 'clients.json: Id 4', 'Flow.InletFlow', /2\^53/],
  ['a counter below zero', { tasks: [npsTunnel({ Flow: { InletFlow: -1 } })] }, 'tasks.json: Id 5', 'Flow.InletFlow', /negative/],
  ['a limit beyond what fits', { clients: [npsClient({ RateLimit: 2 ** 40 })] }, 'clients.json: Id 2', 'RateLimit', /at most/],
  ['an id beyond what fits', { clients: [npsClient({ Id: 2 ** 31 })] }, 'clients.json: Id 2147483648', 'Id', /2\^31/],
  ['a record without an id', { users: [npsUser({ Id: undefined, UserName: 'a' })] }, 'users.json: record 1', 'Id', /whole number/],
  ['a port beyond 65535', { tasks: [npsTunnel({ Port: 70_000 })] }, 'tasks.json: Id 5', 'Port', /port/],
  ['an unknown tunnel type', { tasks: [npsTunnel({ Mode: 'kcp' })] }, 'tasks.json: Id 5', 'Mode', /kcp/],
  ['a target without a port', { tasks: [npsTunnel({ Target: { TargetStr: '10.0.0.1:80\noffice' } })] }, 'tasks.json: Id 5', 'Target.TargetStr', /office/],
  ['an address to listen on that is none', { tasks: [npsTunnel({ ServerIp: 'eth0' })] }, 'tasks.json: Id 5', 'ServerIp', /IP address/],
  ['a host name that is none', { hosts: [npsHost({ Host: 'a..b' })] }, 'hosts.json: Id 3', 'Host', /invalid host/],
  ['an unknown scheme', { hosts: [npsHost({ Scheme: 'ftp' })] }, 'hosts.json: Id 3', 'Scheme', /http/],
  ['a header that could smuggle a request', { hosts: [npsHost({ HeaderChange: 'X-A: 1\nnonsense' })] }, 'hosts.json: Id 3', 'HeaderChange', /Name: value/],
  ['a path that no request can have', { hosts: [npsHost({ Location: '/a b' })] }, 'hosts.json: Id 3', 'Location', /blank/],
  ['two hosts at one address', { hosts: [npsHost(), npsHost({ Id: 4, Host: 'H3.example.com' })] }, 'hosts.json: Id 4', 'Host', /hosts\.json: Id 3/],
  [
    'hosts of different owners that overlap',
    {
      clients: [npsClient(), npsClient({ Id: 3 })],
      hosts: [npsHost(), npsHost({ Id: 4, Host: '*.example.com', Client: { Id: 3 } })],
    },
    'hosts.json: Id 4',
    'Host',
    /overlaps hosts\.json: Id 3/,
  ],
  ['a time that is none', { clients: [npsClient({ ExpireTime: 'tomorrow' })] }, 'clients.json: Id 2', 'ExpireTime', /tomorrow/],
  ['a remark that is too long', { clients: [npsClient({ Remark: 'x'.repeat(256) })] }, 'clients.json: Id 2', 'Remark', /255/],
  ['a server address that is too long', { global: { ServerUrl: 'x'.repeat(256) } }, 'global.json', 'ServerUrl', /255/],
  ['a NUL character', { clients: [npsClient({ Remark: 'a\0b' })] }, 'clients.json: Id 2', 'Remark', /NUL/],
  [
    'an account without a name',
    { tasks: [npsTunnel({ Mode: 'socks5', MultiAccount: { AccountMap: { '': 'x' } } })] },
    'tasks.json: Id 5',
    'MultiAccount.AccountMap',
    /empty/,
  ],
  [
    'accounts that are a list',
    { tasks: [npsTunnel({ Mode: 'socks5', MultiAccount: { AccountMap: ['x'] } })] },
    'tasks.json: Id 5',
    'MultiAccount.AccountMap.0',
    /expected tuple/,
  ],
  [
    'platform domains that overlap',
    {
      global: { PlatformDomains: [{ ID: 'a', Wildcard: '*.example.org' }, { ID: 'b', Wildcard: '*.x.example.org' }] },
    },
    'global.json: PlatformDomains b',
    'Wildcard',
    /overlaps/,
  ],
  [
    'a platform domain with half a certificate',
    {
      global: { PlatformDomains: [{ ID: 'a', Wildcard: '*.example.org', CertFilePath: '/a.pem' }] },
    },
    'global.json: PlatformDomains a',
    'KeyFilePath',
    /both or none/,
  ],
];

test('there are at least 40 kinds of damage', () => {
  expect(damages.length).toBeGreaterThanOrEqual(40);
});

// In a long form, the next test has all of it.
if (isShort) {
  test('a dry run names each kind of damage by file, record and field', async () => {
    const store = await databases.openEmpty();
    for (const [damage, files, source, field, reason] of damages) {
      const { problems, outcome } = await importFolder(store, npsFolder({ ...sound, ...files }), { dryRun: true });
      expect([damage, problems]).toEqual([damage, expect.arrayContaining([{ source, field, text: expect.stringMatching(reason) }])]);
      expect([damage, outcome]).toEqual([damage, 'refused']);
    }
  });
}

test.each(isShort ? damages.filter((_damage, at) => at % 4 === 0) : damages)(
  '%s: the import names file, record and field, and writes nothing; it can leave the record out',
  async (_damage, files, source, field, reason) => {
    const store = await databases.openEmpty();
    const before = await everything(store);
    const folder = npsFolder({ ...sound, ...files });
    const report = await importFolder(store, folder);
    expect(report.outcome).toBe('refused');
    expect(report.problems).toContainEqual({ source, field, text: expect.stringMatching(reason) });
    expect(await everything(store)).toEqual(before);

    const skipped = await importFolder(store, folder, { skipBroken: true });
    expect(skipped.outcome).toBe('done');
    expect(skipped.problems).toEqual(report.problems);
  },
);

test('all problems of all files are listed at once, and records that depend on a broken one are problems, too', async () => {
  const store = await databases.openEmpty();
  const folder = npsFolder({
    clients: [npsClient({ Remark: 5, Status: 'no' }), npsClient({ Id: 3 })],
    tasks: [npsTunnel(), npsTunnel({ Id: 6, Client: { Id: 3 } })],
    hosts: [npsHost(), npsHost({ Id: 4, Host: '..' })],
    users: '{}\n*#*',
  });
  const { problems } = await importFolder(store, folder);
  expect(problems.map(({ source, field }) => `${source} ${field}`).toSorted()).toEqual([
    'clients.json: Id 2 Remark',
    'clients.json: Id 2 Status',
    'hosts.json: Id 3 Client.Id',
    'hosts.json: Id 4 Client.Id',
    'hosts.json: Id 4 Host',
    'tasks.json: Id 5 Client.Id',
    'users.json: record 1 Id',
  ]);
  await importFolder(store, folder, { skipBroken: true });
  expect(await store.db.client.findMany({ select: { id: true } })).toEqual([{ id: 3 }]);
  expect(await store.db.tunnel.findMany({ select: { id: true } })).toEqual([{ id: 6 }]);
  expect(await store.db.host.count()).toBe(0);
});

test('a folder that is none is named', async () => {
  const store = await databases.openEmpty();
  expect((await importFolder(store, '/no/such/folder')).problems).toEqual([{
    source: '/no/such/folder',
    field: '',
    text: '/no/such/folder is not a directory',
  }]);
  const empty = npsFolder({});
  expect((await importFolder(store, empty)).problems).toEqual([{ source: empty, field: '', text: expect.stringMatching(/conf directory/) }]);
});
