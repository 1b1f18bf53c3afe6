import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
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
    await imported(api, true, [user(1), client(1, 1), host(1, 'a.example'), host(2, 'b.example')]);
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
