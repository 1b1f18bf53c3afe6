import { expect, jest, test } from '@jest/globals';
import { searchLimits } from '../../src/schema/operation-slots.ts';
import { eachDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients } from '../support/seed.ts';

eachDialect('searches of one caller', (databases) => {
  test('run one at a time, and more than may wait are refused', async () => {
    const api = await openTestSchema(databases);
    await seedClients(api.services.store, 3);
    const { store } = api.services;
    const page = store.clientPage;
    let running = 0;
    let most = 0;
    const spy = jest.spyOn(store, 'clientPage').mockImplementation(async (query) => {
      most = Math.max(most, ++running);
      try {
        return await page(query);
      } finally {
        running--;
      }
    });
    const searches = (count: number) => Promise.allSettled(Array.from({ length: count }, () => api.ok('{ clients(search: "office") { total } }')));
    expect(await searches(12)).toEqual(Array.from({ length: 12 }, () => ({ status: 'fulfilled', value: { clients: { total: 3 } } })));
    expect(most).toBe(1);
    await Promise.all([1, 2, 3].map(() => api.ok('{ clients { total } }')));
    expect(most).toBeGreaterThan(1); // lists that search nothing wait for nobody
    const all = await searches(searchLimits.running + searchLimits.waiting + 5);
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(5);
    spy.mockRestore();
  });
});
