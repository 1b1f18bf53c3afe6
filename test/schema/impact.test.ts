import { expect, test } from '@jest/globals';
import { onlineState } from '../support/client-state.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';

const impact = `query ($resource: ImpactResource!, $ids: [ID!]!) {
  impact(resource: $resource, ids: $ids) { clients agents tunnels hosts connections ports hostNames sessions tokens }
}`;
const nothing = { clients: 0, agents: 0, tunnels: 0, hosts: 0, connections: 0, ports: [], hostNames: [], sessions: 0, tokens: 0 };

eitherDialect('what is affected', (databases) => {
  test('by clients and by their user: agents, tunnels, hosts, ports, names, connections, logins and tokens', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const { id: userId } = await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
    const clients = await seedClients(store, 3, (n) => ({ userId: n < 3 ? userId : null }));
    const [one = 0, two = 0, three = 0] = clients;
    await seedTunnels(store, one, 2, (n) => ({ mode: 'tcp', port: 9000 + n }));
    await seedTunnels(store, two, 1, () => ({ mode: 'secret', port: 0 }));
    await seedHosts(store, two, 2, (n) => ({ host: n === 1 ? 'a.example' : 'stopped.example', location: '/x', enabled: n === 1 }));
    await seedTunnels(store, one, 1, () => ({ mode: 'tcp', port: 9050, enabled: false }));
    await seedTunnels(store, three, 1, () => ({ mode: 'tcp', port: 9100 }));
    for (const id of [one, three]) api.engine.clients.set(id, onlineState({ connections: 3 }));
    api.engine.clients.set(two, onlineState({ connected: false, connections: 1 }));
    await store.db.session.create({ data: { id: 'a', kind: 'client', clientId: two } });
    await store.db.session.create({ data: { id: 'b', kind: 'user', userId } });
    // Rows of logins that have ended by themselves: one was not used for an hour, the other began a week ago.
    await store.db.session.create({ data: { id: 'c', kind: 'user', userId, lastSeenAt: new Date(api.services.now() - 3_600_000) } });
    await store.db.session.create({ data: { id: 'd', kind: 'client', clientId: two, createdAt: new Date(api.services.now() - 7 * 86_400_000) } });
    for (const hash of ['h', 'i']) await store.db.apiToken.create({ data: { userId, name: 't', hash } });
    await store.db.apiToken.create({ data: { name: 'of an administrator', hash: 'j' } });
    const both = { clients: 2, agents: 1, tunnels: 4, hosts: 2, connections: 4, ports: [9001, 9002], hostNames: ['a.example/x'] };
    expect(await api.record(impact, { resource: 'CLIENT', ids: [one, two, two, 99] })).toEqual({ ...nothing, ...both, sessions: 1 });
    expect(await api.record(impact, { resource: 'USER', ids: [userId, 99] })).toEqual({ ...nothing, ...both, sessions: 2, tokens: 2 });
    const tunnels = (await store.db.tunnel.findMany({ where: { clientId: one } })).map(({ id }) => id);
    expect(await api.record(impact, { resource: 'TUNNEL', ids: tunnels })).toEqual({ ...nothing, tunnels: 3, ports: both.ports });
    expect(await api.record(impact, { resource: 'HOST', ids: [1, 2] })).toEqual({ ...nothing, hosts: 2, hostNames: both.hostNames });
    expect(await api.record(impact, { resource: 'CLIENT', ids: [] })).toEqual(nothing);
    // As many different ids as a page has; how often each is repeated does not matter.
    expect(await api.record(impact, { resource: 'CLIENT', ids: Array.from({ length: 201 }, () => three) })).toMatchObject({ clients: 1, tunnels: 1 });
    expect(await api.code(impact, { resource: 'CLIENT', ids: Array.from({ length: 201 }, (_, n) => n + 1) })).toBe('INVALID_INPUT');
  });

  test('the hosts that hold platform domains', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [client = 0] = await seedClients(store, 1);
    await store.db.platformDomain.create({ data: { id: 'd', wildcard: '*.p.example.com' } });
    await seedHosts(store, client, 3, (n) => ({ host: `${n}.p.example.com`, location: '/', ...n < 3 && { platformDomainId: 'd', platformPrefix: String(n) } }));
    api.engine.hosts.set(2, { ...onlineState({ connections: 4 }), running: true, error: '', health: null });
    const held = { ...nothing, hosts: 2, connections: 4, hostNames: ['1.p.example.com/', '2.p.example.com/'] };
    expect(await api.record(impact, { resource: 'PLATFORM_DOMAIN', ids: ['d', 'd', 'none', 'a\0'] })).toEqual(held);
    // Those that are not listed have connections, too.
    const more = await seedHosts(store, client, 201, (n) => ({ host: `m${n}.p.example.com`, platformDomainId: 'd', platformPrefix: `m${n}` }));
    api.engine.hosts.set(more.at(100) ?? 0, { ...onlineState({ connections: 3 }), running: true, error: '', health: null });
    const all = await api.record(impact, { resource: 'PLATFORM_DOMAIN', ids: ['d'] });
    expect(all).toMatchObject({ hosts: 203, connections: 7, hostNames: [...held.hostNames, ...more.slice(0, 18).map((_, n) => `m${n + 1}.p.example.com/`)] });
    expect(await api.code(impact, { resource: 'PLATFORM_DOMAIN', ids: ['d'] }, { kind: 'client', clientId: client })).toBe('FORBIDDEN');
    expect(await api.code(impact, { resource: 'PLATFORM_DOMAIN', ids: Array.from({ length: 201 }, (_, n) => `d${n}`) })).toBe('INVALID_INPUT');
  });

  test('by tunnels and hosts of the caller, and at most 20 ports and names', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const { id: userId } = await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
    const [own = 0, foreign = 0] = await seedClients(store, 2, (n) => ({ userId: n === 1 ? userId : null }));
    const alice = { kind: 'user', userId } as const;
    await seedTunnels(store, own, 21, () => ({ mode: 'secret', port: 0 }));
    await seedTunnels(store, own, 25, (n) => ({ mode: 'tcp', port: 9000 + n }));
    await seedTunnels(store, foreign, 1, () => ({ mode: 'tcp', port: 9100 }));
    await seedHosts(store, own, 25, (n) => ({ host: `${n}.example`, location: '/' }));
    const of = async (resource: 'tunnel' | 'host') => {
      const ids = (resource === 'tunnel' ? await store.db.tunnel.findMany() : await store.db.host.findMany()).map(({ id }) => id);
      const { data } = await api.run(impact, { resource: resource.toUpperCase(), ids }, alice);
      return data;
    };
    api.engine.hosts.set(1, { ...onlineState({ connections: 2 }), running: true, error: '', health: null });
    api.engine.tunnels.set(22, { ...onlineState({ connections: 5 }), running: true, error: '', health: null, dropped: 0, visitors: [] });
    const ports = Array.from({ length: 20 }, (_, n) => 9001 + n);
    expect(await of('tunnel')).toEqual({ impact: { ...nothing, tunnels: 46, connections: 5, ports } });
    const hostNames = Array.from({ length: 20 }, (_, n) => `${n + 1}.example/`);
    expect(await of('host')).toEqual({ impact: { ...nothing, hosts: 25, connections: 2, hostNames } });
    expect((await api.run(impact, { resource: 'CLIENT', ids: [foreign, own] }, alice)).data).toEqual({
      impact: { ...nothing, clients: 1, tunnels: 46, hosts: 25, ports, hostNames },
    });
    expect(await api.code(impact, { resource: 'USER', ids: [userId] }, alice)).toBe('FORBIDDEN');
    expect(await api.code(impact, { resource: 'TUNNEL', ids: Array.from({ length: 201 }, (_, n) => n + 1) })).toBe('INVALID_INPUT');
    expect(await api.code(impact, { resource: 'TUNNEL', ids: ['x'] })).toBe('INVALID_INPUT');
  });
});
