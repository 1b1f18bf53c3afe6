import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { testApis, type Api } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';

const list = z.object({ total: z.number(), rows: z.array(z.object({ Id: z.number() })) });

eitherDialect('the lists', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  let ownerId: number;

  beforeAll(async () => {
    api = await apis.start();
    // No two columns of a table are in the same order.
    [ownerId = 0] = await seedUsers(api.store, 4, (n) => ({
      username: ['alice', 'Dave', 'bob', 'Carl'][n - 1],
      remark: ['x', 'Z', 'y', 'w'][n - 1],
      enabled: n !== 3,
      maxTunnels: [2, 4, 1, 3][n - 1],
      maxClients: [3, 1, 4, 2][n - 1],
      clientCount: [0, 0, 3, 2][n - 1],
      tunnelCount: [0, 3, 1, 0][n - 1],
      expiresAt: n === 1 ? null : new Date(Date.UTC(2099, [0, 3, 2, 4][n - 1] ?? 0)),
      createdAt: new Date(Date.UTC(2026, [4, 2, 3, 1][n - 1] ?? 0)),
    }));
    await seedClients(api.store, 4, (n) => ({
      vkey: ['b', 'A', 'd', 'C'][n - 1],
      remark: ['x', 'Z', 'y', 'w'][n - 1],
      enabled: n !== 2,
      connected: n === 2,
      lastAddress: `10.0.0.${[2, 4, 1, 3][n - 1]}`,
      localAddress: `192.168.0.${[3, 1, 4, 2][n - 1]}`,
      agentVersion: `0.${[2, 1, 0, 3][n - 1]}`,
      inletBytes: [2, 3, 1, 4][n - 1],
      exportBytes: [1, 2, 4, 3][n - 1],
      rate: [3, 2, 4, 1][n - 1],
      userId: n === 3 ? ownerId : null,
    }));
    await seedTunnels(api.store, 1, 4, (n) => ({
      clientId: [4, 2, 3, 1][n - 1],
      port: 9000 + (n * 2) % 5,
      mode: ['udp', 'tcp', 'tcp', 'udp'][n - 1],
      target: ['h2:1', 'H1:1', 'h3:1', 'h4:1'][n - 1],
      password: ['q', 'P', 'r', 'o'][n - 1],
      remark: ['x', 'Z', 'y', 'w'][n - 1],
      enabled: n !== 3,
      running: n === 3,
    }));
    await seedHosts(api.store, 1, 4, (n) => ({
      clientId: [4, 2, 3, 1][n - 1],
      host: ['m.example.com', 'k.example.com', 'l.example.com', 'n.example.com'][n - 1],
      scheme: ['https', 'all', 'http', 'all'][n - 1],
      location: ['/b', '/d', '/a', '/c'][n - 1],
      target: ['h2:1', 'H1:1', 'h3:1', 'h4:1'][n - 1],
      remark: ['x', 'Z', 'y', 'w'][n - 1],
      enabled: n !== 1,
    }));
  });

  async function ids(path: string, parameters: Record<string, string | number> = {}): Promise<{ total: number; ids: number[] }> {
    const { total, rows } = list.parse((await api.signed(path, parameters)).body);
    return { total, ids: rows.map(({ Id }) => Id) };
  }

  test.each([
    ['/client/list/', {
      Id: [1, 2, 3, 4],
      Remark: [4, 1, 3, 2],
      Version: [3, 2, 1, 4],
      VerifyKey: [2, 1, 4, 3],
      Addr: [3, 1, 4, 2],
      LocalAddr: [2, 4, 1, 3],
      InletFlow: [3, 1, 2, 4],
      ExportFlow: [1, 2, 4, 3],
      NowRate: [4, 2, 1, 3],
      Status: [2, 1, 3, 4],
      IsConnect: [1, 3, 4, 2],
      Nonsense: [1, 2, 3, 4],
    }],
    ['/index/gettunnel/', {
      Id: [1, 2, 3, 4],
      ClientId: [4, 2, 3, 1],
      Remark: [4, 1, 3, 2],
      'Client.VerifyKey': [2, 4, 1, 3],
      VerifyKey: [2, 4, 1, 3],
      Target: [2, 1, 3, 4],
      Mode: [2, 3, 1, 4],
      Port: [3, 1, 4, 2],
      Password: [4, 2, 1, 3],
      Status: [3, 1, 2, 4],
      RunStatus: [1, 2, 4, 3],
      IsConnect: [1, 3, 4, 2],
      'Client.IsConnect': [1, 3, 4, 2],
    }],
    ['/index/hostlist/', {
      Id: [1, 2, 3, 4],
      ClientId: [4, 2, 3, 1],
      Remark: [4, 1, 3, 2],
      VerifyKey: [2, 4, 1, 3],
      'Client.VerifyKey': [2, 4, 1, 3],
      Host: [2, 3, 1, 4],
      Scheme: [2, 4, 3, 1],
      Target: [2, 1, 3, 4],
      Location: [3, 1, 4, 2],
      IsClose: [2, 3, 4, 1],
      Status: [2, 3, 4, 1],
      IsConnect: [1, 3, 4, 2],
      'Client.IsConnect': [1, 3, 4, 2],
    }],
    ['/user/list/', {
      Id: [1, 2, 3, 4],
      UserName: [1, 3, 4, 2],
      Remark: [4, 1, 3, 2],
      Status: [3, 1, 2, 4],
      MaxTunnelNum: [3, 1, 4, 2],
      MaxClientNum: [2, 4, 1, 3],
      ClientCount: [2, 1, 4, 3],
      TunnelCount: [4, 3, 1, 2],
      ExpireTime: [1, 3, 2, 4],
      CreateTime: [4, 2, 3, 1],
      Nonsense: [1, 2, 3, 4],
    }],
  ])('%s sorts by every name of the family, ascending unless desc', async (path, orders) => {
    for (const [sort, expected] of Object.entries(orders)) {
      expect({ sort, ...await ids(path, { sort, order: 'asc' }) }).toEqual({ sort, total: 4, ids: expected });
      const falling = sort === 'Nonsense' ? expected : expected.toReversed();
      expect({ sort, ...await ids(path, { sort, order: 'DESC' }) }).toEqual({ sort, total: 4, ids: falling });
    }
  });

  test.each(['/client/list/', '/index/gettunnel/', '/index/hostlist/'])('%s is filtered by owner, and by having none', async (path) => {
    expect(await ids(path, { user_id: ownerId })).toEqual({ total: 1, ids: [3] });
    expect(await ids(path, { user_id: 0 })).toEqual({ total: 3, ids: [1, 2, 4] });
    expect(await ids(path, { unassigned: 'true' })).toEqual({ total: 3, ids: [1, 2, 4] });
    expect(await ids(path, { user_id: '' })).toEqual({ total: 4, ids: [1, 2, 3, 4] });
    expect(await ids(path, { user_id: 99 })).toEqual({ total: 0, ids: [] });
    expect((await api.signed(path, { user_id: 'x' })).body).toEqual({ status: 0, msg: 'invalid user_id' });
  });

  test('tunnels are filtered by filter_client_id beside client_id', async () => {
    expect(await ids('/index/gettunnel/', { filter_client_id: 2 })).toEqual({ total: 1, ids: [2] });
    expect(await ids('/index/gettunnel/', { filter_client_id: 0, client_id: 1 })).toEqual({ total: 1, ids: [4] });
    expect(await ids('/index/gettunnel/', { filter_client_id: 2, client_id: 1 })).toEqual({ total: 1, ids: [2] });
    expect((await api.signed('/index/gettunnel/', { filter_client_id: '1.5' })).body).toEqual({ status: 0, msg: 'invalid filter_client_id' });
  });

  test('tunnels are filtered by their type, with spaces around it, too; a type that no tunnel has lists none', async () => {
    expect(await ids('/index/gettunnel/', { type: 'tcp' })).toEqual({ total: 2, ids: [2, 3] });
    expect(await ids('/index/gettunnel/', { type: ' udp ' })).toEqual({ total: 2, ids: [1, 4] });
    expect(await ids('/index/gettunnel/', { type: ' ' })).toEqual({ total: 4, ids: [1, 2, 3, 4] });
    expect(await ids('/index/gettunnel/', { type: 'ud p' })).toEqual({ total: 0, ids: [] });
  });

  test('a search finds part of a text in any case, or a number that is equal', async () => {
    expect(await ids('/client/list/', { search: 'Z' })).toEqual({ total: 1, ids: [2] });
    expect(await ids('/client/list/', { search: '3' })).toEqual({ total: 1, ids: [3] });
    expect(await ids('/index/gettunnel/', { search: '9004' })).toEqual({ total: 1, ids: [2] });
    expect(await ids('/index/hostlist/', { search: 'K.EXAMPLE' })).toEqual({ total: 1, ids: [2] });
    expect(await ids('/index/hostlist/', { search: 'example', limit: 1, offset: 1 })).toEqual({ total: 4, ids: [2] });
    expect(await ids('/index/hostlist/', { search: 'example', offset: 9 })).toEqual({ total: 4, ids: [] });
    expect(await ids('/index/hostlist/', { search: 'example', limit: 0 })).toEqual({ total: 4, ids: [] });
    expect(await ids('/index/hostlist/', { search: '%' })).toEqual({ total: 0, ids: [] });
  });
});
