import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { lineages, type Lineage } from '../../src/migration/nps/export/records.ts';
import { writeFolder } from '../../src/migration/nps/export/export-nps.ts';
import { testDatabases } from '../support/database.ts';
import { emptyStore } from '../support/empty-store.ts';
import { sized } from '../support/endurance.ts';
import { importFolder, npsClient, npsFolder, npsHost, type NpsRecord, npsTunnel, npsUser } from '../support/nps-folder.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';
import type { TestStore } from '../support/test-store.ts';

const databases = testDatabases('sqlite');

/** Ids with gaps. */
const ids = (most: number) => fc.uniqueArray(fc.integer({ min: 1, max: 5000 }), { minLength: 0, maxLength: most });
/** A text as NPS stores it: escaped once. */
const odd = fc.oneof(
  fc.constant(''),
  fc.constantFrom('a &amp; b', '&amp;amp;', '&lt;b&gt;', '&#34;&#39;', 'Büro', '办公室', '𝔘', ' x ', 'a*#*b', 'line\\nbreak'),
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll(/[&<>"'\0]/gu, '')),
);
const lists = fc.array(fc.ipV4(), { maxLength: 3 });
const targets = fc.array(fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 65_535 })).map(([host, port]) => `${host}:${port}`), { minLength: 0, maxLength: 3 });
const lineEnd = fc.constantFrom('\n', '\r\n', '\r\n\r\n');
const bytes = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const flow = fc.record({ InletFlow: bytes, ExportFlow: bytes, FlowLimit: fc.integer({ min: 0, max: 2 ** 31 - 1 }) });
const time = fc.constantFrom('', '2024-02-29 23:59:59', '2099-01-01 00:00:00');
const limit = fc.integer({ min: -5, max: 1000 });

const folder = fc.record({ users: ids(4), clients: ids(6), tunnels: ids(8), hosts: ids(6) }).chain(({ users, clients, tunnels, hosts }) =>
  fc.record({
    users: fc.tuple(
      ...users.map((Id) => fc.record({ Status: fc.boolean(), Remark: odd, MaxClientNum: limit, ExpireTime: time }).map((more) => npsUser({ Id, ...more }))),
    ),
    clients: fc.tuple(...clients.map((Id) =>
      fc.record({
        // Also users that were deleted.
        UserId: fc.constantFrom(0, 9999, ...users),
        Remark: odd,
        Status: fc.boolean(),
        Cnf: fc.record({ U: odd, P: odd, Compress: fc.boolean(), Crypt: fc.boolean() }),
        RateLimit: limit,
        MaxConn: limit,
        Flow: fc.option(flow, { nil: null }),
        WebUserName: fc.constantFrom('', `web${Id}`),
        WebPassword: fc.constantFrom('', 'secret'),
        BlackIpList: fc.option(lists, { nil: null }),
        IpWhite: fc.boolean(),
        IpWhitePass: odd,
        IpWhiteList: lists,
        ExpireTime: time,
        Version: fc.constantFrom('', '0.26.10'),
      }).map((more) => npsClient({ Id, ...more }))
    )),
    tasks: clients.length === 0 ? fc.constant([]) : fc.tuple(...tunnels.map((Id) =>
      fc.record({
        Client: fc.constantFrom(...clients).map((client) => ({ Id: client, Remark: 'stale' })),
        Mode: fc.constantFrom('tcp', 'udp', 'httpProxy', 'socks5', 'secret', 'p2p', 'file'),
        Port: fc.constantFrom(0, 10_000 + Id),
        Status: fc.boolean(),
        Remark: odd,
        Password: fc.constant(`password ${Id} &amp;`),
        LocalPath: odd,
        StripPre: odd,
        ProtoVersion: fc.constantFrom('', 'V1', 'V2'),
        Target: fc.tuple(targets, lineEnd).map(([lines, end]) => ({ TargetStr: lines.join(end), TargetArr: null, LocalProxy: false })),
        MultiAccount: fc.option(fc.constant({ AccountMap: { älice: '', 'b"ob': 'x y' } }), { nil: null }),
        Flow: flow,
      }).map((more) => npsTunnel({ Id, ...more }))
    )),
    hosts: clients.length === 0 ? fc.constant([]) : fc.tuple(...hosts.map((Id) =>
      fc.record({
        Client: fc.constantFrom(...clients).map((client) => ({ Id: client })),
        Location: fc.constantFrom('', '/', '/a', 'b/', '/ü'),
        Scheme: fc.constantFrom('', 'all', 'http', 'https'),
        Remark: odd,
        HeaderChange: fc.constantFrom('', 'X-A: 1', 'X-A: &lt;1&gt;\r\nX-B:2\n'),
        HostChange: fc.constantFrom('', 'inner:8080'),
        IsClose: fc.boolean(),
        AutoHttps: fc.boolean(),
        Target: fc.tuple(targets, lineEnd).map(([lines, end]) => ({ TargetStr: lines.join(end), TargetArr: null, LocalProxy: false })),
        Flow: flow,
      }).map((more) => npsHost({ Id, ...more }))
    )),
    global: fc.record({ BlackIpList: fc.option(lists, { nil: null }), ServerUrl: fc.constantFrom('', 'https://nps.example.net') }),
  })
);

/** What is stored, without what no folder can carry: hashes of passwords, and when a tunnel or host was created. */
async function records({ db }: TestStore, lineage: Lineage) {
  const orderBy = { id: 'asc' } as const;
  const hashed = await db.client.findMany({ orderBy, where: { webPasswordHash: { not: '' } }, select: { id: true } });
  return {
    users: lineage === 'Z' ? await db.user.findMany({ orderBy, omit: { passwordHash: true } }) : [],
    clients: await db.client.findMany({ orderBy, omit: { webPasswordHash: true } }),
    hashed,
    tunnels: await db.tunnel.findMany({ orderBy, omit: { createdAt: true } }),
    hosts: await db.host.findMany({ orderBy, omit: { createdAt: true } }),
    global: await db.globalSettings.findMany(),
  };
}

/** Exports a store in a lineage and imports that into another one, which is emptied before. */
async function moved(store: TestStore, other: TestStore, lineage: Lineage): Promise<TestStore> {
  const exported = path.join(scratchDirectory(), 'exported');
  await writeFolder(store.db, exported, lineage, Date.now());
  await emptyStore(other);
  expect((await importFolder(other, exported)).problems).toEqual([]);
  return other;
}

test('import, export, import again: the same records; in lineages that lose something, the first export loses it all', async () => {
  const [first, second, third] = [await databases.openEmpty(), await databases.openEmpty(), await databases.openEmpty()];
  await fc.assert(
    fc.asyncProperty(folder, fc.constantFrom(...lineages), async (files, lineage) => {
      await emptyStore(first);
      expect((await importFolder(first, npsFolder(files), { skipBroken: true })).problems).toEqual([]);
      const before = lineage === 'Z' ? first : await moved(first, second, lineage);
      expect(await records(await moved(before, third, lineage), lineage)).toEqual(await records(before, lineage));
    }),
    { numRuns: sized(3, 300, 9) },
  );
}, 600_000);

test.each(lineages)('an export in the lineage %s can be imported, and the output names what is lost', async (lineage) => {
  const store = await databases.openEmpty();
  await importFolder(
    store,
    npsFolder({
      users: [npsUser({ Id: 4, Status: false })],
      clients: [npsClient({ UserId: 4, WebUserName: 'w', WebPassword: 'secret', ExpireTime: '2099-01-01 00:00:00', IpWhite: true }), npsClient({ Id: 3 })],
      tasks: [npsTunnel({ ProtoVersion: 'V2', Client: { Id: 3 } })],
      hosts: [npsHost({ Client: { Id: 3 }, CertFilePath: '/c.pem', KeyFilePath: '/k.pem' })],
    }),
  );
  const exported = path.join(scratchDirectory(), 'exported');
  const text = await writeFolder(store.db, exported, lineage, Date.now());
  // It has the keys of all agents.
  for (const name of ['.', ...readdirSync(exported)]) expect(statSync(path.join(exported, name)).mode & 0o077).toBe(0);
  expect(text).toMatch(/Lost:[^]*web logins[^]*audit log/);
  expect(text).toMatch({ Y: /1 users: this lineage has none/, Z: /the passwords of 1 users/, D: /allowlists of 1 clients/ }[lineage]);
  await expect(writeFolder(store.db, exported, lineage, Date.now())).rejects.toThrow(/exists already/);
  const other = await databases.openEmpty();
  expect((await importFolder(other, exported)).problems).toEqual([]);
  expect(await other.db.client.findMany({ orderBy: { id: 'asc' }, select: { id: true, enabled: true, userId: true, expiresAt: true, ipWhite: true } })).toEqual(
    [
      // The client of a disabled user must not serve where there are no users.
      { id: 2, enabled: lineage === 'Z', userId: lineage === 'Z' ? 4 : null, expiresAt: new Date(2099, 0, 1), ipWhite: lineage !== 'D' },
      { id: 3, enabled: true, userId: null, expiresAt: null, ipWhite: false },
    ],
  );
  expect(await other.db.tunnel.findFirst()).toMatchObject({ id: 5, proxyProtocol: 'V2' });
  expect(await other.db.host.findFirst()).toMatchObject({ id: 3, certFilePath: '/c.pem', keyFilePath: '/k.pem' });
});

test('an export has every field of every record, under the names of the lineage', async () => {
  const store = await databases.openEmpty();
  const health = {
    HealthCheckTimeout: 0,
    HealthMaxFail: 0,
    HealthCheckInterval: 0,
    HealthNextTime: '0001-01-01T00:00:00Z',
    HealthMap: null,
    HttpHealthUrl: '',
  };
  const users = [npsUser({
    Id: 4,
    UserName: 'al&amp;ice',
    Remark: '&lt;r&gt;',
    MaxClientNum: 41,
    MaxTunnelNum: 42,
    ExpireTime: '2031-01-02 03:04:05',
    CreateTime: '2021-01-02 03:04:05',
  })];
  const client = npsClient({
    UserId: 4,
    VerifyKey: 'k&amp;2',
    Addr: '203.0.113.9',
    LocalAddr: '192.168.1.2',
    Remark: 'r&amp;2',
    Cnf: { U: 'u&amp;', P: 'p&amp;', Compress: true, Crypt: false },
    RateLimit: 5,
    MaxConn: 6,
    MaxTunnelNum: 7,
    Flow: { InletFlow: 10, ExportFlow: 20, FlowLimit: 8 },
    WebUserName: 'w&amp;',
    WebPassword: 'secret',
    ConfigConnAllow: false,
    BlackIpList: ['1.2.3.4', '1.2.3.5'],
    IpWhite: true,
    IpWhitePass: 'ip&amp;',
    IpWhiteList: ['5.6.7.8', '5.6.7.9'],
    ExpireTime: '2032-01-02 03:04:05',
    CreateTime: '2022-01-02 03:04:05',
    LastOnlineTime: '2023-05-06 07:08:09',
    Version: '0.26.10',
  });
  const tunnel = npsTunnel({
    Status: false,
    ServerIp: '127.0.0.1',
    Remark: 't&amp;',
    Target: { TargetStr: '10.0.0.1:1\n10.0.0.2:2', TargetArr: null, LocalProxy: false },
    ProtoVersion: 'V2',
    Flow: { InletFlow: 11, ExportFlow: 21, FlowLimit: 0 },
  });
  const none = { TargetStr: '', TargetArr: null, LocalProxy: false };
  const files = npsTunnel({ Id: 6, Mode: 'file', LocalPath: '/s&amp;v', StripPre: '/x&amp;', Target: none });
  const proxy = npsTunnel({ Id: 7, Mode: 'socks5', Target: none, MultiAccount: { AccountMap: { alice: 'hers', bob: 'two' } } });
  const hidden = npsTunnel({ Id: 8, Mode: 'secret', Port: 0, Password: 'pw&amp;8' });
  const host = npsHost({
    Host: 'a.example.com',
    HeaderChange: 'X-A: 1&amp;\nX-B: 2',
    HostChange: 'inner',
    Location: '/a',
    Remark: 'h&amp;',
    Scheme: 'https',
    CertFilePath: '/c.pem',
    KeyFilePath: '/k.pem',
    IsClose: true,
    AutoHttps: true,
    Flow: { InletFlow: 12, ExportFlow: 22, FlowLimit: 0 },
    Target: { TargetStr: '10.0.0.7:1\n10.0.0.8:2', TargetArr: null, LocalProxy: false },
  });
  // A host below a platform domain has its certificate.
  const below = npsHost({ Id: 9, Host: 'x.example.org', PlatformDomainID: 'p', CertFilePath: '/pc.pem', KeyFilePath: '/pk.pem' });
  const acme = npsHost({ Id: 10, AutoSSL: true });
  const global = {
    BlackIpList: ['9.9.9.9', '8.8.8.8'],
    ServerUrl: 'https://n&amp;.example.net',
    PlatformDomains: [{ ID: 'p', Wildcard: '*.example.org', CertFilePath: '/pc.pem', KeyFilePath: '/pk.pem' }],
  };
  await importFolder(store, npsFolder({ users, clients: [client], tasks: [tunnel, files, proxy, hidden], hosts: [host, below, acme], global }));
  const exported = async (lineage: Lineage) => {
    const directory = path.join(scratchDirectory(), 'exported');
    await writeFolder(store.db, directory, lineage, Date.now());
    const read = (name: string): unknown[] =>
      existsSync(path.join(directory, name))
        ? readFileSync(path.join(directory, name), 'utf8').split('\n*#*').filter((text) => text !== '').map((text) => JSON.parse(text))
        : [];
    return { users: read('users.json'), clients: read('clients.json'), tasks: read('tasks.json'), hosts: read('hosts.json'), global: read('global.json') };
  };
  const password = expect.stringMatching(/^[a-z2-7]{24}$/);
  const state = { HealthRemoveArr: null, HealthCheckType: '', HealthCheckTarget: '', ...health };
  /** A record without some fields, and with others. */
  const but = (record: NpsRecord, without: readonly string[], others: NpsRecord = {}) => ({
    ...Object.fromEntries(Object.entries(record).filter(([name]) => !without.includes(name))),
    ...others,
  });
  const tunnels = [tunnel, files, proxy, hidden].map((record) => but(record, [], { RunStatus: record['Status'], ...state }));
  const z = {
    users: users.map((record) => ({ ...record, Password: password })),
    clients: [{ ...client, WebPassword: password, Rate: { NowRate: 0 }, NowConn: 0 }],
    tasks: tunnels.map((record) => ({ ProtoVersion: '', ...record })),
    hosts: [host, below, acme].map((record) => but(record, ['AutoSSL'], { PlatformDomainID: record['PlatformDomainID'] ?? '', ...state })),
    global: [global],
  };
  expect(await exported('Z')).toEqual(z);
  const y = {
    users: [],
    clients: z.clients.map((record) => but(record, ['UserId'])),
    tasks: z.tasks,
    hosts: z.hosts.map((record) => but(record, ['PlatformDomainID'])),
    global: z.global.map((record) => but(record, ['PlatformDomains'])),
  };
  expect(await exported('Y')).toEqual(y);
  const expiresAt = new Date(2032, 0, 2, 3, 4, 5).toISOString().replace('.000', '');
  expect(await exported('D')).toEqual({
    ...y,
    clients: y.clients.map((record) =>
      but(record, ['IpWhite', 'IpWhitePass', 'IpWhiteList', 'ExpireTime'], {
        Flow: { InletFlow: 10, ExportFlow: 20, FlowLimit: 8, TimeLimit: expiresAt },
        InletFlow: 10,
        ExportFlow: 20,
      })
    ),
    tasks: y.tasks.map((record) => but(record, ['ProtoVersion'], { Target: expect.objectContaining({ ProxyProtocol: record.ProtoVersion === 'V2' ? 2 : 0 }) })),
    hosts: y.hosts.map((record) =>
      but(record, ['CertFilePath', 'KeyFilePath'], { CertFile: record['CertFilePath'], KeyFile: record['KeyFilePath'], AutoSSL: record['Id'] === 10 })
    ),
  });
});

test('an export leaves out what agents have declared, and names all that is lost in each lineage, with its number', async () => {
  const store = await databases.openEmpty();
  const { db } = store;
  const now = Date.UTC(2030, 0, 1);
  const [off = 0, expired = 0, , good = 0] = await seedUsers(store, 4, (n) => ({
    enabled: n !== 1,
    expiresAt: [new Date(now + 1), new Date(now), new Date(now - 1), new Date(now + 1)][n - 1],
  }));
  const clients = await seedClients(store, 6, (n) => ({
    userId: [off, expired, good][n - 1],
    webUsername: n > 4 ? `web ${n}` : '',
    ipWhite: n > 1,
  }));
  const clientId = clients[3] ?? 0;
  await seedTunnels(store, clientId, 3, (n) => ({ noStore: n > 2 }));
  await db.platformDomain.create({ data: { id: 'p', wildcard: '*.example.org' } });
  const host = (n: number) => ({ platformDomainId: n === 3 ? 'p' : null, platformPrefix: n === 3 ? 'x' : null, acme: n > 3, noStore: n > 4 });
  const hosts = await seedHosts(store, clientId, 6, host);
  await db.apiToken.createMany({ data: [1, 2, 3].map((n) => ({ name: '', hash: String(n) })) });
  for (const lineage of lineages) {
    const directory = path.join(scratchDirectory(), 'exported');
    const text = await writeFolder(db, directory, lineage, now);
    const read = (name: string) =>
      readFileSync(path.join(directory, name), 'utf8').split('\n*#*').slice(0, -1).map((record) => z.looseObject({ Id: z.number() }).parse(JSON.parse(record)));
    expect([read('tasks.json').length, read('hosts.json').map(({ Id }) => Id)]).toEqual([2, hosts.slice(0, 4)]);
    // Where there are no users, clients of those that are disabled or have expired must not serve.
    expect(read('clients.json').map(({ Status }) => Status)).toEqual([lineage === 'Z', lineage === 'Z', true, true, true, true]);
    const [written, , , ...lost] = text.trimEnd().split('\n').map((line) => line.trim());
    expect(written).toBe(`Written to ${directory}: 6 clients, 2 tunnels, 4 hosts${lineage === 'Z' ? ', 4 users' : ''}.`);
    const usersLost = lineage === 'Z' ? /^the passwords of 4 users/ : /^4 users: .* Their 3 clients/;
    expect(lost.slice(0, -3)).toEqual(
      [
        ...[usersLost, /^the passwords of 2 web logins/, /^3 API tokens/, /^3 tunnels and hosts of agents/],
        ...lineage === 'D' ? [] : [/^the certificates of 3 hosts/],
        ...lineage === 'Z' ? [] : [/^the platform domains of 1 hosts/],
        ...lineage === 'D' ? [/^the allowlists of 5 clients/] : [],
      ].map((line) => expect.stringMatching(line)),
    );
  }
});

test.each(['clients.json', 'tasks.json', 'hosts.json', 'users.json', 'global.json'])('an export leaves a folder alone that has a file %s', async (name) => {
  const store = await databases.openEmpty();
  const directory = scratchDirectory();
  writeFileSync(path.join(directory, name), '');
  await expect(writeFolder(store.db, directory, 'Y', 0)).rejects.toThrow(`${path.join(directory, name)} exists already`);
  expect(readdirSync(directory)).toEqual([name]);
});

test('an export has all records where there are more than are read at once', async () => {
  const store = await databases.openEmpty();
  const ids = await seedClients(store, 1001);
  const directory = path.join(scratchDirectory(), 'exported');
  expect(await writeFolder(store.db, directory, 'Y', 0)).toContain(': 1001 clients, ');
  const found = Array.from(readFileSync(path.join(directory, 'clients.json'), 'utf8').matchAll(/"Id":(\d+),"VerifyKey"/g), ([, id]) => Number(id));
  expect(found).toEqual(ids);
});
