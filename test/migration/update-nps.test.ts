import { expect, jest, test } from '@jest/globals';
import { readNpsFolder } from '../../src/migration/nps/folder.ts';
import { importWork } from '../../src/schema/import/run.ts';
import type { MadeChange } from '../../src/schema/writes/changes.ts';
import { eitherDialect } from '../support/database.ts';
import { falseCounts } from '../support/false-counts.ts';
import { everything, importFolder, npsClient, npsFolder, npsHost, npsTunnel, npsUser } from '../support/nps-folder.ts';
import { schemaSettings } from '../support/schema-settings.ts';
import { statementsOf } from '../support/statements.ts';

const platform = { ID: 'p', Wildcard: '*.example.org', CertFilePath: '', KeyFilePath: '' };
const secret = { Mode: 'secret', Port: 0 };
const onPlatform = { PlatformDomainID: 'p', Scheme: 'http' };
const before = {
  users: [npsUser({ Id: 1, UserName: 'alice' }), npsUser({ Id: 2, UserName: 'bob' })],
  clients: [npsClient({ Id: 2 }), npsClient({ Id: 3 }), npsClient({ Id: 4 })],
  tasks: [
    npsTunnel({ Id: 5, Port: 9005 }),
    npsTunnel({ Id: 6, Port: 9006 }),
    npsTunnel({ Id: 7, Password: 'seven', ...secret }),
    npsTunnel({ Id: 8, Password: 'eight', ...secret }),
  ],
  hosts: [
    npsHost({ Id: 3, Host: 'a.example.com' }),
    npsHost({ Id: 4, Host: 'b.example.com' }),
    npsHost({ Id: 5, Host: 'a.example.org', ...onPlatform }),
    npsHost({ Id: 6, Host: 'b.example.org', ...onPlatform }),
  ],
  global: { PlatformDomains: [platform, { ...platform, ID: 'q', Wildcard: '*.example.net' }] },
};

eitherDialect('--update', (databases) => {
  test('records that exchange unique values, and new ones that get the value of a changed one', async () => {
    const store = await databases.openEmpty();
    const folder = npsFolder(before);
    expect(await importFolder(store, folder)).toMatchObject({ outcome: 'done', problems: [] });
    npsFolder({
      users: [npsUser({ Id: 1, UserName: 'bob' }), npsUser({ Id: 2, UserName: 'alice' })],
      clients: [
        npsClient({ Id: 2, VerifyKey: 'key3' }),
        npsClient({ Id: 3, VerifyKey: 'key4' }),
        npsClient({ Id: 4, VerifyKey: 'other' }),
        npsClient({ Id: 9, VerifyKey: 'key2' }),
      ],
      tasks: [
        npsTunnel({ Id: 5, Port: 9006 }),
        npsTunnel({ Id: 6, Port: 9005 }),
        npsTunnel({ Id: 7, Password: 'eight', ...secret }),
        npsTunnel({ Id: 8, Password: 'another', ...secret }),
        npsTunnel({ Id: 9, Password: 'seven', ...secret, Mode: 'p2p' }),
      ],
      hosts: [
        npsHost({ Id: 3, Host: 'b.example.com' }),
        npsHost({ Id: 4, Host: 'a.example.com' }),
        npsHost({ Id: 5, Host: 'b.example.org', ...onPlatform }),
        npsHost({ Id: 6, Host: 'a.example.org', ...onPlatform }),
      ],
      global: {
        ServerUrl: 'https://nps.example.net',
        PlatformDomains: [platform, { ...platform, ID: 'q', Wildcard: '*.example.info' }, { ...platform, ID: 'r', Wildcard: '*.example.net' }],
      },
    }, folder);
    const report = await importFolder(store, folder, { update: true });
    expect(report).toMatchObject({ outcome: 'done', problems: [], counts: { globalSettings: { added: 0, changed: 1 } } });
    const { db } = store;
    const orderBy = { id: 'asc' } as const;
    expect(await db.user.findMany({ orderBy, select: { username: true } })).toEqual([{ username: 'bob' }, { username: 'alice' }]);
    expect((await db.client.findMany({ orderBy })).map(({ id, vkey }) => `${id} ${vkey}`)).toEqual(['2 key3', '3 key4', '4 other', '9 key2']);
    expect((await db.tunnel.findMany({ orderBy })).map(({ id, port, password, clientKey }) => `${id} ${port} ${password} ${clientKey}`)).toEqual([
      '5 9006  key3',
      '6 9005  key3',
      '7 0 eight key3',
      '8 0 another key3',
      '9 0 seven key3',
    ]);
    expect((await db.host.findMany({ orderBy })).map(({ id, host, platformPrefix }) => `${id} ${host} ${platformPrefix}`)).toEqual([
      '3 b.example.com null',
      '4 a.example.com null',
      '5 b.example.org b',
      '6 a.example.org a',
    ]);
    expect((await db.platformDomain.findMany({ orderBy })).map(({ id, wildcard }) => `${id} ${wildcard}`)).toEqual([
      'p *.example.org',
      'q *.example.info',
      'r *.example.net',
    ]);
    expect(await falseCounts(store)).toEqual([]);
    expect(await importFolder(store, folder, { update: true })).toMatchObject({ outcome: 'nothing' });
  });

  test('the codes of a client that gets another key or owner end, since nobody who has one may get that key', async () => {
    const store = await databases.openEmpty();
    const folder = npsFolder({ ...before, clients: [...before.clients, npsClient({ Id: 5, UserId: 1 })] });
    await importFolder(store, folder);
    const [created, later] = [new Date(), new Date(Date.now() + 3_600_000)];
    for (const clientId of [2, 3, 4, 5]) {
      // One has none but a code that was used, and can be used again by the same machine.
      if (clientId !== 3) await store.db.enrolment.create({ data: { clientId, hash: `open ${clientId}`, expiresAt: later } });
      await store.db.enrolment.create({ data: { clientId, hash: `used ${clientId}`, expiresAt: later, usedAt: created, machine: 'm' } });
    }
    const client = (Id: number, VerifyKey: string, UserId = 0) => npsClient({ Id, VerifyKey, UserId });
    // Two of them exchange their keys: a code must not return the one that the other had. Of the third, only a remark changes, of the fourth the owner.
    npsFolder({ ...before, clients: [client(2, 'key3'), client(3, 'key2'), { ...npsClient({ Id: 4 }), Remark: 'new' }, client(5, 'key5', 2)] }, folder);
    expect(await importFolder(store, folder, { update: true })).toMatchObject({ outcome: 'done', problems: [] });
    const usable = { expiresAt: { gt: new Date() } };
    expect((await store.db.enrolment.findMany({ where: usable, orderBy: { id: 'asc' } })).map(({ hash }) => hash)).toEqual(['open 4', 'used 4']);
    const logged = await store.db.auditEntry.findMany({ where: { resource: 'enrolment' }, orderBy: { id: 'asc' } });
    expect(logged.map(({ action, after, before: was }) => `${action} ${JSON.parse(after ?? was ?? '').clientId}`)).toEqual([
      'delete 2',
      'update 2',
      'update 3',
      'delete 5',
      'update 5',
    ]);
  });

  test('the engine gets what changes with an owner or a platform domain, too, hosts have the certificate of theirs, and a new password ends sessions', async () => {
    const store = await databases.openEmpty();
    const { db } = store;
    const clients = [npsClient({ Id: 2, UserId: 1 }), npsClient({ Id: 3, UserId: 2 }), npsClient({ Id: 4 })];
    const folder = npsFolder({ ...before, clients });
    await importFolder(store, folder);
    for (const userId of [1, 2]) await db.session.create({ data: { id: `of ${userId}`, kind: 'user', userId, createdAt: new Date(), lastSeenAt: new Date() } });
    const flow = (InletFlow: number, ExportFlow: number) => ({ Flow: { InletFlow, ExportFlow, FlowLimit: 0 } });
    npsFolder({
      ...before,
      users: [npsUser({ Id: 1, UserName: 'alice', Password: 'another' }), npsUser({ Id: 2, UserName: 'bob', Remark: 'new' })],
      clients: [...clients.slice(0, 2), npsClient({ Id: 4, Remark: 'new', ...flow(5, 6) }), npsClient({ Id: 9, ...flow(7, 8) })],
      global: { PlatformDomains: [{ ...platform, CertFilePath: '/certificate', KeyFilePath: '/key' }, before.global.PlatformDomains[1]] },
    }, folder);
    const { set, ...findings } = readNpsFolder(folder);
    const made: MadeChange[] = [];
    const options = { dryRun: false, merge: false, update: true, skipBroken: false };
    const work = importWork(set, findings, options, { dialect: store.dialect, settings: schemaSettings, now: Date.now });
    expect(await store.transaction((tx) => work(tx, (change) => void made.push(change)))).toMatchObject({ outcome: 'done', problems: [] });
    const sorted = (ids: readonly number[]) => ids.toSorted((one, other) => one - other);
    expect(
      made.flatMap((change) =>
        change.resource === 'import' ? [{ ...change.rows, clients: sorted(change.rows.clients), hosts: sorted(change.rows.hosts) }] : []
      ),
    )
      .toEqual([{
        clients: [2, 3, 4, 9],
        tunnels: [],
        hosts: [5, 6],
        counted: [
          { resource: 'client', id: 4, inletBytes: 5, exportBytes: 6 },
          { resource: 'client', id: 9, inletBytes: 7, exportBytes: 8 },
        ],
        globalSettings: false,
      }]);
    const files = await db.host.findMany({ orderBy: { id: 'asc' }, select: { certFilePath: true, keyFilePath: true } });
    const [none, ofDomain] = [{ certFilePath: '', keyFilePath: '' }, { certFilePath: '/certificate', keyFilePath: '/key' }];
    expect(files).toEqual([none, none, ofDomain, ofDomain]);
    expect(await db.session.findMany({ select: { userId: true } })).toEqual([{ userId: 2 }]);
  });

  test('more records than one statement writes exchange unique values', async () => {
    const store = await databases.openEmpty();
    const keyed = (key: (n: number) => string) => ({ clients: Array.from({ length: 501 }, (_, n) => npsClient({ Id: n + 2, VerifyKey: key(n) })) });
    const folder = npsFolder(keyed((n) => `key${n}`));
    expect(await importFolder(store, folder)).toMatchObject({ outcome: 'done', problems: [] });
    npsFolder(keyed((n) => `key${(n + 1) % 501}`), folder);
    expect(await importFolder(store, folder, { update: true })).toMatchObject({ outcome: 'done', problems: [], counts: { client: { changed: 501 } } });
    expect((await store.db.client.findMany({ orderBy: { id: 'asc' } })).at(-1)?.vkey).toBe('key0');
  });

  test('an import that takes long asks the database something meanwhile, so that the connection does not count as lost', async () => {
    const store = await databases.openEmpty();
    const folder = npsFolder({ clients: Array.from({ length: 200 }, (_, n) => npsClient({ Id: n + 2 })) });
    const asked = async (step: number): Promise<boolean> => {
      let now = 0;
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => now += step);
      try {
        return (await statementsOf(store, () => importFolder(store, folder, { dryRun: true }))).includes('SELECT 1');
      } finally {
        clock.mockRestore();
      }
    };
    expect([await asked(0), await asked(600)]).toEqual([false, true]);
  });

  test('if one of two that exchange their values cannot be imported, the other one cannot either', async () => {
    const store = await databases.openEmpty();
    const folder = npsFolder(before);
    await importFolder(store, folder);
    const stored = await everything(store);
    npsFolder({
      ...before,
      // Client 2 waits for the key of client 3, which waits for that of client 4, whose record is broken.
      clients: [npsClient({ Id: 2, VerifyKey: 'key3' }), npsClient({ Id: 3, VerifyKey: 'key4' }), npsClient({ Id: 4, VerifyKey: 'new', Remark: 'a\0b' })],
      tasks: [npsTunnel({ Id: 5, Port: 9006 }), npsTunnel({ Id: 6, Port: 9005, Target: { TargetStr: 'nonsense' } }), ...before.tasks.slice(2)],
    }, folder);
    const report = await importFolder(store, folder, { update: true, skipBroken: true });
    expect(report).toMatchObject({ outcome: 'nothing', counts: { client: { changed: 0 }, tunnel: { changed: 0 } } });
    expect(report.problems.map(({ source, field }) => `${source} ${field}`)).toEqual([
      'clients.json: Id 4 Remark',
      'clients.json: Id 3 VerifyKey',
      'clients.json: Id 2 VerifyKey',
      'tasks.json: Id 6 Target.TargetStr',
      'tasks.json: Id 5 Port',
    ]);
    expect(await everything(store)).toEqual(stored);
  });

  test('counters never exceed what a number holds exactly', async () => {
    const store = await databases.openEmpty();
    const most = Number.MAX_SAFE_INTEGER;
    const folder = npsFolder({ clients: [npsClient({ Flow: { InletFlow: 0, ExportFlow: 10 } })] });
    await importFolder(store, folder);
    await store.db.client.update({ where: { id: 2 }, data: { inletBytes: 100 } });
    npsFolder({ clients: [npsClient({ Flow: { InletFlow: most, ExportFlow: 0 } })] }, folder);
    expect(await importFolder(store, folder, { update: true })).toMatchObject({ outcome: 'done', counted: 1 });
    expect(await store.db.client.findFirst()).toMatchObject({ inletBytes: BigInt(most), exportBytes: 0n });
  });
});
