import { expect, test } from '@jest/globals';
import pino from 'pino';
import { Attempts } from '../../src/rules/attempts.ts';
import { identify } from '../../src/schema/access/login.ts';
import { isFastHash } from '../../src/schema/access/fast-hash.ts';
import { createServices } from '../../src/schema/services.ts';
import { eitherDialect } from '../support/database.ts';
import { FakeEngine } from '../support/engine.ts';
import { falseCounts } from '../support/false-counts.ts';
import { everything, importFolder, npsClient, npsFolder, npsHost, npsTunnel, npsUser } from '../support/nps-folder.ts';
import { schemaSettings } from '../support/schema-settings.ts';
import type { TestStore } from '../support/test-store.ts';

const logins = { adminUsername: 'admin', adminPassword: 'the password of the administrator', allowVkeyLogin: false };

function servicesOver(store: TestStore) {
  const log = pino({ level: 'silent' });
  return createServices({
    store,
    engine: new FakeEngine(),
    attempts: new Attempts(),
    log,
    settings: schemaSettings,
    now: Date.now,
    freshState: async () => {},
  });
}

/** A folder with a record of every kind. */
const whole = {
  users: [npsUser({ Id: 4, UserName: 'al&amp;ice', Password: 'user secret', Remark: '&lt;b&gt;', MaxClientNum: 3, ExpireTime: '2099-01-02' })],
  clients: [
    npsClient({
      UserId: 4,
      VerifyKey: 'k&amp;2',
      Remark: 'a &amp;amp; b',
      Cnf: { U: 'u', P: 'p&#39;', Compress: true, Crypt: true },
      RateLimit: 5,
      MaxConn: 6,
      MaxTunnelNum: 7,
      Flow: { InletFlow: 2 ** 40, ExportFlow: 11, FlowLimit: 8 },
      WebUserName: 'web',
      WebPassword: 'web secret',
      BlackIpList: ['1.2.3.4', ''],
      IpWhite: true,
      IpWhitePass: 'open',
      IpWhiteList: ['5.6.7.8'],
      LastOnlineTime: '2024-05-06 07:08:09',
      Addr: '203.0.113.9:1234',
      Version: '0.26.10',
    }),
    npsClient({ Id: 9, Status: false }),
    npsClient({ Id: 12, NoStore: true }),
    npsClient({ Id: -1, NoDisplay: true }),
  ],
  tasks: [
    npsTunnel({ Target: { TargetStr: '127.0.0.1:22\r\n\r\n80' }, ProtoVersion: 'V2', Flow: { InletFlow: 1, ExportFlow: 2 } }),
    npsTunnel({ Id: 6, Mode: 'socks5', MultiAccount: { AccountMap: { alice: 'hers' } } }),
    npsTunnel({ Id: 7, Mode: 'secret', Password: 'p&amp;w', Port: 3456 }),
    npsTunnel({ Id: 8, Status: false, Port: 0 }),
    npsTunnel({ Id: 20, Client: { Id: -1 } }),
  ],
  hosts: [
    npsHost({ HeaderChange: 'X-A: 1\nX-B: &lt;2&gt;', HostChange: 'inner', Location: '/a/', Scheme: '', IsClose: true }),
    npsHost({ Id: 33, NoStore: true }),
    npsHost({ Id: 30, Host: 'x.example.org', PlatformDomainID: 'p', Scheme: 'http', Client: { Id: 9 } }),
  ],
  global: {
    BlackIpList: ['9.9.9.9'],
    ServerUrl: 'https://nps.example.net',
    PlatformDomains: [{ ID: 'p', Wildcard: '*.example.org', CertFilePath: '', KeyFilePath: '' }],
  },
};

eitherDialect('importing a folder of NPS', (databases) => {
  test('carries everything over: ids, counters, texts as they were meant, keys as they are', async () => {
    const store = await databases.openEmpty();
    const report = await importFolder(store, npsFolder(whole));
    expect(report.problems).toEqual([]);
    expect(report.outcome).toBe('done');
    expect(report.leftOut.map(({ source }) => source)).toEqual(['clients.json: Id 12', 'clients.json: Id -1', 'tasks.json: Id 20', 'hosts.json: Id 33']);
    const { db } = store;
    expect(await db.user.findMany()).toEqual([
      expect.objectContaining({
        id: 4,
        username: 'al&ice',
        remark: '<b>',
        maxClients: 3,
        expiresAt: new Date(2099, 0, 2),
        createdAt: new Date(2024, 0, 2, 3, 4, 5),
        enabled: true,
      }),
    ]);
    expect(await db.client.findMany({ orderBy: { id: 'asc' } })).toEqual([
      expect.objectContaining({
        id: 2,
        userId: 4,
        vkey: 'k&amp;2',
        remark: 'a &amp; b',
        basicUser: 'u',
        basicPassword: "p'",
        compress: true,
        crypt: true,
        rateLimit: 5,
        flowLimit: 8,
        maxConnections: 6,
        maxTunnels: 7,
        inletBytes: BigInt(2 ** 40),
        exportBytes: 11n,
        webUsername: 'web',
        blackIpList: '1.2.3.4',
        ipWhite: true,
        ipWhitePassword: 'open',
        ipWhiteList: '5.6.7.8',
        lastOnlineAt: new Date(2024, 4, 6, 7, 8, 9),
        lastAddress: '203.0.113.9',
        agentVersion: '0.26.10',
        enabled: true,
        tunnelCount: 5,
        hostCount: 1,
      }),
      expect.objectContaining({ id: 9, userId: null, vkey: 'key9', enabled: false, disabledByAdmin: true }),
    ]);
    expect(await db.tunnel.findMany({ orderBy: { id: 'asc' } })).toEqual([
      expect.objectContaining({
        id: 5,
        clientId: 2,
        mode: 'tcp',
        port: 10_005,
        target: '127.0.0.1:22\n80',
        proxyProtocol: 'V2',
        inletBytes: 1n,
        exportBytes: 2n,
        ownerId: 4,
        clientKey: 'k&amp;2',
      }),
      expect.objectContaining({ id: 6, mode: 'socks5', accounts: '[["alice","hers"]]' }),
      expect.objectContaining({ id: 7, mode: 'secret', password: 'p&amp;w', port: 0 }),
      expect.objectContaining({ id: 8, enabled: false, port: 0 }),
    ]);
    expect(await db.host.findMany({ orderBy: { id: 'asc' } })).toEqual([
      expect.objectContaining({ id: 3, headerChange: 'X-A: 1\nX-B: <2>', hostChange: 'inner', location: '/a', scheme: 'all', enabled: false }),
      expect.objectContaining({ id: 30, clientId: 9, platformDomainId: 'p', platformPrefix: 'x', host: 'x.example.org' }),
    ]);
    expect(await db.globalSettings.findMany()).toEqual([{ id: 1, blackIpList: '9.9.9.9', serverUrl: 'https://nps.example.net' }]);
    expect(await falseCounts(store)).toEqual([]);
    expect((await db.auditEntry.findMany()).map(({ callerKind, resource, after }) => ({ callerKind, resource, after: JSON.parse(after ?? '') }))).toMatchObject(
      [
        { callerKind: 'server', resource: 'import', after: { counts: { client: { added: 2 } }, skipped: 0, leftOut: 4 } },
      ],
    );
    // The ids of records that were left out are used up, too.
    expect((await db.client.create({ data: { vkey: 'new' } })).id).toBe(13);
    expect((await db.tunnel.create({ data: { clientId: 2, mode: 'tcp' } })).id).toBe(21);
    expect((await db.host.create({ data: { clientId: 2, host: 'new.example.com' } })).id).toBe(34);
    expect((await db.user.create({ data: { username: 'new', passwordHash: '' } })).id).toBe(5);
  });

  test('passwords are stored as fast hashes, which the first login replaces; sessions and later logins go on', async () => {
    const store = await databases.openEmpty();
    await importFolder(store, npsFolder(whole));
    const services = servicesOver(store);
    const hashes =
      async () => [(await store.db.user.findFirst())?.passwordHash ?? '', (await store.db.client.findFirst({ where: { id: 2 } }))?.webPasswordHash ?? ''];
    expect((await hashes()).map(isFastHash)).toEqual([true, true]);
    expect((await hashes()).join()).not.toContain('secret');
    expect(await identify(services, logins, 'al&ice', 'wrong')).toBeUndefined();
    expect((await hashes()).map(isFastHash)).toEqual([true, true]);
    for (let login = 0; login < 2; login++) {
      expect(await identify(services, logins, 'al&ice', 'user secret')).toEqual({ kind: 'user', userId: 4 });
      expect(await identify(services, logins, 'web', 'web secret')).toEqual({ kind: 'client', clientId: 2, by: 'web' });
      expect(await identify(services, logins, 'al&ice', 'user secre')).toBeUndefined();
      expect((await hashes()).every((hash) => hash.startsWith('$argon2'))).toBe(true);
    }
  });

  test('a second run changes nothing; --update applies what has changed, and counters by their growth', async () => {
    const store = await databases.openEmpty();
    const folder = npsFolder(whole);
    await importFolder(store, folder);
    const before = await everything(store);
    for (const options of [{}, { update: true }, { merge: true }]) expect((await importFolder(store, folder, options)).outcome).toBe('nothing');
    expect(await everything(store)).toEqual(before);
    // Where and when an agent was last seen there is no change.
    const seen = { LastOnlineTime: '2024-05-06 07:08:09', Addr: '198.51.100.7', LocalAddr: '10.9.8.7', Version: '9.9' };
    npsFolder({ ...whole, clients: whole.clients.map((record) => ({ ...record, ...seen })) }, folder);
    expect((await importFolder(store, folder, { update: true })).outcome).toBe('nothing');

    // What has happened here since stays, unless the folder has changed, too.
    await store.db.client.update({ where: { id: 2 }, data: { inletBytes: 2 ** 40 + 100, remark: 'changed here' } });
    await store.db.client.update({ where: { id: 9 }, data: { remark: 'changed here' } });
    await store.db.tunnel.delete({ where: { id: 8 } });
    npsFolder({
      ...whole,
      users: [{ ...whole.users[0], Password: 'another secret' }],
      clients: [
        { ...whole.clients[0], Remark: 'changed there', Flow: { InletFlow: 2 ** 40 + 7, ExportFlow: 11 } },
        npsClient({ Id: 9, Status: false }),
        npsClient({ Id: 40 }),
      ],
      tasks: [{ ...whole.tasks[0], Port: 10_500 }, ...whole.tasks.slice(2)],
    }, folder);
    for (const options of [{}, { merge: true }]) {
      const { outcome, refusal } = await importFolder(store, folder, options);
      expect([outcome, refusal]).toEqual(['refused', expect.stringContaining('--update')]);
    }
    const report = await importFolder(store, folder, { update: true });
    expect(report.outcome).toBe('done');
    expect(report.counts).toMatchObject({
      user: { changed: 1 },
      client: { added: 1, changed: 1, unchanged: 1 },
      tunnel: { changed: 1, unchanged: 1 },
      host: { unchanged: 2 },
    });
    expect(report.leftOut.map(({ source, text }) => `${source} ${text}`)).toEqual(expect.arrayContaining([
      expect.stringMatching(/^tasks\.json: Id 8 .*deleted here since/),
      expect.stringMatching(/^tunnel 6 .*no longer in the folder/),
    ]));
    expect(await store.db.client.findMany({ orderBy: { id: 'asc' }, select: { id: true, remark: true, inletBytes: true } })).toEqual([
      { id: 2, remark: 'changed there', inletBytes: BigInt(2 ** 40 + 107) },
      { id: 9, remark: 'changed here', inletBytes: 0n },
      { id: 40, remark: '', inletBytes: 0n },
    ]);
    expect(await store.db.tunnel.findMany({ orderBy: { id: 'asc' }, select: { id: true, port: true } })).toEqual([{ id: 5, port: 10_500 }, {
      id: 6,
      port: 10_006,
    }, { id: 7, port: 0 }]);
    expect(await identify(servicesOver(store), logins, 'al&ice', 'another secret')).toEqual({ kind: 'user', userId: 4 });
    expect(await falseCounts(store)).toEqual([]);
    // What neither side has any more needs no decision.
    await store.db.tunnel.delete({ where: { id: 6 } });
    const last = await importFolder(store, folder, { update: true });
    expect([last.outcome, last.leftOut.filter(({ source }) => source === 'tunnel 6')]).toEqual(['nothing', []]);
  });

  test('an installation with records is left alone; --merge names each conflict, or adds', async () => {
    const store = await databases.openEmpty();
    await store.db.user.create({ data: { id: 6, username: 'someone', passwordHash: '' } });
    await store.db.client.create({ data: { id: 50, vkey: 'key9' } });
    await store.db.tunnel.create({ data: { id: 60, clientId: 50, mode: 'tcp', port: 10_005 } });
    await store.db.tunnel.create({ data: { id: 61, clientId: 50, mode: 'p2p', password: 'p&amp;w' } });
    await store.db.host.create({ data: { id: 70, clientId: 50, host: '*.example.com' } });
    const before = await everything(store);
    const folder = npsFolder({ ...whole, users: [...whole.users, npsUser({ Id: 6 })] });
    expect((await importFolder(store, folder)).refusal).toMatch(/not empty.*--merge/);
    const report = await importFolder(store, folder, { merge: true });
    expect(report.outcome).toBe('refused');
    expect(report.problems.map(({ source, field, text }) => `${source} ${field}: ${text}`).toSorted()).toEqual([
      expect.stringMatching(/^clients\.json: Id 9 VerifyKey: .*client 50 of this server/),
      expect.stringMatching(/^hosts\.json: Id 3 Host: overlaps host 70/),
      expect.stringMatching(/^hosts\.json: Id 30 Client\.Id: client 9/),
      expect.stringMatching(/^tasks\.json: Id 5 Port: port 10005 is in use by tunnel 60/),
      expect.stringMatching(/^tasks\.json: Id 7 Password: .*tunnel 61/),
      expect.stringMatching(/^users\.json: Id 6 Id: this server has another user/),
    ]);
    expect(await everything(store)).toEqual(before);
    const others = npsFolder({
      clients: [npsClient({ Id: 80 })],
      tasks: [npsTunnel({ Id: 81, Client: { Id: 80 } })],
      hosts: [npsHost({ Id: 82, Client: { Id: 50 }, Host: 'a.example.net' })],
    });
    expect((await importFolder(store, others, { merge: true })).outcome).toBe('done');
    expect(await store.db.host.findUnique({ where: { id: 82 } })).toMatchObject({ clientId: 50 });
    expect(await falseCounts(store)).toEqual([]);
  });

  test('what belongs to a record that is left out is left out, too, although this server has another one with its id, and comes with a later update', async () => {
    const store = await databases.openEmpty();
    const { db } = store;
    await db.user.create({ data: { id: 4, username: 'someone', passwordHash: '' } });
    await db.client.create({ data: { id: 50, vkey: 'of someone' } });
    await db.platformDomain.create({ data: { id: 'p', wildcard: '*.example.org' } });
    const records = (broken: object, moved: number) => ({
      users: [npsUser({ Id: 4 + moved }), npsUser({ Id: 9, ...broken })],
      clients: [npsClient({ Id: 2, UserId: 4 + moved }), npsClient({ Id: 3, UserId: 9 }), npsClient({ Id: 50 + moved }), npsClient({ Id: 6 })],
      tasks: [2, 3, 50 + moved].map((client) => npsTunnel({ Id: 10 + client, Client: { Id: client } })),
      hosts: [
        npsHost({ Id: 7, Client: { Id: 50 + moved } }),
        npsHost({ Id: 8, Client: { Id: 6 }, Host: 'x.example.org', Scheme: 'http', PlatformDomainID: moved === 0 ? 'p' : 'q' }),
      ],
      global: { PlatformDomains: [{ ID: moved === 0 ? 'p' : 'q', Wildcard: '*.example.org' }] },
    });
    const folder = npsFolder(records({ Remark: 5 }, 0));
    const { outcome, problems } = await importFolder(store, folder, { merge: true, skipBroken: true });
    expect([outcome, problems.map(({ source, field, text }) => `${source} ${field}: ${text}`)]).toEqual(['done', [
      'users.json: Id 9 Remark: must be a text',
      'users.json: Id 4 Id: this server has another user with this id',
      'global.json: PlatformDomains p Id: this server has another platformDomain with this id',
      'clients.json: Id 50 Id: this server has another client with this id',
      'clients.json: Id 2 UserId: invalid ownerId: user 4 cannot be imported',
      'clients.json: Id 3 UserId: invalid ownerId: user 9 cannot be imported',
      ...[2, 3, 50].map((id) => `tasks.json: Id ${10 + id} Client.Id: client ${id} does not exist, or cannot be imported`),
      'hosts.json: Id 7 Client.Id: client 50 does not exist, or cannot be imported',
      'hosts.json: Id 8 PlatformDomainID: invalid platformDomainId: the platform domain p does not exist, or cannot be imported',
    ]]);
    expect([await db.client.count(), await db.tunnel.count(), await db.host.count()]).toEqual([2, 0, 0]);
    await db.platformDomain.deleteMany();
    npsFolder(records({}, 1), folder);
    expect(await importFolder(store, folder, { update: true })).toMatchObject({ outcome: 'done', problems: [] });
    expect(await db.client.findMany({ orderBy: { id: 'asc' }, select: { id: true, userId: true, enabled: true } })).toEqual(
      [[2, 5], [3, 9], [6, null], [50, null], [51, null]].map(([id, userId]) => ({ id, userId, enabled: true })),
    );
    expect([await db.tunnel.count(), await db.host.count()]).toEqual([3, 2]);
    expect(await falseCounts(store)).toEqual([]);
  });

  test('a dry run writes nothing', async () => {
    const store = await databases.openEmpty();
    const before = await everything(store);
    expect(await importFolder(store, npsFolder(whole), { dryRun: true })).toMatchObject({
      outcome: 'planned',
      counts: { tunnel: { added: 4 }, platformDomain: { added: 1 } },
    });
    expect(await everything(store)).toEqual(before);
  });
});

eitherDialect('what an import changes', (databases) => {
  const notesOf = async (files: Parameters<typeof npsFolder>[0], settings = {}) => {
    const store = await databases.openEmpty();
    const { problems, notes, leftOut, remarks } = await importFolder(store, npsFolder(files), {}, settings);
    expect(problems).toEqual([]);
    return { store, remarks, said: [...notes, ...leftOut].map(({ source, text }) => `${source}: ${text}`) };
  };

  test('limits that nps.conf switches off are imported as no limit; without an nps.conf they apply; both are said', async () => {
    const clients = [npsClient({ RateLimit: 5, MaxConn: 6, MaxTunnelNum: 7, Flow: { FlowLimit: 8 } })];
    const conf = 'allow_flow_limit=false\nallow_rate_limit = false\nALLOW_TUNNEL_NUM_LIMIT=false\nallow_connection_num_limit=true\n';
    const off = await notesOf({ clients, conf });
    expect(await off.store.db.client.findFirst()).toMatchObject({ rateLimit: 0, maxConnections: 6, maxTunnels: 0, flowLimit: 0 });
    expect(off.remarks).toEqual([expect.stringContaining('allow_flow_limit, allow_rate_limit, allow_tunnel_num_limit')]);
    expect(off.said).toEqual(
      ['RateLimit', 'Flow.FlowLimit', 'MaxTunnelNum'].map((field) => expect.stringMatching(`^clients.json: Id 2: ${field.replace('.', '\\.')} `)),
    );
    const on = await notesOf({ clients });
    expect(await on.store.db.client.findFirst()).toMatchObject({ rateLimit: 5, maxConnections: 6, maxTunnels: 7, flowLimit: 8 });
    expect(on.remarks).toEqual([expect.stringContaining('nps.conf is missing')]);
  });

  test("names what is not carried over: health checks, local_proxy, agents' records, accounts that cannot be enforced", async () => {
    const { store, said } = await notesOf({
      clients: [npsClient({ UserId: 99 }), npsClient({ Id: 3, VerifyKey: '' })],
      tasks: [
        npsTunnel({ HealthCheckInterval: 5, Target: { TargetStr: '80', LocalProxy: true } }),
        npsTunnel({ Id: 6, NoStore: true }),
        npsTunnel({ Id: 7, Target: null }),
        npsTunnel({ Id: 8, Mode: 'mixProxy', HttpProxy: true, Socks5Proxy: true }),
        npsTunnel({ Id: 9, Mode: 'mixProxy', HttpProxy: true }),
        npsTunnel({ Id: 10, Mode: 'secret' }),
        npsTunnel({ Id: 11, UserAuth: { Content: 'a=b' } }),
      ],
      hosts: [npsHost({ MultiAccount: { AccountMap: { a: 'b' } } }), npsHost({ Id: 4, RedirectURL: 'https://x' })],
    });
    expect(said.map((line) => line.slice(0, 60)).toSorted()).toEqual([
      expect.stringMatching(/^clients\.json: Id 2: its user 99 does not exist/),
      expect.stringMatching(/^clients\.json: Id 3: has no key/),
      expect.stringMatching(/^hosts\.json: Id 3: imported as stopped/),
      expect.stringMatching(/^hosts\.json: Id 4: not carried over/),
      expect.stringMatching(/^tasks\.json: Id 10: is a secret tunnel without a password/),
      expect.stringMatching(/^tasks\.json: Id 11: imported as stopped/),
      expect.stringMatching(/^tasks\.json: Id 5: its health check/),
      expect.stringMatching(/^tasks\.json: Id 5: local_proxy is not carried over/),
      expect.stringMatching(/^tasks\.json: Id 6: comes from an agent/),
      expect.stringMatching(/^tasks\.json: Id 7: has no Target/),
      expect.stringMatching(/^tasks\.json: Id 8: is an HTTP and a SOCKS5 proxy/),
      expect.stringMatching(/^tasks\.json: Id 9: its target is not carried/),
    ]);
    expect(await store.db.client.findFirst({ where: { id: 2 } })).toMatchObject({ userId: null, enabled: false });
    expect((await store.db.client.findFirst({ where: { id: 3 } }))?.vkey).toMatch(/^[a-z2-7]{24}$/);
    expect(await store.db.tunnel.findMany({ orderBy: { id: 'asc' }, select: { id: true, mode: true, enabled: true, localProxy: true } })).toEqual([
      { id: 5, mode: 'tcp', enabled: true, localProxy: false },
      { id: 9, mode: 'httpProxy', enabled: true, localProxy: false },
      { id: 11, mode: 'tcp', enabled: false, localProxy: false },
    ]);
    expect(await store.db.host.findMany({ orderBy: { id: 'asc' }, select: { id: true, enabled: true } })).toEqual([{ id: 3, enabled: false }, {
      id: 4,
      enabled: true,
    }]);
  });

  test('only allowed ports are taken, and local_proxy where the settings allow it', async () => {
    const folder = npsFolder({
      clients: [npsClient()],
      tasks: [npsTunnel({ Target: { TargetStr: '80', LocalProxy: true } }), npsTunnel({ Id: 6, Port: 20_000 })],
    });
    const store = await databases.openEmpty();
    const settings = { allowPorts: [{ from: 10_000, to: 11_000 }], allowLocalProxy: true };
    const { problems } = await importFolder(store, folder, { skipBroken: true }, settings);
    expect(problems).toEqual([{ source: 'tasks.json: Id 6', field: 'Port', text: expect.stringContaining('allow_ports') }]);
    expect(await store.db.tunnel.findMany({ select: { id: true, localProxy: true } })).toEqual([{ id: 5, localProxy: true }]);
  });
});
