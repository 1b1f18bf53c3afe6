import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { testApis, type Api } from '../support/api.ts';
import { eachDialect } from '../support/database.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';

const list = z.object({ total: z.number(), rows: z.array(z.object({ Id: z.number() })) });

eachDialect('the lists', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  let ownerId: number;

  beforeAll(async () => {
    api = await apis.start();
    ownerId = (await api.store.db.user.create({ data: { username: 'alice', passwordHash: '' } })).id;
    await seedClients(api.store, 3, (n) => ({
      vkey: ['b', 'A', 'c'][n - 1],
      remark: ['x', 'Z', 'y'][n - 1],
      enabled: n !== 2,
      connected: n === 1,
      lastAddress: `10.0.0.${(n * 2) % 5}`,
      localAddress: `192.168.0.${(n * 2) % 5}`,
      agentVersion: `0.${(n * 2) % 3}`,
      inletBytes: BigInt((n * 2) % 5),
      exportBytes: BigInt(n % 3),
      rate: BigInt(n * n % 4),
      userId: n === 3 ? ownerId : null,
    }));
    await seedTunnels(api.store, 1, 3, (n) => ({
      clientId: n,
      port: 9000 + (n * 2) % 5,
      mode: ['udp', 'tcp', 'tcp'][n - 1],
      target: ['h2:1', 'H1:1', 'h3:1'][n - 1],
      password: ['q', 'P', 'r'][n - 1],
      remark: ['x', 'Z', 'y'][n - 1],
      enabled: n !== 1,
      running: n === 2,
    }));
    await seedHosts(api.store, 1, 3, (n) => ({
      clientId: n,
      host: ['m.example.com', 'k.example.com', 'l.example.com'][n - 1],
      scheme: ['https', 'all', 'http'][n - 1],
      location: ['/b', '/a', '/c'][n - 1],
      target: ['h2:1', 'H1:1', 'h3:1'][n - 1],
      remark: ['x', 'Z', 'y'][n - 1],
      enabled: n !== 1,
    }));
  });

  async function ids(path: string, parameters: Record<string, string | number> = {}): Promise<{ total: number; ids: number[] }> {
    const { total, rows } = list.parse((await api.signed(path, parameters)).body);
    return { total, ids: rows.map(({ Id }) => Id) };
  }

  test.each([
    ['/client/list/', {
      Id: [1, 2, 3],
      Remark: [1, 3, 2],
      Version: [3, 2, 1],
      VerifyKey: [2, 1, 3],
      Addr: [3, 1, 2],
      LocalAddr: [3, 1, 2],
      InletFlow: [3, 1, 2],
      ExportFlow: [3, 1, 2],
      NowRate: [2, 1, 3],
      Status: [2, 1, 3],
      IsConnect: [2, 3, 1],
      Nonsense: [1, 2, 3],
    }],
    ['/index/gettunnel/', {
      Id: [1, 2, 3],
      ClientId: [1, 2, 3],
      Remark: [1, 3, 2],
      'Client.VerifyKey': [2, 1, 3],
      VerifyKey: [2, 1, 3],
      Target: [2, 1, 3],
      Mode: [2, 3, 1],
      Port: [3, 1, 2],
      Password: [2, 1, 3],
      Status: [1, 2, 3],
      RunStatus: [1, 3, 2],
      IsConnect: [2, 3, 1],
      'Client.IsConnect': [2, 3, 1],
    }],
    ['/index/hostlist/', {
      Id: [1, 2, 3],
      ClientId: [1, 2, 3],
      Remark: [1, 3, 2],
      VerifyKey: [2, 1, 3],
      'Client.VerifyKey': [2, 1, 3],
      Host: [2, 3, 1],
      Scheme: [2, 3, 1],
      Target: [2, 1, 3],
      Location: [2, 1, 3],
      IsClose: [2, 3, 1],
      Status: [2, 3, 1],
      IsConnect: [2, 3, 1],
      'Client.IsConnect': [2, 3, 1],
    }],
  ])('%s sorts by every name of the family, ascending unless desc', async (path, orders) => {
    for (const [sort, expected] of Object.entries(orders)) {
      expect({ sort, ...await ids(path, { sort, order: 'asc' }) }).toEqual({ sort, total: 3, ids: expected });
      const falling = sort === 'Nonsense' ? expected : expected.toReversed();
      expect({ sort, ...await ids(path, { sort, order: 'DESC' }) }).toEqual({ sort, total: 3, ids: falling });
    }
  });

  test.each(['/client/list/', '/index/gettunnel/', '/index/hostlist/'])('%s is filtered by owner, and by having none', async (path) => {
    expect(await ids(path, { user_id: ownerId })).toEqual({ total: 1, ids: [3] });
    expect(await ids(path, { user_id: 0 })).toEqual({ total: 2, ids: [1, 2] });
    expect(await ids(path, { unassigned: 'true' })).toEqual({ total: 2, ids: [1, 2] });
    expect(await ids(path, { user_id: '' })).toEqual({ total: 3, ids: [1, 2, 3] });
    expect(await ids(path, { user_id: 99 })).toEqual({ total: 0, ids: [] });
    expect((await api.signed(path, { user_id: 'x' })).body).toEqual({ status: 0, msg: 'invalid user_id' });
  });

  test('tunnels are filtered by filter_client_id beside client_id', async () => {
    expect(await ids('/index/gettunnel/', { filter_client_id: 2 })).toEqual({ total: 1, ids: [2] });
    expect(await ids('/index/gettunnel/', { filter_client_id: 0, client_id: 1 })).toEqual({ total: 1, ids: [1] });
    expect(await ids('/index/gettunnel/', { filter_client_id: 2, client_id: 1 })).toEqual({ total: 1, ids: [2] });
    expect((await api.signed('/index/gettunnel/', { filter_client_id: '1.5' })).body).toEqual({ status: 0, msg: 'invalid filter_client_id' });
  });

  test('tunnels are filtered by their type, with spaces around it, too; a type that no tunnel has lists none', async () => {
    expect(await ids('/index/gettunnel/', { type: 'tcp' })).toEqual({ total: 2, ids: [2, 3] });
    expect(await ids('/index/gettunnel/', { type: ' udp ' })).toEqual({ total: 1, ids: [1] });
    expect(await ids('/index/gettunnel/', { type: ' ' })).toEqual({ total: 3, ids: [1, 2, 3] });
    expect(await ids('/index/gettunnel/', { type: 'ud p' })).toEqual({ total: 0, ids: [] });
  });

  test('a search finds part of a text in any case, or a number that is equal', async () => {
    expect(await ids('/client/list/', { search: 'Z' })).toEqual({ total: 1, ids: [2] });
    expect(await ids('/client/list/', { search: '3' })).toEqual({ total: 1, ids: [3] });
    expect(await ids('/index/gettunnel/', { search: '9004' })).toEqual({ total: 1, ids: [2] });
    expect(await ids('/index/hostlist/', { search: 'K.EXAMPLE' })).toEqual({ total: 1, ids: [2] });
    expect(await ids('/index/hostlist/', { search: 'example', limit: 1, offset: 1 })).toEqual({ total: 3, ids: [2] });
    expect(await ids('/index/hostlist/', { search: 'example', offset: 9 })).toEqual({ total: 3, ids: [] });
    expect(await ids('/index/hostlist/', { search: 'example', limit: 0 })).toEqual({ total: 3, ids: [] });
    expect(await ids('/index/hostlist/', { search: '%' })).toEqual({ total: 0, ids: [] });
  });
});
