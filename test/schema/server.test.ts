import { expect, test } from '@jest/globals';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';

const counts = `{ server { counts {
  clients { total connected neverSeen disabled expired } tunnels { total running byMode { mode total } } hosts { total serving disabled } users { total disabled expired }
} } }`;
const modes = (of: Readonly<Record<string, number>>) =>
  ['TCP', 'UDP', 'HTTP_PROXY', 'SOCKS5', 'SECRET', 'P2P', 'FILE'].map((mode) => ({ mode, total: of[mode] ?? 0 }));

eitherDialect('what the server says of itself', (databases) => {
  test('counts the records that the caller sees, by state', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [alice = 0, bob = 0] = await seedUsers(store, 3, (n) => ({ enabled: n !== 2, expired: n === 3 }));
    const [one = 0, two = 0] = await seedClients(
      store,
      6,
      (n) => ({
        userId: n < 4 ? alice : n < 6 ? bob : null,
        connected: n % 2 === 0,
        lastOnlineAt: n === 2 || n > 4 ? new Date() : null,
        enabled: n !== 1,
        expired: n === 4,
      }),
    );
    await seedTunnels(store, one, 3, (n) => ({ mode: n === 1 ? 'udp' : 'tcp', running: n > 1 }));
    await seedTunnels(store, two, 1, () => ({ mode: 'file' }));
    await seedTunnels(store, two + 2, 2, (n) => ({ mode: 'tcp', running: n === 1 }));
    await seedHosts(store, one, 3, (n) => ({ enabled: n !== 2 }));
    await seedHosts(store, two + 2, 1, () => ({ host: 'other.example', enabled: false }));
    await seedHosts(store, two, 2, (n) => ({ host: `online${n}.example`, enabled: n === 1 }));
    const of = async (caller?: Parameters<typeof api.run>[2]) => (await api.run(counts, {}, caller)).data;
    expect(await of()).toEqual({
      server: {
        counts: {
          clients: { total: 6, connected: 3, neverSeen: 3, disabled: 1, expired: 1 },
          tunnels: { total: 6, running: 3, byMode: modes({ TCP: 4, UDP: 1, FILE: 1 }) },
          hosts: { total: 6, serving: 1, disabled: 3 },
          users: { total: 3, disabled: 1, expired: 1 },
        },
      },
    });
    expect(await of({ kind: 'user', userId: alice })).toEqual({
      server: {
        counts: {
          clients: { total: 3, connected: 1, neverSeen: 2, disabled: 1, expired: 0 },
          tunnels: { total: 4, running: 2, byMode: modes({ TCP: 2, UDP: 1, FILE: 1 }) },
          hosts: { total: 5, serving: 1, disabled: 2 },
          users: null,
        },
      },
    });
    expect(await of({ kind: 'client', clientId: two })).toEqual({
      server: {
        counts: {
          clients: { total: 1, connected: 1, neverSeen: 0, disabled: 0, expired: 0 },
          tunnels: { total: 1, running: 0, byMode: modes({ FILE: 1 }) },
          hosts: { total: 2, serving: 1, disabled: 1 },
          users: null,
        },
      },
    });
    expect(await of({ kind: 'user', userId: 999 })).toMatchObject({
      server: { counts: { clients: { total: 0 }, tunnels: { total: 0 }, hosts: { total: 0 } } },
    });
  });

  test('addresses are those of the server URL, else of the setting, and nothing is made up where neither is set', async () => {
    const where =
      '{ server { publicAddress hostHttpPort hostHttpsPort } client(id: 1) { agentCommand } tunnel(id: 1) { publicAddress } host(id: 1) { publicUrls } }';
    const seeded = async (settings: Parameters<typeof openTestSchema>[1]) => {
      const api = await openTestSchema(databases, settings);
      const [client = 0] = await seedClients(api.services.store, 1);
      await seedTunnels(api.services.store, client, 1);
      await seedHosts(api.services.store, client, 1);
      return api;
    };
    const unknown = await seeded({ hostPorts: { httpPort: 0, httpsPort: 0 } });
    expect(await unknown.ok(where)).toEqual({
      server: { publicAddress: null, hostHttpPort: null, hostHttpsPort: null },
      client: { agentCommand: null },
      tunnel: { publicAddress: null },
      host: { publicUrls: [] },
    });
    const api = await seeded({ publicUrl: 'https://panel.example:8443/adit', hostPorts: { httpPort: 8080, httpsPort: 443 } });
    expect(await api.ok(where)).toEqual({
      server: { publicAddress: 'panel.example', hostHttpPort: 8080, hostHttpsPort: 443 },
      client: { agentCommand: `ADIT_VKEY=key1 node adit-agent.mjs agent --server panel.example:8025 --tls-fingerprint ${'ab'.repeat(32)}` },
      tunnel: { publicAddress: 'panel.example:10001' },
      host: { publicUrls: ['https://h1.example.com/', 'http://h1.example.com:8080/'] },
    });
    await api.ok('mutation { updateGlobalSettings(input: { serverUrl: "http://adit.example:1234" }) { serverUrl } }');
    expect(await api.ok('{ server { publicAddress } tunnel(id: 1) { publicAddress } }')).toEqual({
      server: { publicAddress: 'adit.example' },
      tunnel: { publicAddress: 'adit.example:10001' },
    });
    const blind = await api.run('{ client(id: 1) { agentCommand } }', {}, { kind: 'admin', by: 'token', withoutSecrets: true });
    expect(blind).toMatchObject({ data: { client: { agentCommand: null } }, errors: [] });
    expect((await api.run('{ client(id: 1) { agentCommand } }', {}, { kind: 'user', userId: 1 })).data).toEqual({ client: null });
  });
});
