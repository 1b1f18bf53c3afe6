import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { importReport } from '../../src/schema/import/report.ts';
import { readStoredState } from '../../src/schema/import/stored-state.ts';
import { covering } from '../support/certificates.ts';
import { eachDialect, eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { seedClients } from '../support/seed.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const counters = { inletBytes: 0, exportBytes: 0 };
const user = (id: number) => ({
  kind: 'user',
  source: '',
  id,
  username: `user ${id}`,
  password: '',
  enabled: true,
  remark: '',
  maxClients: 0,
  maxTunnels: 0,
  expiresAt: null,
  createdAt: null,
  tokenHash: '',
});
const client = (id: number, ownerId: number) => ({
  kind: 'client',
  source: '',
  id,
  ownerId,
  verifyKey: `key of client ${id}`,
  remark: '',
  enabled: true,
  basicUser: '',
  basicPassword: '',
  compress: false,
  encrypt: false,
  configAllowed: false,
  rateLimit: 0,
  flowLimit: 0,
  maxConnections: 0,
  maxTunnels: 0,
  webUsername: '',
  webPassword: '',
  blocklist: [],
  allowlistEnabled: false,
  allowlistPassword: '',
  allowlist: [],
  expiresAt: null,
  createdAt: null,
  lastOnlineAt: null,
  lastAddress: '',
  localAddress: '',
  agentVersion: '',
  ...counters,
});
const host = (id: number, name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'host',
  source: '',
  id,
  clientId: 1,
  host: name,
  location: '/',
  scheme: 'all',
  remark: '',
  targets: ['80'],
  localProxy: false,
  headers: [],
  hostChange: '',
  certificate: '',
  privateKey: '',
  autoHttps: false,
  acme: false,
  platformDomainId: '',
  enabled: true,
  ...counters,
  ...more,
});

const tunnel = (id: number, more: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'tunnel',
  source: '',
  id,
  clientId: 1,
  mode: 'tcp',
  remark: '',
  port: 9000 + id,
  serverIp: '',
  targets: ['80'],
  localProxy: false,
  password: '',
  localPath: '',
  stripPrefix: '',
  proxyProtocol: '',
  accounts: [],
  enabled: true,
  ...counters,
  ...more,
});

/** What an import would do. */
async function report(api: TestSchema, records: readonly object[], update = false) {
  await api.ok('mutation ($part: String!) { stageImport(id: "r", part: $part) }', { part: records.map((record) => `${JSON.stringify(record)}\n`).join('') });
  return z.object({ runImport: importReport }).parse(
    await api.ok(`mutation ($update: Boolean!) { runImport(id: "r", dryRun: true, merge: ${!update}, update: $update) }`, { update }),
  ).runImport;
}

async function imported(api: TestSchema, update: boolean, records: readonly object[]): Promise<void> {
  await api.ok('mutation ($part: String!) { stageImport(id: "a", part: $part) }', { part: records.map((record) => `${JSON.stringify(record)}\n`).join('') });
  expect(await api.ok('mutation ($update: Boolean!) { runImport(id: "a", update: $update) }', { update })).toMatchObject({ runImport: { outcome: 'done' } });
}

eitherDialect('an import by a running server', (databases) => {
  test('knows who may have named a host by the owner that its client has after the import', async () => {
    const api = await openTestSchema(databases);
    const named = async () => (await api.services.store.db.host.findMany({ orderBy: { id: 'asc' } })).map((row) => [row.host, row.namedByAdmin]);
    await imported(api, false, [client(1, 0), host(1, 'a.example')]);
    expect(await named()).toEqual([['a.example', true]]);
    await imported(api, true, [user(1), client(1, 1), host(1, 'a.example', { remark: 'new' }), host(2, 'b.example')]);
    expect(await named()).toEqual([['a.example', true], ['b.example', false]]);
    await imported(api, true, [user(1), client(1, 0), host(1, 'a.example'), host(2, 'b.example'), host(3, 'c.example')]);
    expect((await named())[2]).toEqual(['c.example', true]);
  });

  test.each(
    [
      ['user', (db) => db.user.create({ data: { username: 'alice', passwordHash: '' } })],
      ['client', (db) => db.client.create({ data: { vkey: 'one' } })],
      ['platformDomain', (db) => db.platformDomain.create({ data: { id: 'd', wildcard: '*.p.example.com' } })],
    ] satisfies ReadonlyArray<readonly [string, (db: TestSchema['services']['store']['db']) => Promise<unknown>]>,
  )('leaves an installation alone that has a %s, and nothing else', async (_, create) => {
    const api = await openTestSchema(databases);
    await create(api.services.store.db);
    await api.ok('mutation ($part: String!) { stageImport(id: "a", part: $part) }', { part: `${JSON.stringify(client(7, 0))}\n` });
    expect(await api.ok('mutation { runImport(id: "a") }')).toMatchObject({ runImport: { outcome: 'refused', refusal: expect.stringContaining('not empty') } });
    expect(await api.services.store.db.client.findUnique({ where: { id: 7 } })).toBeNull();
  });

  test('a new record takes the place of a change that is refused, because another one is', async () => {
    const api = await openTestSchema(databases);
    await imported(api, false, [client(1, 0), tunnel(1, { serverIp: '192.0.2.1' }), tunnel(3)]);
    await api.services.store.db.tunnel.create({ data: { id: 50, clientId: 1, mode: 'tcp', port: 9500 } });
    const { problems } = await report(api, [
      client(1, 0),
      tunnel(1, { serverIp: '192.0.2.1', port: 9500, source: 'keeps its port' }),
      tunnel(3, { port: 9001, source: 'does not get it' }),
      tunnel(4, { serverIp: '192.0.2.2', port: 9001, source: 'at another address' }),
    ], true);
    expect(problems.map(({ source, field }) => [source, field])).toEqual([['keeps its port', 'port'], ['does not get it', 'port']]);
  });

  test('a client has expired if its owner has', async () => {
    const api = await openTestSchema(databases);
    await imported(api, false, [{ ...user(1), expiresAt: 1 }, client(1, 1), client(2, 0), { ...client(3, 0), expiresAt: 1 }]);
    const rows = await api.services.store.db.client.findMany({ orderBy: { id: 'asc' } });
    expect(rows.map(({ expired }) => expired)).toEqual([true, false, true]);
  });

  test('goes on behind a record that the engine cannot serve, which is applied again later, however many there are', async () => {
    const api = await openTestSchema(databases);
    api.engine.beforeApply = (change) => {
      if (change.kind === 'client' && change.client.id === 3) throw new Error('refused');
    };
    const ids = Array.from({ length: 101 }, (_, n) => n + 1);
    await imported(api, false, ids.map((id) => client(id, 0)));
    expect([...api.engine.wantedClients.keys()]).toEqual(ids.filter((id) => id !== 3));
    expect([api.services.unapplied.size, api.logged.flatMap(({ record }) => record ?? [])]).toEqual([1, ['client 3']]);
    api.services.unapplied.clear();
  });

  test('serves what it has changed: clients of a changed user, hosts of a changed platform domain, bytes that were counted', async () => {
    const api = await openTestSchema(databases);
    const domain = { kind: 'platformDomain', source: '', id: 'd', wildcard: '*.p.example.com', certificatePath: '/c', privateKeyPath: '/k' };
    const records = (changes: { readonly user: object; readonly domain: object; readonly bytes: number }) => [
      { ...user(1), ...changes.user },
      client(1, 1),
      { ...client(2, 0), inletBytes: changes.bytes, exportBytes: 5 },
      { ...domain, ...changes.domain },
      host(1, 'a.p.example.com', { clientId: 2, platformDomainId: 'd' }),
      host(2, 'b.example'),
    ];
    await imported(api, false, records({ user: {}, domain: {}, bytes: 3 }));
    expect(api.engine.applied).toMatchObject([
      ...[1, 2].map((id) => ({ kind: 'client', client: { id, enabled: true } })),
      ...[1, 2].map((id) => ({ kind: 'host', host: { id } })),
      { kind: 'trafficReset', of: 'client', id: 2, inletBytes: -3, exportBytes: -5 },
    ]);
    expect(api.engine.wantedHosts.get(1)).toMatchObject({ certificate: '/c', privateKey: '/k' });
    api.engine.applied.length = 0;
    const later = records({ user: { enabled: false }, domain: { certificatePath: '/new' }, bytes: 10 });
    await imported(api, true, later);
    expect(api.engine.applied).toMatchObject([
      { kind: 'client', client: { id: 1, enabled: false } },
      { kind: 'host', host: { id: 1, certificate: '/new', privateKey: '/k' } },
      { kind: 'trafficReset', of: 'client', id: 2, inletBytes: -7 },
    ]);
    const [, counted] = await api.services.store.db.client.findMany({ orderBy: { id: 'asc' } });
    expect([counted?.inletBytes, counted?.exportBytes]).toEqual([10n, 5n]);
    expect(await report(api, later, true)).toMatchObject({ outcome: 'nothing', counted: 0 });
  });

  test('keeps what the program has stored itself since, and passwords that have not changed; sessions of the others end', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const records = (remark: string, password: string) => [
      { ...user(1), remark, password },
      { ...user(2), remark, password: 'same password' },
      {
        ...client(1, 2),
        remark,
        webUsername: 'web',
        webPassword: 'of the web',
        agentVersion: `${remark}1`,
        lastAddress: `${remark}2`,
        localAddress: `${remark}3`,
      },
      { ...client(2, 0), remark, verifyKey: '', lastOnlineAt: remark.length, createdAt: remark.length },
      tunnel(1, { remark, inletBytes: 1 }),
      host(1, 'a.example', { remark, exportBytes: 1 }),
    ];
    await imported(api, false, records('', 'first password'));
    const before = await db.client.findUnique({ where: { id: 2 } });
    expect(before?.vkey).toMatch(/^[a-z2-7]{24}$/);
    const own = { createdAt: new Date(5000), inletBytes: 100n, exportBytes: 200n };
    const seen = { lastOnlineAt: new Date(6000), lastAddress: '192.0.2.1', localAddress: '192.0.2.2', agentVersion: '9' };
    await db.client.updateMany({ data: { ...own, ...seen } });
    await db.tunnel.updateMany({ data: own });
    await db.host.updateMany({ data: own });
    // Somebody has logged in with these since.
    const hashes = { passwordHash: '$argon2 of a user', webPasswordHash: '$argon2 of a client' };
    await db.user.update({ where: { id: 2 }, data: { passwordHash: hashes.passwordHash } });
    await db.client.update({ where: { id: 1 }, data: { webPasswordHash: hashes.webPasswordHash } });
    for (const userId of [1, 2]) await db.session.create({ data: { id: `${userId}`, kind: 'user', userId } });
    api.engine.applied.length = 0;
    await imported(api, true, records('new', 'second password'));
    expect(api.engine.applied.map(({ kind }) => kind)).toEqual(['client', 'client', 'tunnel', 'host']);
    expect(await db.user.findMany({ orderBy: { id: 'asc' } })).toMatchObject([{ remark: 'new' }, { remark: 'new', passwordHash: hashes.passwordHash }]);
    expect((await db.session.findMany()).map(({ userId }) => userId)).toEqual([2]);
    expect(await db.client.findMany({ orderBy: { id: 'asc' } })).toMatchObject([
      { remark: 'new', ...own, ...seen, webPasswordHash: hashes.webPasswordHash },
      { remark: 'new', ...own, ...seen, vkey: before?.vkey },
    ]);
    expect([await db.tunnel.findMany(), await db.host.findMany()]).toMatchObject([[{ remark: 'new', ...own }], [{ remark: 'new', ...own }]]);
  });

  test('takes over the token of each user once; two users cannot have the same', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const tokens = () => db.apiToken.findMany({ orderBy: { id: 'asc' }, select: { userId: true, hash: true, name: true } });
    await imported(api, false, [{ ...user(1), tokenHash: 'a' }, user(2)]);
    expect(await db.apiToken.findMany()).toMatchObject([
      { userId: 1, hash: 'a', name: 'imported', readOnly: false, secrets: true, wall: false, legacy: true, expiresAt: null },
    ]);
    await imported(api, true, [{ ...user(1), tokenHash: 'a', remark: 'new' }, { ...user(2), tokenHash: 'b' }]);
    const both = [{ userId: 1, hash: 'a', name: 'imported' }, { userId: 2, hash: 'b', name: 'imported' }];
    expect(await tokens()).toEqual(both);
    const { problems } = await report(api, [...[3, 4].map((id) => ({ ...user(id), tokenHash: 'c' })), { ...user(5), tokenHash: 'a' }]);
    expect(problems).toMatchObject([{ field: 'tokenHash' }]);
    expect(await tokens()).toEqual(both);
  });

  test('knows whose names may be those of the server, and which hosts overlap those of others', async () => {
    const api = await openTestSchema(databases, { publicUrl: 'https://api.example.com' });
    const { db } = api.services.store;
    const settings = { kind: 'globalSettings', source: 'settings', blocklist: [], serverUrl: 'https://panel.example.com' };
    const tenants = [client(1, 7), { ...client(2, 0), webUsername: 'web' }, client(3, 0)];
    const named = (id: number, clientId: number, name: string) => ({ ...host(id, name, { clientId }), source: `host ${id}` });
    const { problems, notes, outcome } = await report(api, [
      user(7),
      ...tenants,
      settings,
      ...[named(1, 1, 'panel.example.com'), named(2, 2, 'api.example.com'), named(3, 3, 'localhost'), named(4, 2, 'c.example')],
    ]);
    expect({ problems, outcome, own: notes.filter(({ text }) => text.includes("server's own")).map(({ source }) => source) })
      .toEqual({ problems: [], outcome: 'planned', own: ['host 1', 'host 2'] });
    const overlapping = [named(1, 2, '*.d.example'), named(2, 3, 'x.d.example')];
    expect((await report(api, [...tenants.slice(1), ...overlapping])).problems).toMatchObject([{ source: 'host 2', field: 'host' }]);
    await imported(api, false, [client(3, 0), named(1, 3, 'a.example'), { ...client(4, 99), verifyKey: 'orphan' }]);
    expect(await db.client.findUnique({ where: { id: 4 } })).toMatchObject({ enabled: false, disabledByAdmin: true, userId: null });
    // A tenant whose host has another name in the folder may have chosen that.
    await imported(api, true, [user(7), client(3, 7), named(1, 3, 'b.example')]);
    expect(await db.host.findUnique({ where: { id: 1 } })).toMatchObject({ host: 'b.example', namedByAdmin: false });
  });

  test('leaves settings that differ alone, and names what the folder no longer has, except what it leaves out', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const settings = (serverUrl: string) => ({ kind: 'globalSettings', source: 'settings', blocklist: ['192.0.2.1'], serverUrl });
    await db.globalSettings.create({ data: { id: 1, blackIpList: '192.0.2.1', serverUrl: 'https://a.example' } });
    expect(await report(api, [settings('https://b.example'), client(1, 0)])).toMatchObject({
      outcome: 'planned',
      counts: { globalSettings: { added: 0 } },
      leftOut: [{ source: 'settings' }],
    });
    expect(await report(api, [settings(' https://a.example ')])).toMatchObject({ outcome: 'planned', counts: { globalSettings: { added: 1 } }, leftOut: [] });
    await imported(api, false, [settings('https://a.example'), client(1, 0), client(2, 0), client(3, 0)]);
    await db.client.delete({ where: { id: 3 } });
    const { leftOut } = await report(api, [client(4, 0), { kind: 'leftOut', of: 'client', ids: [2] }], true);
    expect(leftOut).toEqual([{ source: 'client 1', text: expect.stringContaining('no longer in the folder') }]);
    // Those that were imported follow the folder.
    expect(await report(api, [settings('https://b.example')], true)).toMatchObject({ counts: { globalSettings: { changed: 1 } } });
  });

  test('keeps the redirect to HTTPS of a host that has HTTPS, below a platform domain too', async () => {
    const api = await openTestSchema(databases);
    const [certificatePath, privateKeyPath] = [path.join(directory, 'certificate.pem'), path.join(directory, 'key.pem')];
    writeFileSync(certificatePath, covering.certificate);
    writeFileSync(privateKeyPath, covering.key);
    const domain = { kind: 'platformDomain', source: '', id: 'd', wildcard: '*.p.example.com' };
    await imported(api, false, [
      client(1, 0),
      { ...domain, certificatePath, privateKeyPath },
      host(1, 'a.p.example.com', { platformDomainId: 'd', autoHttps: true }),
      host(2, 'a.example', { autoHttps: true }),
      host(3, 'b.example', { autoHttps: true, scheme: 'http' }),
    ]);
    const rows = await api.services.store.db.host.findMany({ orderBy: { id: 'asc' } });
    expect(rows.map(({ autoHttps }) => autoHttps)).toEqual([true, true, false]);
  });
});

eachDialect('the stored state that an import compares with', (databases) => {
  test('has every record, also beyond a thousand, and of every kind those of earlier imports, which share ids', async () => {
    const store = await databases.openEmpty();
    const ids = await seedClients(store, 1001, (n) => ({ webUsername: `web ${n}`, vkey: `the key ${n}` }));
    const data = ['user', 'client', 'tunnel'].flatMap((resource, kind) =>
      Array.from({ length: 700 }, (_, n) => ({ resource, recordId: String(n), digest: `${resource} ${n}`, inletBytes: 10 * n + kind, exportBytes: 5 * n }))
    );
    for (let start = 0; start < data.length; start += 100) {
      await store.transaction((tx) => tx.importedRecord.createMany({ data: data.slice(start, start + 100) }));
    }
    const { clients, earlier } = await readStoredState(store.db);
    expect([...clients.values()].map(({ id, vkey, webUsername }) => [id, vkey, webUsername])).toEqual(
      ids.map((id, n) => [id, `the key ${n + 1}`, `web ${n + 1}`]),
    );
    expect(earlier).toEqual(
      new Map(
        data.map(({ resource, recordId, digest, inletBytes, exportBytes }) => [`${resource} ${recordId}`, { digest, inletBytes, exportBytes }] as const),
      ),
    );
  });
});
