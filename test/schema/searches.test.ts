import { expect, jest, test } from '@jest/globals';
import { searchLimits } from '../../src/schema/limits/operation-slots.ts';
import { SearchTooBroadError } from '../../src/store/errors.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients } from '../support/seed.ts';

eitherDialect('searches of one caller', (databases) => {
  test('run one at a time, and more than may wait are refused', async () => {
    const api = await openTestSchema(databases);
    await seedClients(api.services.store, 3);
    const { store } = api.services;
    const { clientPage, hostPage, auditPage } = store;
    let running = 0;
    let most = 0;
    const watched = <Query, Rows>(page: (query: Query) => Promise<Rows>) => async (query: Query) => {
      most = Math.max(most, ++running);
      try {
        return await page(query);
      } finally {
        running--;
      }
    };
    const spies = [
      jest.spyOn(store, 'clientPage').mockImplementation(watched(clientPage)),
      jest.spyOn(store, 'hostPage').mockImplementation(watched(hostPage)),
      jest.spyOn(store, 'auditPage').mockImplementation(watched(auditPage)),
    ];
    const searches = (count: number, args = 'search: "office"') =>
      Promise.allSettled(Array.from({ length: count }, () => api.ok(`{ clients(${args}) { total } }`)));
    // A filter that no index answers looks at each row, too.
    expect(await searches(5, 'filter: { connected: false }')).toEqual(
      Array.from({ length: 5 }, () => ({ status: 'fulfilled', value: { clients: { total: 3 } } })),
    );
    expect(await searches(12)).toEqual(Array.from({ length: 12 }, () => ({ status: 'fulfilled', value: { clients: { total: 3 } } })));
    // So do one by what the engine knows, and a search of the audit log.
    for (const list of ['hosts(filter: { certificateStatus: VALID })', 'auditEntries(search: "office")']) {
      await Promise.all(Array.from({ length: 5 }, () => api.ok(`{ ${list} { total } }`)));
    }
    expect(most).toBe(1);
    await Promise.all([1, 2, 3].map(() => api.ok('{ clients(filter: { unassigned: true }) { total } }')));
    expect(most).toBeGreaterThan(1); // lists that search nothing wait for nobody
    const all = await searches(searchLimits.running + searchLimits.waiting + 5);
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(5);
    for (const spy of spies) spy.mockRestore();
  });

  test('fail with an error if they take too long', async () => {
    const api = await openTestSchema(databases);
    const spy = jest.spyOn(api.services.store, 'clientPage').mockRejectedValue(new SearchTooBroadError());
    expect((await api.run('{ clients(search: "office") { total } }')).errors).toEqual([
      expect.objectContaining({ code: 'SEARCH_TOO_BROAD', message: 'the search took too long: narrow it' }),
    ]);
    spy.mockRestore();
  });
});
