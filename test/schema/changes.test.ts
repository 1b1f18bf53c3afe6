import { expect, test } from '@jest/globals';
import { Changes, type FollowedChange } from '../../src/schema/writes/followed-changes.ts';
import { wantedClient, wantedTunnel } from '../../src/schema/writes/engine-changes.ts';
import { eitherDialect } from '../support/database.ts';
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
