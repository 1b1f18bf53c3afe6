import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { eitherDialect, testDatabases } from '../support/database.ts';
import { everything, importFolder, npsClient, npsFolder, npsHost, type NpsRecord, npsText, npsTunnel, npsUser } from '../support/nps-folder.ts';

/** Fields that hold a text that somebody chose. */
const textFields = {
  users: ['UserName', 'Password', 'Remark', 'ExpireTime', 'CreateTime', 'ApiTokenHash'],
  clients: [
    'VerifyKey',
    'Remark',
    'Cnf.U',
    'Cnf.P',
    'WebUserName',
    'WebPassword',
    'BlackIpList.0',
    'IpWhitePass',
    'IpWhiteList.0',
    'ExpireTime',
    'LastOnlineTime',
    'Addr',
    'LocalAddr',
    'Version',
  ],
  tasks: ['Mode', 'ServerIp', 'Remark', 'Password', 'LocalPath', 'StripPre', 'Target.TargetStr', 'ProtoVersion', 'MultiAccount.AccountMap.user', 'Ports'],
  hosts: ['Host', 'Location', 'Scheme', 'Remark', 'HeaderChange', 'HostChange', 'Target.TargetStr', 'CertFilePath', 'KeyFilePath', 'PlatformDomainID'],
} as const;

/** A record in which one field has another value. */
function withField(record: NpsRecord, field: string, value: unknown): NpsRecord {
  const [name = '', ...inner] = field.split('.');
  if (inner.length === 0) return { ...record, [name]: value };
  if (inner[0] === '0') return { ...record, [name]: [value] };
  const before = record[name];
  return { ...record, [name]: withField(typeof before === 'object' ? { ...before } : {}, inner.join('.'), value) };
}

const odd: ReadonlyArray<readonly [string, string]> = [
  ['a NUL', 'a\0b'],
  ['half a character', 'a\uD83D'],
  ['control characters', '\u001B[2J\r\n\u007F'],
  ['the name of a prototype', '__proto__'],
  ['another name of a prototype', 'constructor'],
  ['SQL', `'; DROP TABLE "Client"; --`],
  ['the separator', '\n*#*{"Id":1}'],
  ['100,000 characters', 'x'.repeat(100_000)],
];

eitherDialect('a folder made by an attacker', (databases) => {
  test.each(odd)('%s in any text: the record is imported or named, and the others are imported', async (_name, value) => {
    const store = await databases.openEmpty();
    const records = (kind: keyof typeof textFields, make: (record: NpsRecord) => NpsRecord, more: NpsRecord = {}) => [
      make({ Id: 2, ...more }),
      ...textFields[kind].map((field, index) => withField(make({ Id: 10 + index, ...more }), field, value)),
    ];
    const client = { Client: { Id: 2 } };
    const report = await importFolder(
      store,
      npsFolder({
        users: records('users', npsUser),
        clients: records('clients', npsClient, { WebUserName: 'w', WebPassword: 'p' }),
        tasks: records('tasks', (record) => npsTunnel({ Mode: 'socks5', ...record }), client),
        hosts: records('hosts', npsHost, client),
        global: { BlackIpList: [value], ServerUrl: value },
      }),
      { skipBroken: true },
    );
    expect(report.outcome).toBe('done');
    const named = new Set([...report.problems, ...report.leftOut].map(({ source }) => source));
    const { db } = store;
    const select = { id: true } as const;
    const stored = {
      users: await db.user.findMany({ select }),
      clients: await db.client.findMany({ select }),
      tasks: await db.tunnel.findMany({ select }),
      hosts: await db.host.findMany({ select }),
    };
    for (const kind of ['users', 'clients', 'tasks', 'hosts'] as const) {
      const ids = stored[kind].map(({ id }) => id);
      expect(ids).toContain(2);
      for (const [index] of textFields[kind].entries()) {
        expect([kind, index, ids.includes(10 + index)]).toEqual([kind, index, !named.has(`${kind}.json: Id ${10 + index}`)]);
      }
    }
    const text = JSON.stringify(await everything(store), (_key, content: unknown) => typeof content === 'bigint' ? String(content) : content);
    for (const unstorable of ['\\u0000', '\\ud83d']) expect(text).not.toContain(unstorable);
  });
});

const databases = testDatabases('sqlite');

test('keys of prototypes: extra keys change nothing, and an account of that name is enforced like any other', async () => {
  const store = await databases.openEmpty();
  const tunnel = JSON.stringify(npsTunnel({ Mode: 'socks5', Target: null, MultiAccount: { AccountMap: { name: 'x' } } })).replace('"name"', '"__proto__"');
  const client = JSON.stringify(npsClient({ extra: { Id: 9, Status: false } })).replace('"extra"', '"__proto__"');
  const report = await importFolder(store, npsFolder({ clients: `${client}\n*#*`, tasks: `${tunnel}\n*#*` }));
  expect(report).toMatchObject({ outcome: 'done', problems: [], notes: [] });
  expect(await store.db.client.findMany()).toMatchObject([{ id: 2, enabled: true }]);
  expect(await store.db.tunnel.findFirst()).toMatchObject({ accounts: '[["__proto__","x"]]', enabled: true });
});

test('nested deeply, and records of many megabytes: named, and the rest is read', async () => {
  const store = await databases.openEmpty();
  const deep = JSON.stringify(npsTunnel({ UserAuth: 'DEEP' })).replace('"DEEP"', `${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  const faulty = JSON.stringify(npsTunnel({ Id: 6 })).slice(0, -1) + `,"a":1`.repeat(100_000) + '}';
  const long = JSON.stringify(npsTunnel({ Id: 7, Remark: '\n'.repeat(5_000_000) }));
  const escapes = JSON.stringify(npsTunnel({ Id: 8, Remark: '\n'.repeat(3_900_000) }));
  const tasks = [deep, faulty, long, escapes, JSON.stringify(npsTunnel({ Id: 9 }))].map((text) => `${text}\n*#*`).join('');
  // No separator in 40 MB.
  const folder = npsFolder({ clients: [npsClient()], tasks, hosts: `{"Id":3,"Host":"${'x'.repeat(40_000_000)}`, global: { ServerUrl: 'x'.repeat(8_400_000) } });
  const report = await importFolder(store, folder, { skipBroken: true });
  expect(report.problems.map(({ source, field, text }) => `${source} ${field} ${text}`)).toEqual([
    'tasks.json: Id 5 UserAuth is more than 32 levels deep',
    ...Array.from({ length: 20 }, () => 'tasks.json: Id 6 a the key occurs twice'),
    'tasks.json: Id 7  is longer than 8 MB',
    'hosts.json: Id 3  is longer than 8 MB',
    'global.json  is longer than 8 MB',
    expect.stringMatching(/^tasks\.json: Id 8 Remark .*longer than 255/),
  ]);
  expect(await store.db.tunnel.findMany({ select: { id: true } })).toEqual([{ id: 9 }]);
});

test('what is no file: pipes, devices, directories and broken links are named; a link to a file is read', async () => {
  const store = await databases.openEmpty();
  const folder = npsFolder({});
  const own = path.join(folder, 'real');
  writeFileSync(own, npsText([npsClient()]));
  symlinkSync(own, path.join(folder, 'clients.json'));
  execFileSync('mkfifo', [path.join(folder, 'tasks.json')]);
  symlinkSync('/dev/zero', path.join(folder, 'hosts.json'));
  symlinkSync(path.join(folder, 'missing'), path.join(folder, 'users.json'));
  mkdirSync(path.join(folder, 'global.json'));
  symlinkSync('nps.conf', path.join(folder, 'nps.conf'));
  const { problems } = await importFolder(store, folder, { skipBroken: true });
  expect(problems.map(({ source, text }) => `${source}: ${text}`).toSorted()).toEqual([
    'global.json: is not a file',
    'hosts.json: is not a file',
    expect.stringMatching(/^nps\.conf: ELOOP/),
    'tasks.json: is not a file',
    expect.stringMatching(/^users\.json: ENOENT/),
  ]);
  expect(await store.db.client.count()).toBe(1);
  // A file that cannot be read is there.
  const broken = npsFolder({});
  symlinkSync(path.join(broken, 'missing'), path.join(broken, 'users.json'));
  expect((await importFolder(store, broken)).problems).toEqual([{ source: 'users.json', field: '', text: expect.stringContaining('ENOENT') }]);
});

test("hosts of tenants with the server's own names are imported, but not served until an administrator names them", async () => {
  const store = await databases.openEmpty();
  const report = await importFolder(
    store,
    npsFolder({
      users: [npsUser({ Id: 4 })],
      clients: [npsClient({ UserId: 4 }), npsClient({ Id: 3, WebUserName: 'w', WebPassword: 'p' }), npsClient({ Id: 6 })],
      hosts: [
        npsHost({ Host: 'nps.example.net' }),
        npsHost({ Id: 4, Host: '203.0.113.1', Client: { Id: 3 } }),
        npsHost({ Id: 5, Host: 'localhost', Client: { Id: 6 } }),
        npsHost({ Id: 6, Host: 'a.example.com' }),
      ],
      global: { ServerUrl: 'https://nps.example.net:8080' },
    }),
  );
  expect(report).toMatchObject({ outcome: 'done', problems: [] });
  expect(report.notes.map(({ source }) => source)).toEqual(['hosts.json: Id 3', 'hosts.json: Id 4']);
  expect(await store.db.host.findMany({ orderBy: { id: 'asc' }, select: { id: true, namedByAdmin: true } })).toEqual([
    { id: 3, namedByAdmin: false },
    { id: 4, namedByAdmin: false },
    { id: 5, namedByAdmin: true },
    { id: 6, namedByAdmin: false },
  ]);
});
