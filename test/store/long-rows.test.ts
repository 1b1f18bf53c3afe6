import { expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { RowsTooLongError } from '../../src/store/errors.ts';
import type { Client } from '../../src/store/generated/sqlite/client.ts';
import { pageBytes } from '../../src/store/hot/page.ts';
import { eitherDialect } from '../support/database.ts';
import { seedClients, seedTunnels, seedUsers } from '../support/seed.ts';

eitherDialect('rows with much text', (databases) => {
  const list = '192.0.2.1\n'.repeat(100_000);
  const clients = 20;

  test('are refused before they are in memory where a page has too much of it, and read in small pages where a list is read page by page', async () => {
    const store = await databases.openEmpty();
    const [owner = 0] = await seedUsers(store, 1);
    const ids = await seedClients(store, clients, () => ({ userId: owner, blackIpList: list, ipWhiteList: list }));
    expect(clients * 2 * list.length).toBeGreaterThan(pageBytes);
    for (
      const reading of [
        () => store.clientPage({ offset: 0, limit: clients }),
        () => store.byIds('Client', ids),
        () => store.childrenOf('Client', { parentIds: [owner], offset: 0, limit: clients }),
      ]
    ) await expect(reading()).rejects.toBeInstanceOf(RowsTooLongError);
    // Changes are followed whatever the rows have.
    expect((await store.changed('Client', ids.toReversed())).map(({ id, blackIpList }) => [id, blackIpList === list])).toEqual(
      ids.toReversed().map((id) => [id, true]),
    );

    for (const limit of [undefined, clients]) {
      const rows: Client[] = [];
      for await (const page of store.clientPages({ offset: 0, orderBy: 'ID', desc: true, limit })) {
        expect(page).toMatchObject({ total: clients, short: true });
        expect(page.rows.length).toBeLessThanOrEqual(2);
        rows.push(...page.rows);
      }
      expect(rows.map(({ id }) => id)).toEqual(ids.toReversed());
      expect(rows.every((row) => row.blackIpList === list && row.ipWhiteList === list)).toBe(true);
    }
    expect((await store.clientPage({ offset: 0, limit: 10 })).rows).toHaveLength(10);
  });

  if (databases.dialect === 'postgresql') {
    test('are refused with the end of their connection, which would have to receive all of them before the next query', async () => {
      const store = await databases.openEmpty();
      const ids = await seedClients(store, clients, () => ({ blackIpList: list, ipWhiteList: list }));
      const ended = jest.spyOn(pg.Client.prototype, 'end');
      try {
        await expect(store.byIds('Client', ids)).rejects.toBeInstanceOf(RowsTooLongError);
        expect(ended).toHaveBeenCalledTimes(1);
      } finally {
        ended.mockRestore();
      }
    });
  }

  test('a nested list reads no more rows than are asked for in all', async () => {
    const store = await databases.openEmpty();
    const parentIds = await seedClients(store, 3);
    for (const id of parentIds) await seedTunnels(store, id, 10);
    expect(await store.childrenOf('Tunnel', { parentIds, offset: 0, limit: 10, mostRows: 12 })).toHaveLength(12);
    expect(await store.childrenOf('Tunnel', { parentIds, offset: 0, limit: 10 })).toHaveLength(30);
  });
});
