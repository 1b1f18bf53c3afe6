import { expect, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { onlineState } from '../support/client-state.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';

const counts = `{ server { counts {
  clients { total connected neverSeen disabled expired } tunnels { total running byMode { mode total } } hosts { total serving disabled } users { total disabled expired }
} } }`;
const modes = (of: Readonly<Record<string, number>>) =>
  ['TCP', 'UDP', 'HTTP_PROXY', 'SOCKS5', 'SECRET', 'P2P', 'FILE'].map((mode) => ({ mode, total: of[mode] ?? 0 }));

eitherDialect('what the server says of itself', (databases) => {
  test("the viewer is the caller, with the login's name and rights", async () => {
    const api = await openTestSchema(databases, { adminUsername: 'root' });
    const { store } = api.services;
    const [userId = 0] = await seedUsers(store, 1);
    const [clientId = 0] = await seedClients(store, 1, () => ({ userId, webUsername: 'web', basicUser: 'basic' }));
    const viewer = async (caller: Caller) => (await api.run('{ viewer { role name readOnly secrets user { id } client { id } } }', {}, caller)).data;
    const nobody = { readOnly: false, secrets: true, user: null, client: null };
    expect(await viewer({ kind: 'admin' })).toEqual({ viewer: { ...nobody, role: 'ADMINISTRATOR', name: 'root' } });
    expect(await viewer({ kind: 'user', userId, readOnly: true })).toEqual({
      viewer: { ...nobody, role: 'USER', name: 'user1', readOnly: true, user: { id: userId } },
    });
    expect(await viewer({ kind: 'client', clientId, withoutSecrets: true })).toEqual({
      viewer: { ...nobody, role: 'CLIENT', name: 'web', secrets: false, client: { id: clientId } },
    });
  });

  test('counts the records that the caller sees, by state', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [alice = 0, bob = 0] = await seedUsers(store, 4, (n) => ({ enabled: n !== 2 && n !== 4, expired: n === 3 }));
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
    let saved = 0;
    Object.assign(api.services, { freshState: async () => void saved++ });
    const of = async (caller?: Parameters<typeof api.run>[2]) => {
      const before = saved;
      const { data } = await api.run(counts, {}, caller);
      // What the engine knows is saved first.
      expect(saved).toBe(before + 1);
      return data;
    };
    expect(await of()).toEqual({
      server: {
        counts: {
          clients: { total: 6, connected: 3, neverSeen: 3, disabled: 1, expired: 1 },
          tunnels: { total: 6, running: 3, byMode: modes({ TCP: 4, UDP: 1, FILE: 1 }) },
          hosts: { total: 6, serving: 1, disabled: 3 },
          users: { total: 4, disabled: 2, expired: 1 },
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

  test('shows the settings that callers need to know', async () => {
    const query = `{ server {
      version startedAt allowLocalProxy acme acmeDirectory allowedPorts retention { auditDays trafficMinuteDays trafficHourDays trafficDayDays }
      bridgeType bridgePort bridgeTlsPort bridgeTlsFingerprint
    } }`;
    const retention = { auditDays: 365, trafficMinuteDays: 2, trafficHourDays: 60, trafficDayDays: 1100 };
    const bridge = { bridgeType: 'TCP', bridgePort: 8024, bridgeTlsPort: 8025, bridgeTlsFingerprint: 'ab'.repeat(32) };
    const same = { version: '1.2.3', retention, ...bridge };
    const usual = { ...same, startedAt: '1970-01-01T00:00:00.000Z', allowLocalProxy: false, acme: false, acmeDirectory: null, allowedPorts: [] };
    expect(await (await openTestSchema(databases)).record(query)).toEqual(usual);
    const acmeDirectory = 'https://acme.example/directory';
    const others = { startedAt: 1000, allowLocalProxy: true, acmeDirectory, allowPorts: [{ from: 80, to: 80 }, { from: 9000, to: 9100 }] };
    expect(await (await openTestSchema(databases, others)).record(query)).toEqual({
      ...same,
      startedAt: '1970-01-01T00:00:01.000Z',
      allowLocalProxy: true,
      acme: true,
      acmeDirectory,
      allowedPorts: ['80', '9000-9100'],
    });
  });

  test('shows on a wall display the clients in any order with their numbers, and what is wrong, with notes only', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [one = 0, two = 0, three = 0, four = 0] = await seedClients(store, 4, (n) => ({
      remark: ['b', 'D', 'a', 'c'][n - 1],
      enabled: n !== 3,
      expired: n === 4,
      connected: n === 2,
      rate: [3, 1, 2, 0][n - 1],
      inletBytes: n === 1 ? 3 * 2 ** 20 : n,
      exportBytes: 10 * n,
      flowLimit: n === 1 ? 1 : 0,
    }));
    const [tunnel = 0] = await seedTunnels(store, two, 3, () => ({ running: true }));
    const [host = 0] = await seedHosts(store, two, 2);
    api.engine.clients.set(two, onlineState({ connections: 4, rate: 7, inletBytes: 100, exportBytes: 200 }));
    const none = { enabled: true, connected: false, tunnelCount: 0, hostCount: 0, connections: 0, rate: 0 };
    const first = { ...none, id: one, remark: 'b', inletBytes: 3 * 2 ** 20, exportBytes: 10 };
    const second = { ...none, id: two, remark: 'D', connected: true, tunnelCount: 3, hostCount: 2, connections: 4, rate: 7, inletBytes: 100, exportBytes: 200 };
    const rows = 'rows { id remark enabled connected tunnelCount hostCount connections rate inletBytes exportBytes }';
    expect(await api.record(`{ wall { total enabled connected ${rows} } }`)).toEqual({
      total: 4,
      enabled: 2,
      connected: 1,
      rows: [
        first,
        second,
        { ...none, id: three, remark: 'a', enabled: false, inletBytes: 3, exportBytes: 30 },
        { ...none, id: four, remark: 'c', enabled: false, inletBytes: 4, exportBytes: 40 },
      ],
    });
    const order = async (field: string, more = '') => {
      const { rows: ordered } = await api.record(`{ wall(sort: { field: ${field} }${more}) { rows { remark } } }`);
      return ordered;
    };
    const remarks = (text: string) => text.split('').map((remark) => ({ remark }));
    expect(await Promise.all(['ID', 'REMARK', 'CONNECTED', 'RATE'].map((field) => order(field)))).toEqual(['bDac', 'abcD', 'bacD', 'cDab'].map(remarks));
    expect(await order('REMARK', ', offset: 1, limit: 2')).toEqual(remarks('bc'));
    api.engine.troublesFound = {
      certificates: [],
      unhealthyTunnels: [{ id: tunnel, clientId: two }],
      unhealthyHosts: [{ id: host, clientId: two }],
    };
    const broken = { severity: 'BROKEN', since: null };
    const unhealthy = { code: 'TARGETS_UNHEALTHY', ...broken, client: { id: two, remark: 'D', connections: 4 } };
    expect(await api.record('{ wallProblems { total broken rows { id code severity since remark client { id remark connections } } } }')).toEqual({
      total: 3,
      broken: 3,
      rows: [
        { id: `TRAFFIC_USED_UP:client:${one}`, code: 'TRAFFIC_USED_UP', ...broken, remark: 'b', client: { id: one, remark: 'b', connections: 0 } },
        { id: `TARGETS_UNHEALTHY:tunnel:${tunnel}`, ...unhealthy, remark: 'tunnel 1' },
        { id: `TARGETS_UNHEALTHY:host:${host}`, ...unhealthy, remark: 'host 1' },
      ],
    });
    expect(await api.record('{ wallProblems(limit: 1) { total rows { code } } }')).toEqual({ total: 3, rows: [{ code: 'TRAFFIC_USED_UP' }] });
  });

  test('shows who is locked out, for wrong credentials of any kind, until when', async () => {
    const now = Date.UTC(2026, 0, 1);
    const api = await openTestSchema(databases, {}, () => now);
    const { attempts } = api.services;
    for (const [n, credential] of (['login', 'password', 'ipWhitePassword', 'basic', 'tunnelPassword', 'enrolment'] as const).entries()) {
      for (let name = 0; name < 10; name++) attempts.begin(credential, `192.0.2.${n}`, `name ${name}`, now);
    }
    for (let n = 0; n < 3; n++) attempts.keyFailed('192.0.2.9', now, `key ${n}`);
    for (let n = 0; n < 60; n++) attempts.begin('login', `198.51.100.${n}`, 'victim', now);
    const minute = new Date(now + 60_000).toISOString();
    expect(await api.ok('{ lockouts { kind credential source until } }')).toEqual({
      lockouts: [
        { kind: 'ADDRESS', credential: 'LOGIN', source: '192.0.2.0', until: minute },
        { kind: 'NAME', credential: 'LOGIN', source: 'victim', until: minute },
        { kind: 'ADDRESS', credential: 'PASSWORD', source: '192.0.2.1', until: minute },
        { kind: 'ADDRESS', credential: 'ALLOWLIST_PASSWORD', source: '192.0.2.2', until: minute },
        { kind: 'ADDRESS', credential: 'BASIC', source: '192.0.2.3', until: minute },
        { kind: 'ADDRESS', credential: 'TUNNEL_PASSWORD', source: '192.0.2.4', until: minute },
        { kind: 'ADDRESS', credential: 'ENROLMENT', source: '192.0.2.5', until: minute },
        { kind: 'ADDRESS', credential: 'VKEY', source: '192.0.2.9', until: new Date(now + 600_000).toISOString() },
      ],
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
