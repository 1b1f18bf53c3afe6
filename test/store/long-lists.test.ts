import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from '../../src/store/hot/page.ts';
import type { TunnelPageQuery } from '../../src/store/hot/tunnel-page.ts';
import type { TestStore } from '../support/test-store.ts';
import { eitherDialect } from '../support/database.ts';
import { seedClients, seedTunnels } from '../support/seed.ts';

/** All pages that a list is read in. */
async function pagesOf<Row>(pages: AsyncIterable<Page<Row>>): Promise<Page<Row>[]> {
  const read: Page<Row>[] = [];
  for await (const page of pages) read.push(page);
  return read;
}

eitherDialect('a list that is read page by page', (databases) => {
  let store: TestStore;
  let clientId: number;

  beforeAll(async () => {
    store = await databases.openEmpty();
    [clientId = 0] = await seedClients(store, 1);
    await seedTunnels(store, clientId, 350, (n) => ({ mode: n % 3 === 0 ? 'udp' : 'tcp', remark: `Tunnel ${n % 7}`, port: 9000 + (n * 11) % 350 }));
  });

  const queries: Record<string, TunnelPageQuery> = {
    'by id': { offset: 0 },
    'in another order': { orderBy: 'REMARK', desc: true, offset: 0 },
    'from an offset': { orderBy: 'PORT', offset: 17 },
    'with a limit': { offset: 5, limit: 203 },
    'with a filter': { mode: 'udp', offset: 0 },
    'with a search': { search: 'tunnel 3', offset: 0 },
    'with a search and a limit': { search: 'tunnel', offset: 10, limit: 150 },
    'that holds nothing': { search: 'nothing', offset: 0 },
    'past its end': { offset: 400 },
    'past the end of a search': { search: 'tunnel', offset: 400 },
    'without rows': { offset: 0, limit: 0 },
    'of one page': { offset: 3, limit: 100 },
  };

  test.each(Object.keys(queries))('has the same rows and the same total as in one piece: %s', async (name) => {
    const query = queries[name] ?? { offset: 0 };
    const whole = await store.tunnelPage(query);
    const pages = await pagesOf(store.tunnelPages(query));
    expect(pages.flatMap(({ rows }) => rows)).toStrictEqual(whole.rows);
    expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([whole.total]));
    expect(Math.max(...pages.map(({ rows }) => rows.length))).toBeLessThanOrEqual(100);
  });

  test('keeps the rows and the order that it began with; what is deleted meanwhile is left out', async () => {
    const before = (await store.tunnelPage({ orderBy: 'PORT', offset: 0 })).rows.map(({ id }) => id);
    const pages = store.tunnelPages({ orderBy: 'PORT', offset: 0 });
    const seen: number[] = [];
    for await (const { rows } of pages) {
      if (seen.length === 0) {
        await store.db.tunnel.update({ where: { id: before[200] ?? 0 }, data: { port: 1 } });
        await store.db.tunnel.delete({ where: { id: before[250] ?? 0 } });
        await store.db.tunnel.create({ data: { clientId, mode: 'tcp', port: 9360 } });
      }
      seen.push(...rows.map(({ id }) => id));
    }
    expect(seen).toEqual(before.filter((id) => id !== before[250]));
  });
});
