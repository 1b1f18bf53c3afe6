import { expect, test } from '@jest/globals';
import { ListWalk, type ReadList } from '../../src/schema/lists/list-walk.ts';
import type { Page } from '../../src/store/hot/page.ts';

test('a walk reads no more of rows with much text before it has returned those', async () => {
  let pagesRead = 0;
  async function* pages(): AsyncGenerator<Page<{ readonly id: number; readonly text: string }>, void, undefined> {
    for (let n = 1; n <= 6; n++) {
      pagesRead++;
      yield { rows: [{ id: 2 * n - 1, text: 'x'.repeat(1_000_000) }, { id: 2 * n, text: 'x'.repeat(1_000_000) }], total: 12, short: true };
    }
  }
  const read: ReadList<{ readonly id: number; readonly text: string }> = { page: () => Promise.reject(new Error('it is read page by page')), pages };
  const walk = new ListWalk(undefined);
  const returned: number[] = [];
  while (!walk.ended) {
    const { rows } = await walk.next(read, 100);
    returned.push(...rows.map(({ id }) => id));
    expect(2 * pagesRead - returned.length).toBeLessThanOrEqual(1);
  }
  expect(returned).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
});
