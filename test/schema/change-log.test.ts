import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { ChangeLog } from '../../src/store/change-log.ts';
import { openStore } from '../../src/store/store.ts';
import type { Transaction } from '../../src/store/transaction.ts';
import { wantedClient, wantedTunnel } from '../../src/schema/writes/engine-changes.ts';
import type { LoggedChange } from '../../src/schema/writes/logged-changes.ts';
import { testDatabases } from '../support/database.ts';
import { FakeEngine } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { relayToPostgresql } from '../support/postgresql-relay.ts';
import { describeWith } from '../support/programs.ts';
import { openSchemaOver, openTestSchema, type SchemaOver, type TestSchema } from '../support/schema.ts';
import { writable } from '../support/test-store.ts';

const createClient = 'mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }';
const createTunnel = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';
const entry = {
  at: new Date(),
  callerKind: 'admin',
  callerId: null,
  method: '',
  tokenName: '',
  address: '',
  resource: 'client',
  resourceId: '1',
  action: 'create',
  before: null,
  after: null,
};

const ends: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** The schema as a server has it: it follows the log. */
async function following<Api extends SchemaOver>(api: Api): Promise<Api> {
  const { follower } = api.services.store;
  follower.start(api.services.catchUp);
  ends.push(() => follower.stop());
  await follower.look();
  return api;
}

/** A transaction as another server makes it. */
function elsewhere({ store: { db } }: TestSchema['services'], work: (tx: Transaction) => Promise<readonly LoggedChange[]>): Promise<void> {
  const changeLog = new ChangeLog(db);
  return db.$transaction(async (tx) => {
    await changeLog.lock(tx);
    await changeLog.add(tx, [entry], JSON.stringify(await work(tx)));
  });
}

async function expectAgreement({ services: { store: { db } } }: SchemaOver, engine: FakeEngine): Promise<void> {
  const clients = await db.client.findMany({ include: { user: true }, orderBy: { id: 'asc' } });
  const tunnels = await db.tunnel.findMany({ orderBy: { id: 'asc' } });
  expect([...engine.wantedClients.values()].toSorted((a, b) => a.id - b.id)).toEqual(clients.map(wantedClient));
  expect([...engine.wantedTunnels.values()].toSorted((a, b) => a.id - b.id)).toEqual(tunnels.map(wantedTunnel));
}

describeWith('initdb', 'the log of changes', () => {
  const databases = testDatabases('postgresql');

  test('takes more entries of the audit log than the parameters of one statement, in their order', async () => {
    const { services: { store: { db } } } = await openTestSchema(databases);
    const changeLog = new ChangeLog(db);
    const many = Array.from({ length: 7000 }, (_, n) => ({ ...entry, resourceId: String(n) }));
    const { entries } = await db.$transaction(async (tx) => {
      await changeLog.lock(tx);
      return changeLog.add(tx, many, '[]');
    });
    const stored = await db.auditEntry.findMany({ orderBy: { id: 'asc' }, select: { id: true, resourceId: true } });
    expect(entries.map(({ id, resourceId }) => ({ id, resourceId }))).toEqual(stored);
    expect(stored.map(({ resourceId }) => Number(resourceId))).toEqual(many.map((_, n) => n));
    const { firstEntry, lastEntry } = await db.loggedCommit.findFirstOrThrow({ orderBy: { seq: 'desc' } });
    expect([firstEntry, lastEntry]).toEqual([stored[0]?.id, stored.at(-1)?.id]);
  });

  test('has each commit once, in order and without holes, from any server: all are followed, and own ones are published once', async () => {
    const api = await following(await openTestSchema(databases));
    const { store, changes } = api.services;
    const published: number[] = [];
    changes.subscribe((change) => void ('id' in change && published.push(change.id)));
    await Promise.all([
      ...Array.from({ length: 40 }, async (_, n) => {
        if (n % 4 === 0) await store.follower.look();
        return api.ok(createClient, { input: { remark: `own ${n}` } });
      }),
      ...Array.from({ length: 10 }, (_, n) =>
        elsewhere(api.services, async (tx) => {
          const { id } = await tx.client.create({ data: { vkey: `other ${n}` } });
          await tx.$executeRaw`SELECT pg_sleep(0.002)`;
          return [{ resource: 'client', id }];
        })),
    ]);
    await store.follower.look();
    await expectAgreement(api, api.engine);
    expect(published.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    const log = await store.db.loggedCommit.findMany({ orderBy: { seq: 'asc' } });
    expect(log.map(({ seq }) => Number(seq) - Number(log[0]?.seq))).toEqual(log.map((_, index) => index));
    expect(store.follower.figures).toEqual({ seq: Number(log.at(-1)?.seq), lagMs: 0 });
  });

  test('tells a commit from another one with its number, and keeps the last one and those of the last hour', async () => {
    const { store } = (await openTestSchema(databases)).services;
    const { db } = store;
    const changeLog = new ChangeLog(db);
    const add = () => db.$transaction(async (tx) => (await changeLog.add(tx, [], '[]')).position ?? { seq: 0, token: '' });
    const [old, young, last] = [await add(), await add(), await add()];
    expect([await changeLog.isCommitted(young), await changeLog.isCommitted({ ...young, token: last.token })]).toEqual([true, false]);
    expect(await changeLog.isCommitted({ seq: last.seq + 1, token: last.token })).toBe(false);
    const hour = 3_600_000;
    const since = async (age: number, ...positions: readonly { readonly seq: number }[]) => {
      await db.loggedCommit.updateMany({ where: { seq: { in: positions.map(({ seq }) => seq) } }, data: { at: new Date(Date.now() - age) } });
      await store.prune({ audit: 1, traffic: { minute: 1, hour: 1, day: 1 } });
      return (await db.loggedCommit.findMany({ where: { seq: { gte: old.seq } }, orderBy: { seq: 'asc' } })).map(({ token }) => token);
    };
    expect(await since(hour + 60_000, old)).toEqual([young.token, last.token]);
    expect(await since(hour - 60_000, young)).toEqual([young.token, last.token]);
    expect(await since(24 * hour, young, last)).toEqual([last.token]);
  });

  test('has the commit of another server before the own one behind it, and publishes them in this order', async () => {
    const api = await following(await openTestSchema(databases));
    const published: number[] = [];
    api.services.changes.subscribe((change) => void ('id' in change && published.push(change.id)));
    // Once a second the log is read anyway.
    for (let first = 1; first <= 9; first += 2) {
      await elsewhere(api.services, async (tx) => {
        const { id } = await tx.client.create({ data: { vkey: `other ${first}` } });
        return [{ resource: 'client', id }];
      });
      await api.ok(createClient, { input: {} });
      expect(published.splice(0)).toEqual([first, first + 1]);
    }
  });

  test('is read once by each transaction of writes that bind ports: nobody else commits meanwhile', async () => {
    const api = await openTestSchema(databases);
    const { follower, db } = api.services.store;
    const clientId = await api.id(createClient, { input: {} });
    const looks = jest.spyOn(follower, 'look');
    const before = await db.loggedCommit.count();
    await Promise.all(Array.from({ length: 20 }, () => api.ok(createTunnel, { input: { clientId, mode: 'TCP', targets: ['1'] } })));
    const transactions = await db.loggedCommit.count() - before;
    expect(transactions).toBeLessThan(20);
    expect(looks).toHaveBeenCalledTimes(transactions);
  });

  test('tells of changes and deletions elsewhere: of clients, of tunnels, of a user with its clients, of the settings', async () => {
    const api = await following(await openTestSchema(databases));
    const { store } = api.services;
    const clientId = await api.id(createClient, { input: {} });
    const id = await api.id(createTunnel, { input: { clientId, mode: 'TCP' } });
    await elsewhere(api.services, async (tx) => {
      const user = await tx.user.create({ data: { username: 'alice', passwordHash: '', expiresAt: new Date(5) } });
      await tx.client.update({ where: { id: clientId }, data: { userId: user.id } });
      await tx.tunnel.update({ where: { id }, data: { port: 4711 } });
      await tx.globalSettings.create({ data: { id: 1, blackIpList: '192.0.2.1', serverUrl: 'http://adit.example' } });
      return [{ resource: 'user', id: user.id }, { resource: 'tunnel', id, was: { id: clientId, userId: null } }, { resource: 'globalSettings' }];
    });
    await store.follower.look();
    await expectAgreement(api, api.engine);
    expect(api.engine.wantedClients.get(clientId)?.expiresAt).toBe(5);
    expect(api.engine.applied.slice(-2)).toEqual([{ kind: 'blackIpList', list: ['192.0.2.1'] }, { kind: 'serverName', name: 'adit.example' }]);
    await elsewhere(api.services, async (tx) => {
      const { id: userId } = await tx.user.findFirstOrThrow();
      await tx.user.delete({ where: { id: userId } });
      await tx.tunnel.delete({ where: { id } });
      return [{ resource: 'user', id: userId, ids: [clientId] }, { resource: 'tunnel', id, was: { id: clientId, userId } }];
    });
    await store.follower.look();
    await expectAgreement(api, api.engine);
    expect(api.engine.wantedTunnels.size).toBe(0);
    expect(api.engine.wantedClients.get(clientId)?.expiresAt).toBeNull();
  });

  test('has the bytes that an import adds to counters, and resets beside it are applied, too: each once', async () => {
    const api = await following(await openTestSchema(databases));
    const [one, two] = [await api.id(createClient, { input: {} }), await api.id(createClient, { input: {} })];
    const tunnel = await api.id(createTunnel, { input: { clientId: one, mode: 'TCP', targets: ['1'] } });
    const published: unknown[] = [];
    api.services.changes.subscribe((change) => void ('reset' in change && change.reset !== undefined && published.push([change.resource, change.id])));
    await elsewhere(api.services, async () => [{ resource: 'import', counted: [['client', one, 100, 5], ['tunnel', tunnel, 90, 4]] }]);
    await elsewhere(api.services, async () => [{ resource: 'client', id: two, reset: { inletBytes: 7, exportBytes: 8 } }]);
    await eventually(() => published.length, (count) => count >= 3);
    await api.services.store.follower.look();
    expect(published).toEqual([['client', one], ['tunnel', tunnel], ['client', two]]);
    expect(api.engine.applied.filter(({ kind }) => kind === 'trafficReset')).toEqual([
      { kind: 'trafficReset', of: 'client', id: one, inletBytes: -100, exportBytes: -5 },
      { kind: 'trafficReset', of: 'tunnel', id: tunnel, inletBytes: -90, exportBytes: -4 },
      { kind: 'trafficReset', of: 'client', id: two, inletBytes: 7, exportBytes: 8 },
    ]);
    await expectAgreement(api, api.engine);
  });

  test('reaches subscribers: states with who could see them before, and entries of the audit log', async () => {
    const api = await following(await openTestSchema(databases));
    const { store, live } = api.services;
    const user = await store.db.user.create({ data: { username: 'alice', passwordHash: '', clients: { create: { vkey: 'k' } } }, include: { clients: true } });
    const clientId = user.clients[0]?.id ?? 0;
    const states = live.states({ kind: 'user', userId: user.id }, 'client');
    const audit = live.audit({ kind: 'admin' });
    await elsewhere(api.services, async (tx) => {
      await tx.client.delete({ where: { id: clientId } });
      return [{ resource: 'client', id: clientId, was: { id: clientId, userId: user.id } }];
    });
    await store.follower.look();
    expect(await states.next()).toMatchObject({ value: { kind: 'client', id: clientId, row: null } });
    expect(await audit.next()).toMatchObject({ value: { resource: 'client', resourceId: '1', action: 'create' } });
    await Promise.all([states.return?.(), audit.return?.()]);
  });

  test('goes on behind a change that the engine refuses, which is applied again with its current rows until it succeeds', async () => {
    const api = await following(await openTestSchema(databases));
    const { store, unapplied } = api.services;
    const [poisoned, next] = [await api.id(createClient, { input: {} }), await api.id(createClient, { input: {} })];
    api.engine.beforeApply = (change) => {
      if (change.kind === 'client' && change.client.id === poisoned) throw new Error('poisoned');
    };
    await elsewhere(api.services, async (tx) => {
      await tx.client.updateMany({ data: { maxConnections: 7 } });
      return [{ resource: 'client', id: poisoned }, { resource: 'client', id: next }];
    });
    await store.follower.look();
    expect(api.engine.wantedClients.get(next)?.maxConnections).toBe(7);
    expect(unapplied.size).toBe(1);
    expect(api.logged).toContainEqual(expect.objectContaining({ record: `client ${poisoned}`, msg: expect.stringContaining('could not be applied') }));
    // Changed again meanwhile, by this server, where the engine refuses it as well.
    expect(await api.code('mutation ($id: ID!) { updateClient(id: $id, input: { maxConnections: 8 }) { id } }', { id: poisoned })).toBe('INTERNAL');
    api.engine.beforeApply = () => undefined;
    await eventually(() => unapplied.size, (size) => size === 0);
    expect(api.engine.wantedClients.get(poisoned)?.maxConnections).toBe(8);
    await expectAgreement(api, api.engine);
  });

  test('of another copy of the database: everything is loaded, and the engine serves what is stored then', async () => {
    const api = await following(await openTestSchema(databases));
    const { store, live } = api.services;
    const kept = await api.id(createClient, { input: {} });
    const gone = await api.id(createClient, { input: {} });
    await api.id(createTunnel, { input: { clientId: kept, mode: 'TCP' } });
    await api.id(createTunnel, { input: { clientId: gone, mode: 'TCP' } });
    const states = live.states({ kind: 'admin' }, 'client');
    // As after a restore of a backup that another history went on from: the numbers are the same, the tokens are not.
    await store.db.client.delete({ where: { id: gone } });
    await store.db.client.update({ where: { id: kept }, data: { rateLimit: 3 } });
    await store.db.client.create({ data: { vkey: 'from the backup', tunnels: { create: { mode: 'tcp', port: 1234 } } } });
    await store.db.$executeRaw`UPDATE "LoggedCommit" SET token = md5(token)`;
    await store.follower.look();
    await expectAgreement(api, api.engine);
    expect(await states.next()).toMatchObject({ done: true });
    // A log without the row as well, and with fewer rows.
    await store.db.client.update({ where: { id: kept }, data: { rateLimit: 4 } });
    await store.db.$executeRaw`DELETE FROM "LoggedCommit" WHERE seq > (SELECT min(seq) FROM "LoggedCommit")`;
    await store.follower.look();
    await expectAgreement(api, api.engine);
    expect(await api.code(createClient, { input: {} })).toBeUndefined();
    await expectAgreement(api, api.engine);
  });

  test('is not blocked by a server that freezes while it holds the lock of all writers: the database ends its transaction after three seconds', async () => {
    const api = await following(await openTestSchema(databases));
    let frozen: () => void = () => undefined;
    const locked = new Promise<void>((resolve) => {
      frozen = resolve;
    });
    const stuck = elsewhere(api.services, async (tx) => {
      await tx.client.create({ data: { vkey: 'never committed' } });
      frozen();
      await setTimeout(6000); // sends nothing, as a frozen process does
      return [];
    });
    const ended = Promise.allSettled([stuck]);
    await locked;
    const from = performance.now();
    expect(await api.code(createClient, { input: { verifyKey: 'kept' } })).toBeUndefined();
    expect(performance.now() - from).toBeGreaterThan(1000);
    expect((await api.services.store.db.client.findMany()).map(({ vkey }) => vkey)).toEqual(['kept']);
    expect(await ended).toMatchObject([{ status: 'rejected' }]);
  });

  /** The schema over a store that reaches its database through a relay. */
  async function throughRelay() {
    const { url, dataDir } = await databases.create();
    const relay = await relayToPostgresql(url);
    ends.push(async () => relay.close());
    const store = writable(await openStore({ url: relay.url, dataDir, log: pino({ level: 'silent' }) }));
    ends.push(() => store.close());
    const engine = new FakeEngine();
    const api = await following(await openSchemaOver(engine, { ...databases, openEmpty: async () => store }));
    return { api, engine, relay };
  }

  test('says what became of a write whose COMMIT or its response was lost', async () => {
    const { api, engine, relay } = await throughRelay();
    const clientId = await api.id(createClient, { input: {} });
    relay.lose('response');
    const id = await api.id(createTunnel, { input: { clientId, mode: 'TCP', remark: 'committed' } });
    expect(engine.wantedTunnels.get(id)).toMatchObject({ port: 20_000 });
    relay.lose('commit');
    expect(await api.code(createTunnel, { input: { clientId, mode: 'TCP', remark: 'rolled back' } })).toBe('DATABASE_UNAVAILABLE');
    expect((await api.services.store.db.tunnel.findMany()).map(({ remark }) => remark)).toEqual(['committed']);
    expect(engine.openLeases.size).toBe(0);
    await expectAgreement(api, engine);
    expect(await api.code(createTunnel, { input: { clientId, mode: 'TCP' } })).toBeUndefined();
  });

  test(
    'has the write of which nobody knew whether it was committed: it fails, its port is released, and it is in effect when the database is back',
    async () => {
      const { api, engine, relay } = await throughRelay();
      const clientId = await api.id(createClient, { input: {} });
      relay.lose('response', true);
      expect(await api.code(createTunnel, { input: { clientId, mode: 'TCP' } })).toBe('DATABASE_UNAVAILABLE');
      expect([engine.openLeases.size, engine.wantedTunnels.size]).toEqual([0, 0]);
      expect(api.services.store.follower.figures.lagMs).toBeGreaterThan(4000);
      relay.comeBack();
      await eventually(() => engine.wantedTunnels.size, (size) => size === 1);
      await expectAgreement(api, engine);
      await eventually(() => api.services.store.follower.figures.lagMs, (lag) => lag === 0);
    },
  );
});
