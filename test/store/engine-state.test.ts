import { expect, test } from '@jest/globals';
import { wantedClient } from '../../src/schema/writes/engine-changes.ts';
import { allOf } from '../support/all-of.ts';
import { eachDialect } from '../support/database.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';

const day = (n: number) => new Date(Date.UTC(2030, 0, n));

eachDialect('the engine state', (databases) => {
  test('is empty for an empty database', async () => {
    const { clients, tunnels, hosts, ...settings } = await (await databases.openEmpty()).loadEngineState();
    expect([await allOf(clients), await allOf(tunnels), await allOf(hosts), settings]).toEqual([[], [], [], { blackIpList: '', serverUrl: '' }]);
  });

  test('has every client and tunnel, also beyond the first batch', async () => {
    const store = await databases.openEmpty();
    const clientIds = await seedClients(store, 4500);
    const tunnelIds = await seedTunnels(store, clientIds[0] ?? 0, 2000);
    const { clients, tunnels } = await store.loadEngineState();
    expect((await allOf(clients)).map(({ id }) => id)).toEqual(clientIds);
    expect((await allOf(tunnels)).map(({ id }) => id)).toEqual(tunnelIds);
  });

  test('tells whether a client and its owner are enabled, and which expiry comes first', async () => {
    const store = await databases.openEmpty();
    const owner = async (username: string, columns: object) => (await store.db.user.create({ data: { username, passwordHash: '', ...columns } })).id;
    const good = await owner('good', { expiresAt: day(5) });
    const disabled = await owner('disabled', { enabled: false });
    const add = (vkey: string, columns: object) => store.db.client.create({ data: { vkey, ...columns } });
    await add('free', {});
    await add('off', { enabled: false, userId: good });
    await add('of disabled', { userId: disabled, expiresAt: day(2) });
    await add('early', { userId: good, expiresAt: day(3) });
    await add('late', { userId: good, expiresAt: day(9) });
    const clients = (await allOf((await store.loadEngineState()).clients)).map(wantedClient);
    expect(Object.fromEntries(clients.map(({ vkey, enabled, expiresAt }) => [vkey, { enabled, expiresAt }]))).toEqual({
      free: { enabled: true, expiresAt: null },
      off: { enabled: false, expiresAt: day(5).getTime() },
      'of disabled': { enabled: false, expiresAt: day(2).getTime() },
      early: { enabled: true, expiresAt: day(3).getTime() },
      late: { enabled: true, expiresAt: day(5).getTime() },
    });
  });

  test('comes back as the counters were last saved, however often the same ones are', async () => {
    const store = await databases.openEmpty();
    const [one = 0, two = 0] = await seedClients(store, 3);
    const [tunnel = 0] = await seedTunnels(store, one, 2);
    const [host = 0] = await seedHosts(store, one, 1);
    const facts = {
      connected: true,
      rate: 8,
      connections: 3,
      address: '203.0.113.9',
      localAddress: '192.168.1.20',
      version: '1.2.3',
      lastOnlineAt: day(1).getTime(),
    };
    const batch = {
      clients: [
        { id: one, ...facts, inletBytes: 2 ** 52, exportBytes: 7 },
        { id: two, connected: false, rate: 0, connections: 3, address: '', localAddress: '', version: '', lastOnlineAt: null, inletBytes: 1, exportBytes: 0 },
        { id: 99_999, ...facts, inletBytes: 1, exportBytes: 1 },
      ],
      tunnels: [{ id: tunnel, running: true, rate: 0, connections: 0, inletBytes: 5, exportBytes: 6 }, {
        id: 99_999,
        running: true,
        rate: 0,
        connections: 0,
        inletBytes: 1,
        exportBytes: 1,
      }],
      hosts: [{ id: host, rate: 2, connections: 4, inletBytes: 8, exportBytes: 9 }],
    };
    await store.saveCounters(batch);
    await store.saveCounters(batch);
    const { clients, tunnels, hosts } = await store.loadEngineState();
    expect(await allOf(clients)).toMatchObject([
      {
        id: one,
        lastAddress: '203.0.113.9',
        inletBytes: 2n ** 52n,
        exportBytes: 7n,
      },
      { id: two, lastAddress: '', inletBytes: 1n, exportBytes: 0n },
      { inletBytes: 0n },
    ]);
    expect(await allOf(hosts)).toMatchObject([{ id: host, inletBytes: 8n, exportBytes: 9n }]);
    expect(await store.db.host.findUnique({ where: { id: host } })).toMatchObject({ rate: 2n, connections: 4 });
    expect(await allOf(tunnels)).toMatchObject([{ id: tunnel, inletBytes: 5n, exportBytes: 6n }, { inletBytes: 0n, exportBytes: 0n }]);
    expect(await store.db.client.findUnique({ where: { id: one } })).toMatchObject({
      localAddress: '192.168.1.20',
      agentVersion: '1.2.3',
      lastOnlineAt: day(1),
      inletBytes: 2n ** 52n,
    });
    expect(await store.db.client.findUnique({ where: { id: two } })).toMatchObject({ lastOnlineAt: null });
  });

  test('keeps what was last seen of an agent that the engine has not seen since it started', async () => {
    const store = await databases.openEmpty();
    const seen = { lastAddress: '203.0.113.9', localAddress: '10.0.0.1', agentVersion: '1', lastOnlineAt: day(1) };
    const { id } = await store.db.client.create({ data: { vkey: 'k', ...seen } });
    await store.saveCounters({
      clients: [{
        id,
        connected: false,
        rate: 0,
        connections: 3,
        address: '',
        localAddress: '',
        version: '',
        inletBytes: 3,
        exportBytes: 4,
        lastOnlineAt: null,
      }],
      tunnels: [],
      hosts: [],
    });
    expect(await store.db.client.findUnique({ where: { id } })).toMatchObject({ ...seen, inletBytes: 3n, exportBytes: 4n });
  });
});
