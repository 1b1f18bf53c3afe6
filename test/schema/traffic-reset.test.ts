import { expect, test } from '@jest/globals';
import pino from 'pino';
import { z } from 'zod';
import type { CounterBatch } from '../../src/store/hot/counters.ts';
import { StateSaver } from '../../src/store/state-saver.ts';
import { onlineState } from '../support/client-state.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';

const seen = { connected: true, rate: 0, connections: 3, address: '', localAddress: '', version: '', lastOnlineAt: null };
const reset = (kind: string, id: number | string) => `mutation { reset${kind}Traffic(id: ${id}) { id runtime { inletBytes exportBytes } } }`;
const entries = z.object({
  auditEntries: z.object({ rows: z.array(z.object({ resource: z.string(), action: z.string(), before: z.unknown(), after: z.unknown() })) }),
});

/** What the series of a client say that it has moved. */
async function series(api: TestSchema, resourceId: number): Promise<number[]> {
  const { _sum } = await api.services.store.db.trafficSample.aggregate({
    where: { resource: 'client', resourceId, step: 'day' },
    _sum: { inletBytes: true, exportBytes: true },
  });
  return [Number(_sum.inletBytes), Number(_sum.exportBytes)];
}

eitherDialect('a reset of traffic', (databases) => {
  test.each([['Client', 'client'], ['Tunnel', 'tunnel'], ['Host', 'host']] as const)(
    'of a %s makes the row begin at 0, tells the engine and the audit log, and leaves everything else',
    async (kind, resource) => {
      const api = await openTestSchema(databases);
      const { store } = api.services;
      const used = { inletBytes: 1000n, exportBytes: 5n };
      const [client = 0, other = 0] = await seedClients(store, 2, () => used);
      const [tunnel = 0] = await seedTunnels(store, client, 1, () => used);
      const [host = 0] = await seedHosts(store, client, 1, () => used);
      const id = { client, tunnel, host }[resource];
      expect(await api.ok(reset(kind, id))).toMatchObject({ [`reset${kind}Traffic`]: { runtime: { inletBytes: 0, exportBytes: 0 } } });
      expect(api.engine.applied).toEqual([{ kind: 'trafficReset', of: resource, id, inletBytes: 1000, exportBytes: 5 }]);
      const rows = {
        client: await store.db.client.findUnique({ where: { id: client } }),
        other: await store.db.client.findUnique({ where: { id: other } }),
        tunnel: await store.db.tunnel.findUnique({ where: { id: tunnel } }),
        host: await store.db.host.findUnique({ where: { id: host } }),
      };
      for (const [name, row] of Object.entries(rows)) {
        expect([name, row?.inletBytes, row?.exportBytes]).toEqual(name === resource ? [name, 0n, 0n] : [name, 1000n, 5n]);
      }
      const { auditEntries: { rows: [entry] } } = entries.parse(await api.ok('{ auditEntries { rows { resource action before after } } }'));
      const record = (value: unknown): unknown => typeof value === 'string' ? JSON.parse(value) : value;
      expect([record(entry?.before), record(entry?.after)]).toMatchObject([{ inletBytes: 1000, exportBytes: 5 }, { inletBytes: 0, exportBytes: 0 }]);
    },
  );

  test('takes what the engine has counted since the last saving into the series, and nothing twice', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [id = 0] = await seedClients(store, 1, () => ({ inletBytes: 1000n, exportBytes: 0n }));
    api.engine.clients.set(id, onlineState({ inletBytes: 1500, exportBytes: 7, lastOnlineAt: null }));
    await api.ok(reset('Client', id));
    expect(api.engine.applied).toMatchObject([{ inletBytes: 1500, exportBytes: 7 }]);
    expect(await series(api, id)).toEqual([500, 7]);
    // The next of the engine's batches.
    await store.saveCounters({ clients: [{ id, ...seen, inletBytes: 3, exportBytes: 0 }], tunnels: [], hosts: [] });
    expect(await series(api, id)).toEqual([503, 7]);
    expect(await store.db.client.findUnique({ where: { id } })).toMatchObject({ inletBytes: 3n });
  });

  test('is not undone by counters that were taken before it and are stored after it', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [one = 0, two = 0] = await seedClients(store, 2, () => ({ inletBytes: 1000n, exportBytes: 0n }));
    const batch: CounterBatch = { clients: [one, two].map((id) => ({ id, ...seen, inletBytes: 1200, exportBytes: 0 })), tunnels: [], hosts: [] };
    const saver = new StateSaver(
      {
        async takeDirty() {
          await api.ok(reset('Client', one));
          return batch;
        },
        restoreDirty: () => Promise.resolve(),
      },
      store,
      pino({ level: 'silent' }),
    );
    api.services.changes.subscribe((change) => {
      if (change.resource === 'client') saver.trafficReset('client', change.id);
    });
    await saver.save();
    expect(await store.db.client.findMany({ orderBy: { id: 'asc' }, select: { inletBytes: true } })).toEqual([{ inletBytes: 0n }, { inletBytes: 1200n }]);
    expect([await series(api, one), await series(api, two)]).toEqual([[0, 0], [200, 0]]);
  });

  test("is allowed for the record's owner; for a client with a flow limit, only for administrators", async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((username) => store.db.user.create({ data: { username, passwordHash: '' } })));
    const used = { inletBytes: 10n };
    const [free = 0, limited = 0] = await seedClients(store, 2, (n) => ({ ...used, userId: alice?.id, flowLimit: n - 1 }));
    const [tunnel = 0] = await seedTunnels(store, limited, 1, () => used);
    const [host = 0] = await seedHosts(store, limited, 1, () => used);
    const code = (operation: string, userId = 0) => api.code(operation, {}, { kind: 'user', userId });
    for (const operation of [reset('Client', free), reset('Client', limited), reset('Tunnel', tunnel), reset('Host', host), reset('Client', 999)]) {
      expect(await code(operation, bob?.id)).toBe('FORBIDDEN');
    }
    expect(await store.db.client.count({ where: { inletBytes: 10n } })).toBe(2);
    expect(await code(reset('Client', limited), alice?.id)).toBe('FORBIDDEN');
    expect(await api.code(reset('Client', limited), {}, { kind: 'client', clientId: limited })).toBe('FORBIDDEN');
    for (const operation of [reset('Client', free), reset('Tunnel', tunnel), reset('Host', host)]) expect(await code(operation, alice?.id)).toBeUndefined();
    expect(await api.code(reset('Client', limited))).toBeUndefined();
    expect(await api.code(reset('Client', 999))).toBe('NOT_FOUND');
  });
});
