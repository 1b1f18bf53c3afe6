import { describe, expect, test } from '@jest/globals';
import { Changes, type FollowedChange } from '../../src/schema/writes/followed-changes.ts';
import { wantedClient, wantedTunnel } from '../../src/schema/writes/engine-changes.ts';
import type { LoggedChange } from '../../src/schema/writes/logged-changes.ts';
import { eitherDialect, testDatabases } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const createClient = 'mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }';
const createTunnel = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';
const updateTunnel = 'mutation ($id: ID!, $input: UpdateTunnelInput!) { updateTunnel(id: $id, input: $input) { id } }';

/** The engine received what is stored, for every client and tunnel. */
async function expectAgreement({ services, engine }: TestSchema): Promise<void> {
  const clients = await services.store.db.client.findMany({ include: { user: true } });
  const tunnels = await services.store.db.tunnel.findMany();
  expect([...engine.wantedClients.values()].toSorted((a, b) => a.id - b.id)).toEqual(clients.map(wantedClient));
  expect([...engine.wantedTunnels.values()].toSorted((a, b) => a.id - b.id)).toEqual(tunnels.map(wantedTunnel));
  expect(engine.openLeases.size).toBe(0);
}

eitherDialect('changes', (databases) => {
  test('changes of the same tunnel at once leave store and engine agreeing, however long the engine takes for each', async () => {
    const api = await openTestSchema(databases);
    const clientId = await api.id(createClient, { input: {} });
    const id = await api.id(createTunnel, { input: { clientId, mode: 'TCP' } });
    let turns = 9;
    // The first change takes the engine longest: applied in the order of their ends, the first would be the last.
    api.engine.beforeApply = async () => {
      for (let turn = turns--; turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve));
    };
    const mutation = (name: string) => `mutation ($id: ID!) { ${name}(id: $id) { id } }`;
    await Promise.all([
      api.run(updateTunnel, { id, input: { port: 9001, targets: ['10.0.0.1:1'] } }),
      api.run(mutation('stopTunnel'), { id }),
      api.run(updateTunnel, { id, input: { port: 9002, targets: ['10.0.0.1:2'] } }),
      api.run(mutation('startTunnel'), { id }),
      api.run(updateTunnel, { id, input: { port: 9003 } }),
      api.run(updateTunnel, { id, input: { port: 9001 } }),
    ]);
    await expectAgreement(api);
    expect(await api.record('query ($id: ID!) { tunnel(id: $id) { port targets enabled } }', { id })).toEqual({
      port: 9001,
      targets: ['10.0.0.1:2'],
      enabled: true,
    });
  });

  test('a client that is deleted while tunnels are added to it leaves none behind', async () => {
    const api = await openTestSchema(databases);
    const clientId = await api.id(createClient, { input: {} });
    const add = () => api.code(createTunnel, { input: { clientId, mode: 'TCP' } });
    const codes = await Promise.all([add(), add(), api.code('mutation ($clientId: ID!) { deleteClient(id: $clientId) }', { clientId }), add(), add()]);
    expect(codes).toEqual([undefined, undefined, undefined, 'NOT_FOUND', 'NOT_FOUND']);
    await expectAgreement(api);
    expect(await api.record('{ tunnels { total } }')).toEqual({ total: 0 });
  });

  test('what is asked for at once and does not go together ends with one of the two, everywhere the same', async () => {
    const api = await openTestSchema(databases);
    const clientId = await api.id(createClient, { input: {} });
    const codes = await Promise.all([1, 2, 3, 4].map(() => api.code(createTunnel, { input: { clientId, mode: 'TCP', port: 9001 } })));
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    await expectAgreement(api);
  });

  test('every write is published once, with the record as it is then and its owner before; a failed one is not', async () => {
    const api = await openTestSchema(databases);
    const reported: FollowedChange[] = [];
    api.services.changes.subscribe((change) => void reported.push(change));
    const clientId = await api.id(createClient, { input: { remark: 'a', verifyKey: 'k' } });
    await api.ok('mutation ($id: ID!, $input: UpdateClientInput!) { updateClient(id: $id, input: $input) { id } }', { id: clientId, input: { remark: 'b' } });
    await api.code(createClient, { input: { verifyKey: 'k' } });
    const id = await api.id(createTunnel, { input: { clientId, mode: 'TCP' } });
    await api.ok('mutation ($id: ID!) { deleteTunnel(id: $id) }', { id });
    const was = { id: clientId, userId: null };
    expect(reported).toEqual([
      { resource: 'client', id: clientId, row: expect.objectContaining({ remark: 'a', user: null }) },
      { resource: 'client', id: clientId, was, row: expect.objectContaining({ remark: 'b' }) },
      { resource: 'tunnel', id, row: expect.objectContaining({ id }), lease: expect.objectContaining({ port: 20_000 }) },
      { resource: 'tunnel', id, was, row: null },
    ]);
  });

  test('a failed write releases its port for the next one, and publishes nothing', async () => {
    const api = await openTestSchema(databases);
    const clientId = await api.id(createClient, { input: { maxTunnels: 1 } });
    const add = (port: number) => api.code(createTunnel, { input: { clientId, mode: 'TCP', port } });
    expect(await Promise.all([add(9001), add(9002)])).toEqual([undefined, 'CLIENT_TUNNEL_QUOTA']);
    expect(api.engine.openLeases.size).toBe(0);
    expect((await api.services.store.auditPage({ offset: 0, limit: 9 })).rows.map(({ resource }) => resource)).toEqual(['tunnel', 'client']);
    await expectAgreement(api);
  });

  test('an entry that the audit log refuses takes its change with it', async () => {
    const api = await openTestSchema(databases);
    const { store, writes } = api.services;
    const broken = { kind: null as unknown as 'server' };
    await expect(writes.run(broken, async (tx, changed) => {
      const after = await tx.client.create({ data: { vkey: 'k' }, include: { user: true } });
      changed({ resource: 'client', action: 'create', after });
    })).rejects.toThrow(/callerKind|null/i);
    expect(await store.db.client.count()).toBe(0);
    expect(api.engine.wantedClients.size).toBe(0);
  });

  test('all changes of a write are published even if the engine fails at the first', async () => {
    const api = await openTestSchema(databases);
    api.engine.beforeApply = () => {
      throw new Error('out of file descriptors');
    };
    const reported: string[] = [];
    api.services.changes.subscribe((change) => void reported.push(change.resource));
    const write = api.services.writes.run({ kind: 'admin' }, async (tx, changed) => {
      for (const vkey of ['a', 'b']) {
        changed({ resource: 'client', action: 'create', after: await tx.client.create({ data: { vkey }, include: { user: true } }) });
      }
    });
    await expect(write).rejects.toThrow('out of file descriptors');
    expect(reported).toEqual(['client', 'client']);
  });

  test('of several changes that the engine fails to apply the first error is reported, and each is applied again later', async () => {
    const api = await openTestSchema(databases);
    const { live, unapplied, writes } = api.services;
    const audit = live.audit({ kind: 'admin' });
    api.engine.beforeApply = (change) => {
      if (change.kind === 'client' && change.client.vkey !== 'b') throw new Error(`no ${change.client.vkey}`);
    };
    const write = writes.run({ kind: 'admin' }, async (tx, changed) => {
      for (const vkey of ['a', 'b', 'c']) {
        changed({ resource: 'client', action: 'create', after: await tx.client.create({ data: { vkey }, include: { user: true } }) });
      }
    });
    await expect(write).rejects.toThrow('no a');
    expect([unapplied.size, api.logged.flatMap(({ record }) => record ?? [])]).toEqual([2, ['client 1', 'client 3']]);
    unapplied.clear();
    for (const resourceId of ['1', '2', '3']) expect((await audit.next()).value).toMatchObject({ resource: 'client', resourceId });
    live.close();
  });

  test('a change that the engine fails to apply is an INTERNAL error, and later changes work', async () => {
    const api = await openTestSchema(databases);
    api.engine.beforeApply = () => {
      throw new Error('out of file descriptors');
    };
    expect(await api.code(createClient, { input: {} })).toBe('INTERNAL');
    api.engine.beforeApply = () => undefined;
    expect(await api.code(createClient, { input: {} })).toBeUndefined();
  });
});

describe('what another server has written', () => {
  // The tests write past the log of changes, from which another server learns of them.
  const databases = testDatabases('sqlite', { alone: true });
  const commit = (changes: readonly LoggedChange[], firstEntry = 0, lastEntry = firstEntry) => ({
    seq: 1,
    token: '',
    changes: JSON.stringify(changes),
    firstEntry,
    lastEntry,
  });

  test('is loaded as a whole: first goes what is no longer stored, then come settings, clients, tunnels and hosts, then certificates', async () => {
    const api = await openTestSchema(databases);
    const { store: { db }, catchUp, live, unapplied } = api.services;
    const [kept, gone] = [await api.id(createClient, { input: { verifyKey: 'kept' } }), await api.id(createClient, { input: { verifyKey: 'gone' } })];
    const host = (clientId: number, name: string) =>
      api.id('mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }', { input: { clientId, host: name } });
    const tunnels = [];
    for (const clientId of [kept, kept, gone]) tunnels.push(await api.id(createTunnel, { input: { clientId, mode: 'TCP' } }));
    const hosts = [await host(kept, 'a.example'), await host(kept, 'b.example'), await host(gone, 'c.example')];
    await db.client.delete({ where: { id: gone } });
    await db.tunnel.delete({ where: { id: tunnels[1] } });
    await db.host.delete({ where: { id: hosts[1] } });
    await db.host.update({ where: { id: hosts[0] }, data: { location: '/moved' } });
    await db.globalSettings.create({ data: { id: 1, blackIpList: '192.0.2.1', serverUrl: 'http://adit.example' } });
    const states = live.states({ kind: 'admin' }, 'client');
    unapplied.add({ resource: 'client', id: gone }, new Error('before'));
    api.engine.applied.length = 0;
    // One that the engine cannot serve stops none of those behind it.
    api.engine.beforeApply = ({ kind }) => {
      if (kind === 'tunnel') throw new Error('its port is occupied');
    };
    await catchUp.reload();
    expect(api.engine.applied).toMatchObject([
      { kind: 'hostRemoved', id: hosts[1] },
      { kind: 'hostRemoved', id: hosts[2] },
      { kind: 'tunnelRemoved', id: tunnels[1] },
      { kind: 'tunnelRemoved', id: tunnels[2] },
      { kind: 'clientRemoved', id: gone },
      { kind: 'blackIpList', list: ['192.0.2.1'] },
      { kind: 'serverName', name: 'adit.example' },
      { kind: 'client', client: { id: kept, vkey: 'kept' } },
      { kind: 'host', host: { id: hosts[0], location: '/moved' } },
      { kind: 'acme', name: null },
    ]);
    expect([unapplied.size, api.logged.at(-1)?.['record']]).toEqual([1, `tunnel ${tunnels[0]}`]);
    unapplied.clear();
    expect(await states.next()).toEqual({ done: true, value: undefined });
  });

  test('is applied record by record, of which one may fail; its entries of the audit log are published in their order', async () => {
    const api = await openTestSchema(databases);
    const { catchUp, live, unapplied } = api.services;
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await api.id(createClient, { input: {} }));
    const [first = 0, second = 0, third = 0] = ids;
    const audit = live.audit({ kind: 'admin' });
    api.engine.applied.length = 0;
    api.engine.beforeApply = (change) => {
      if (change.kind === 'client' && change.client.id === second) throw new Error('refused');
    };
    await catchUp.apply([commit(ids.slice(0, 2).map((id) => ({ resource: 'client', id })), 1, 2), commit([{ resource: 'client', id: third }], 3)]);
    expect(api.engine.applied).toMatchObject([{ client: { id: first } }, { client: { id: third } }]);
    expect([unapplied.size, api.logged.at(-1)?.['record']]).toEqual([1, `client ${second}`]);
    unapplied.clear();
    expect([(await audit.next()).value?.id, (await audit.next()).value?.id, (await audit.next()).value?.id]).toEqual([1, 2, 3]);
    live.close();
  });

  test('adds the bytes of an import to more records than are loaded at once', async () => {
    const api = await openTestSchema(databases);
    const id = await api.id(createClient, { input: {} });
    api.engine.applied.length = 0;
    await api.services.catchUp.apply([commit([{ resource: 'import', counted: Array.from({ length: 501 }, (_, n) => ['client', id, n + 1, 1]) }])]);
    const added = api.engine.applied.flatMap((change) => change.kind === 'trafficReset' ? [change.inletBytes] : []);
    expect(added).toEqual(Array.from({ length: 501 }, (_, n) => -n - 1));
  });
});

test('a listener that fails does not affect other listeners, and the publisher gets its error', async () => {
  const changes = new Changes();
  const reported: string[] = [];
  changes.subscribe(() => {
    throw new Error('the first');
  });
  const leave = changes.subscribe(({ resource }) => void reported.push(resource));
  const change = { resource: 'access' } as const;
  await expect(changes.publish(change)).rejects.toThrow('the first');
  expect(reported).toEqual(['access']);
  leave();
  await expect(changes.publish(change)).rejects.toThrow('the first');
  expect(reported).toHaveLength(1);
});
