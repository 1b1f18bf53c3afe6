import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';

const seen = { connected: true, rate: 0, connections: 3, address: '', localAddress: '', version: '', lastOnlineAt: null };
const answer = z.object({ traffic: z.array(z.object({ inletBytes: z.number(), exportBytes: z.number() })) });
const series = `query ($resource: TrafficResource!, $id: ID, $step: TrafficStep!, $from: DateTime!) {
  traffic(resource: $resource, id: $id, step: $step, from: $from) { at inletBytes exportBytes }
}`;

eitherDialect('traffic', (databases) => {
  test('is counted by minute, hour and day for client, tunnel, host, user and server: what the counters gained, once however often they are saved', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const { id: userId } = await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
    const [one = 0, two = 0] = await seedClients(store, 2, () => ({ userId, inletBytes: 1000n, exportBytes: 0n }));
    const [tunnel = 0] = await seedTunnels(store, one, 1);
    const [host = 0] = await seedHosts(store, two, 1);
    const batch = {
      clients: [{ id: one, ...seen, inletBytes: 1010, exportBytes: 5 }, { id: two, ...seen, inletBytes: 1000, exportBytes: 7 }],
      tunnels: [{ id: tunnel, running: true, rate: 0, connections: 0, inletBytes: 10, exportBytes: 5 }],
      hosts: [{ id: host, rate: 0, connections: 0, inletBytes: 0, exportBytes: 7 }],
    };
    await store.saveCounters(batch);
    await store.saveCounters(batch);
    await store.saveCounters({ clients: [{ id: one, ...seen, inletBytes: 1011, exportBytes: 5 }], tunnels: [], hosts: [] });
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const sums: Record<string, unknown> = {};
    for (const [resource, id] of [['client', one], ['client', two], ['tunnel', tunnel], ['host', host], ['user', userId], ['server', null]] as const) {
      for (const step of ['minute', 'hour', 'day']) {
        const { traffic } = answer.parse((await api.run(series, { resource: resource.toUpperCase(), id, step: step.toUpperCase(), from })).data);
        // The clock may pass from one bucket to the next meanwhile.
        sums[`${resource} ${id} ${step}`] = [
          traffic.reduce((sum, { inletBytes }) => sum + inletBytes, 0),
          traffic.reduce((sum, { exportBytes }) => sum + exportBytes, 0),
        ];
      }
    }
    const each = (key: string, value: number[]) => Object.fromEntries(['minute', 'hour', 'day'].map((step) => [`${key} ${step}`, value]));
    expect(sums).toEqual({
      ...each(`client ${one}`, [11, 5]),
      ...each(`client ${two}`, [0, 7]),
      ...each(`tunnel ${tunnel}`, [10, 5]),
      ...each(`host ${host}`, [0, 7]),
      ...each(`user ${userId}`, [11, 12]),
      ...each('server null', [11, 12]),
    });
  });

  test('of buckets older than the retention is deleted, the coarse buckets last', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const minute = Math.floor(Date.now() / 60_000);
    const ages = [0, 1.5, 3, 100];
    for (const step of ['minute', 'hour', 'day']) {
      await db.trafficSample.createMany({
        data: ages.map((days) => ({ resource: 'client', resourceId: 1, step, at: minute - days * 1440, inletBytes: 1, exportBytes: 0 })),
      });
    }
    await api.services.store.prune({ audit: 1, traffic: { minute: 1, hour: 2, day: 50 } });
    const left = await db.trafficSample.groupBy({ by: ['step'], _count: true, orderBy: { step: 'asc' } });
    expect(left.map(({ step, _count }) => [step, _count])).toEqual([['day', 3], ['hour', 2], ['minute', 1]]);
  });

  test("is shown to the record's owner, with a limited number of buckets", async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((username) => store.db.user.create({ data: { username, passwordHash: '' } })));
    const [own = 0] = await seedClients(store, 1, () => ({ userId: alice?.id }));
    const caller = (userId = 0) => ({ kind: 'user', userId }) as const;
    const from = new Date().toISOString();
    const code = (resource: string, id: number, userId?: number) =>
      api.code(series, { resource: resource.toUpperCase(), id, step: 'HOUR', from }, caller(userId));
    expect(await code('client', own, alice?.id)).toBeUndefined();
    expect(await code('user', alice?.id ?? 0, alice?.id)).toBeUndefined();
    expect(await code('client', own, bob?.id)).toBe('FORBIDDEN');
    expect(await code('user', alice?.id ?? 0, bob?.id)).toBe('FORBIDDEN');
    expect(await code('tunnel', 99, bob?.id)).toBe('FORBIDDEN');
    expect(await api.code(series, { resource: 'TUNNEL', id: 99, step: 'HOUR', from })).toBe('NOT_FOUND');
    expect(await api.code(series, { resource: 'CLIENT', id: own, step: 'MINUTE', from: '2020-01-01T00:00:00Z' })).toBe('INVALID_INPUT');
  });

  test('is returned from the sample of the one time to that of the other, oldest first, of one record, step and kind', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const [id = 0, other = 0] = await seedClients(api.services.store, 2);
    const minutes = Date.UTC(2030, 0, 2) / 60_000;
    const row = { resource: 'client', resourceId: id, step: 'hour', inletBytes: 1, exportBytes: 2 };
    await db.trafficSample.createMany({
      data: [
        { ...row, at: minutes + 120, inletBytes: 5, exportBytes: 6 },
        { ...row, at: minutes },
        ...[-60, 180].map((at) => ({ ...row, at: minutes + at })),
        { ...row, at: minutes + 60, step: 'minute' },
        { ...row, at: minutes + 60, resourceId: other },
        { ...row, at: minutes + 60, resource: 'host' },
      ],
    });
    const query = `query ($from: DateTime!, $to: DateTime) {
      traffic(resource: CLIENT, id: ${id}, step: HOUR, from: $from, to: $to) { at inletBytes exportBytes }
    }`;
    const at = (hours: number, ms = 0) => new Date(minutes * 60_000 + hours * 3_600_000 + ms).toISOString();
    expect(await api.ok(query, { from: at(0, 1), to: at(2) })).toEqual({
      traffic: [{ at: at(0), inletBytes: 1, exportBytes: 2 }, { at: at(2), inletBytes: 5, exportBytes: 6 }],
    });
    expect([await api.code(query, { from: at(0), to: at(1999) }), await api.code(query, { from: at(0), to: at(2000) })]).toEqual([undefined, 'INVALID_INPUT']);
  });
});
