import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients } from '../support/seed.ts';

const answer = z.object({ refusals: z.array(z.object({ at: z.string(), refusals: z.array(z.object({ cause: z.string(), count: z.number() })) })) });
const series = `query ($clientId: ID!, $step: TrafficStep!, $from: DateTime!, $to: DateTime) {
  refusals(clientId: $clientId, step: $step, from: $from, to: $to) { at refusals { cause count } }
}`;
const steps = ['minute', 'hour', 'day'];
/** The last bucket of every length begins here: at midnight. */
const midnight = Date.UTC(2030, 0, 2);

eitherDialect('refused connections', (databases) => {
  const opened = async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const ids = await seedClients(store, 2);
    const sumsOf = async (clientId: number, step: string) => {
      const from = new Date(Date.now() - 3_600_000).toISOString();
      const { refusals } = answer.parse((await api.run(series, { clientId, step: step.toUpperCase(), from })).data);
      const sums: Record<string, number> = {};
      // The clock may pass from one bucket to the next meanwhile.
      for (const { cause, count } of refusals.flatMap((sample) => sample.refusals)) sums[cause] = (sums[cause] ?? 0) + count;
      return sums;
    };
    return { api, store, one: ids[0] ?? 0, two: ids[1] ?? 0, sumsOf };
  };

  test('are counted by client, cause, minute, hour and day', async () => {
    const { store, one, two, sumsOf } = await opened();
    await store.saveRefusals({ id: 'a', gains: [{ clientId: two, cause: 'login', count: 5 }, { clientId: one, cause: 'offline', count: 2 }] });
    await store.saveRefusals({ id: 'b', gains: [{ clientId: one, cause: 'whiteList', count: 1 }, { clientId: one, cause: 'offline', count: 3 }] });
    for (const step of steps) expect([await sumsOf(one, step), await sumsOf(two, step)]).toEqual([{ OFFLINE: 5, ALLOWLIST: 1 }, { LOGIN: 5 }]);
  });

  test('add up to numbers of any size, and a response has those of an Int', async () => {
    const { store, one, sumsOf } = await opened();
    for (const id of ['a', 'b']) await store.saveRefusals({ id, gains: [{ clientId: one, cause: 'flow', count: Number.MAX_SAFE_INTEGER }] });
    const rows = await store.db.refusalSample.findMany({ where: { step: 'day' } });
    expect(Math.max(...rows.map(({ count }) => Number(count)))).toBe(Number.MAX_SAFE_INTEGER);
    // Two samples if midnight has passed between the two.
    expect([1, 2]).toContain(((await sumsOf(one, 'day'))['FLOW'] ?? 0) / (2 ** 31 - 1));
  });

  test('of deleted clients are not stored, and go with the client', async () => {
    const { store, one, two } = await opened();
    const gains = [{ clientId: one, cause: 'offline', count: 1 }, { clientId: two, cause: 'offline', count: 1 }, {
      clientId: 9_999,
      cause: 'offline',
      count: 1,
    }];
    await store.saveRefusals({ id: 'a', gains });
    const clients = async () => (await store.db.refusalSample.groupBy({ by: ['clientId'], orderBy: { clientId: 'asc' } })).map(({ clientId }) => clientId);
    expect(await clients()).toEqual([one, two]);
    await store.transaction((tx) => tx.client.delete({ where: { id: one } }));
    expect(await clients()).toEqual([two]);
  });

  test('of buckets older than the retention are deleted, the coarse buckets last', async () => {
    const { store, one } = await opened();
    const minute = Math.floor(Date.now() / 60_000);
    const ages = [0, 1.5, 3, 100];
    for (const step of steps) {
      await store.db.refusalSample.createMany({ data: ages.map((days) => ({ clientId: one, cause: 'login', step, at: minute - days * 1440, count: 1 })) });
    }
    await store.prune({ audit: 1, traffic: { minute: 1, hour: 2, day: 50 } });
    const left = await store.db.refusalSample.groupBy({ by: ['step'], _count: true, orderBy: { step: 'asc' } });
    expect(left.map(({ step, _count }) => [step, _count])).toEqual([['day', 3], ['hour', 2], ['minute', 1]]);
  });

  test('are returned from the sample of the one time to that of the other, oldest first, without causes that this version does not know', async () => {
    const { api, store, one } = await opened();
    const at = (hours: number): number => midnight / 60_000 + 60 * hours;
    const row = { clientId: one, step: 'hour', cause: 'login', count: 1 };
    await store.db.refusalSample.createMany({
      data: [{ ...row, at: at(2) }, { ...row, at: at(0) }, { ...row, at: at(0), cause: 'new' }, { ...row, at: at(1), cause: 'new' }, { ...row, at: at(3) }],
    });
    const given = { clientId: one, step: 'HOUR', from: new Date(midnight + 1).toISOString(), to: new Date(midnight + 2 * 3_600_000).toISOString() };
    const refusals = [{ cause: 'LOGIN', count: 1 }];
    expect((await api.run(series, given)).data).toEqual({
      refusals: [{ at: '2030-01-02T00:00:00.000Z', refusals }, { at: '2030-01-02T02:00:00.000Z', refusals }],
    });
    const monthLater = (hours: number) => api.code(series, { ...given, to: new Date(midnight + hours * 3_600_000).toISOString() });
    expect([await monthLater(749), await monthLater(750)]).toEqual([undefined, 'INVALID_INPUT']);
  });
});
