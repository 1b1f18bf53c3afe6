import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newToken } from '../../src/schema/access/tokens.ts';
import { testApis, type Api } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';
import { sized } from '../support/endurance.ts';

/** How many calls are made at once: more than any quota below. */
const many = sized(16, 40);
const range = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

eitherDialect('many at once', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start();
  });
  beforeEach(() => api.reset());

  /** How often each answer came, without ids. */
  async function answers(calls: Array<Promise<{ readonly body: unknown }>>) {
    const counts = new Map<string, number>();
    for (const { body } of await Promise.all(calls)) {
      const text = JSON.stringify(body).replace(/,"id":\d+/, '');
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    return Object.fromEntries(counts);
  }

  const added = '{"status":1,"msg":"add success"}';
  const refused = (msg: string) => JSON.stringify({ status: 0, msg });

  test(`of ${many} concurrent requests for one platform prefix exactly one succeeds`, async () => {
    await api.store.db.platformDomain.create({ data: { id: 'd', wildcard: '*.p.example.com' } });
    const tokens: string[] = [];
    for (const n of range(many)) {
      const { token, hash } = newToken();
      tokens.push(token);
      await api.store.db.user.create({
        data: { username: `user ${n}`, passwordHash: '', clients: { create: { vkey: `key ${n}` } }, tokens: { create: { name: 'race', hash } } },
      });
    }
    const calls = tokens.map((token, index) =>
      api.call('/index/addhost/', {
        client_id: index + 1,
        domain_mode: 'platform',
        platform_domain_id: 'd',
        platform_prefix: 'wanted',
        scheme: 'http',
        location: `/${index}`,
      }, { headers: { authorization: `Bearer ${token}` } })
    );
    expect(await answers(calls)).toEqual({ [added]: 1, [refused('add fail, prefix used')]: many - 1 });
    expect(await api.store.db.host.findMany({ select: { host: true, platformPrefix: true } })).toEqual([{
      host: 'wanted.p.example.com',
      platformPrefix: 'wanted',
    }]);
  });

  test(`${many} concurrent adds of clients for an owner with a limit of 10 create 10, with unique ids and keys`, async () => {
    const user = await api.store.db.user.create({ data: { username: 'alice', passwordHash: '', maxClients: 10 } });
    expect(await answers(range(many).map(() => api.signed('/client/add/', { user_id: user.id })))).toEqual({
      [added]: 10,
      [refused("client count reached the owner's quota")]: many - 10,
    });
    const clients = await api.store.db.client.findMany();
    expect([new Set(clients.map(({ id }) => id)).size, new Set(clients.map(({ vkey }) => vkey)).size]).toEqual([10, 10]);
    expect(clients.filter(({ userId }) => userId === user.id)).toHaveLength(10);
    expect((await api.store.db.user.findUniqueOrThrow({ where: { id: user.id } })).clientCount).toBe(10);
  });

  test(`of ${many} clients with one key, and ${many} tunnels with one password, exactly one is made`, async () => {
    const duplicate = refused('Vkey duplicate, please reset');
    expect(await answers(range(many).map(() => api.signed('/client/add/', { vkey: 'wanted' })))).toEqual({ [added]: 1, [duplicate]: many - 1 });
    const { id } = await api.store.db.client.findFirstOrThrow();
    const keyed = range(many).map((n) => api.signed('/index/add/', { client_id: id, type: n % 2 ? 'secret' : 'p2p', password: 'wanted' }));
    expect(await answers(keyed)).toEqual({ [added]: 1, [refused('secret mode keys wanted must be unique')]: many - 1 });
    expect(await api.store.db.tunnel.count()).toBe(1);
  });

  test(`of ${many} tunnels on one port exactly one is made, and of ${many} copies and adds at a quota of 10 exactly 10 in all`, async () => {
    await api.store.db.client.create({ data: { vkey: 'key', maxTunnels: 10 } });
    const add = (port: number) => api.signed('/index/add/', { client_id: 1, type: 'tcp', port, target: '22' });
    const occupied = refused('The port cannot be opened because it may has been occupied or is no longer allowed.');
    expect(await answers(range(many).map(() => add(9001)))).toEqual({ [added]: 1, [occupied]: many - 1 });
    const both = range(many).map((n) => n % 2 ? add(0) : api.signed('/index/copy/', { id: 1 }));
    expect(await answers(both)).toEqual({ [added]: 9, [refused('The number of tunnels exceeds the limit')]: many - 9 });
    const tunnels = await api.store.db.tunnel.findMany();
    expect([tunnels.length, new Set(tunnels.map(({ port }) => port)).size]).toEqual([10, 10]);
    expect(api.engine.openLeases.size).toBe(0);
    expect(api.engine.wantedTunnels.size).toBe(10);
  });

  test('tunnels of all clients of a user at once get exactly the max_tunnel places of the user', async () => {
    const user = await api.store.db.user.create({ data: { username: 'alice', passwordHash: '', maxTunnels: 10 } });
    for (const n of range(4)) await api.store.db.client.create({ data: { vkey: `key ${n}`, userId: user.id } });
    const add = (n: number) =>
      n % 3 === 0
        ? api.signed('/index/addhost/', { client_id: 1 + n % 4, host: `h${n}.com` })
        : api.signed('/index/add/', { client_id: 1 + n % 4, type: 'tcp', target: '22' });
    expect(await answers(range(many).map(add))).toEqual({ [added]: 10, [refused('The number of user tunnels exceeds the limit')]: many - 10 });
    expect(await api.store.db.tunnel.count() + await api.store.db.host.count()).toBe(10);
    expect((await api.store.db.user.findUniqueOrThrow({ where: { id: user.id } })).tunnelCount).toBe(10);
  });

  test('hosts and tunnels together get exactly max_tunnel places of client and owner, and their ids are used once', async () => {
    const user = await api.store.db.user.create({ data: { username: 'alice', passwordHash: '', maxTunnels: 15 } });
    for (const n of [1, 2]) await api.store.db.client.create({ data: { vkey: `key ${n}`, maxTunnels: 10, userId: user.id } });
    const add = (client: number) =>
      range(many).map((n) =>
        n % 2
          ? api.signed('/index/addhost/', { client_id: client, host: `h${n}.c${client}.com` })
          : api.signed('/index/add/', { client_id: client, type: 'secret', password: `key ${client} ${n}` })
      );
    const full = refused('The number of tunnels exceeds the limit');
    expect(await answers(add(1))).toEqual({ [added]: 10, [full]: many - 10 });
    expect(await answers(add(2))).toEqual({ [added]: 5, [refused('The number of user tunnels exceeds the limit')]: many - 5 });
    const [hosts, tunnels] = [await api.store.db.host.findMany(), await api.store.db.tunnel.findMany()];
    expect(hosts.length + tunnels.length).toBe(15);
    expect(await api.store.db.client.findMany({ orderBy: { id: 'asc' }, select: { tunnelCount: true, hostCount: true } })).toEqual([1, 2].map((client) => ({
      tunnelCount: client === 1 ? 10 : 5,
      hostCount: hosts.filter(({ clientId }) => clientId === client).length,
    })));

    const ids = hosts.map(({ id }) => id);
    await Promise.all(ids.map((id) => api.signed('/index/delhost/', { id })));
    const again = await Promise.all(ids.map((id) => api.signed('/index/addhost/', { client_id: 1, host: `again${id}.com` })));
    expect(again.filter(({ body }) => JSON.stringify(body).includes('add success'))).not.toHaveLength(0);
    expect(await api.store.db.host.count({ where: { id: { in: ids } } })).toBe(0);
    expect(await api.store.db.host.count()).toBeGreaterThan(0);
  });

  test(`of ${many} concurrent requests for the same custom route exactly one succeeds; the others get an error`, async () => {
    for (const n of range(many)) await api.store.db.client.create({ data: { vkey: `key ${n}` } });
    const calls = range(many).map((n) => api.signed('/index/addhost/', { client_id: n, host: 'one.example.com', location: n % 2 ? '/' : '/x' }));
    const counts = await answers(calls);
    expect(counts[added]).toBe(1);
    expect(Object.keys(counts).toSorted()).toEqual(
      [added, refused('add failhost has exist'), refused('add failhost route overlaps another tenant')].toSorted(),
    );
  });
});
