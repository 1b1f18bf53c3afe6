import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Overview } from '../../src/agent/overview.ts';
import { type OverviewRow, overviewParts } from '../../src/wire/overview.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const row = (id: number): OverviewRow => ({
  kind: 'tunnel',
  id,
  type: 'tcp',
  host: '',
  port: 0,
  targets: [],
  running: true,
  error: '',
  connections: 0,
  visitors: { relay: 0, direct: 0 },
  health: null,
});
const rows = (count: number, first = 0): OverviewRow[] => Array.from({ length: count }, (_, at) => row(first + at));

test('a list is put together from its parts; those who ask meanwhile get the same one, those who ask later another', async () => {
  const overview = new Overview();
  let sent = 0;
  const ask = () => overview.ask(() => sent++);
  // Nobody has asked for it.
  overview.add({ type: 'overview', rows: rows(1, 100), last: true });
  const [one, other] = [ask(), ask()];
  expect(sent).toBe(1);
  overview.add({ type: 'overview', rows: rows(2), last: false });
  overview.add({ type: 'overview', rows: rows(1, 2), last: true });
  expect(await Promise.all([one, other])).toEqual([rows(3), rows(3)]);
  overview.add({ type: 'overview', rows: rows(1, 100), last: false });
  const later = ask();
  expect(sent).toBe(2);
  overview.add({ type: 'overview', rows: rows(1, 7), last: true });
  expect(await later).toEqual(rows(1, 7));
  expect(jest.getTimerCount()).toBe(0);
});

test('a server that does not answer within two seconds has no list, and can be asked again', async () => {
  const overview = new Overview();
  const ask = () => overview.ask(() => undefined);
  let answered = false;
  const first = ask().finally(() => {
    answered = true;
  });
  overview.add({ type: 'overview', rows: rows(1, 100), last: false });
  await jest.advanceTimersByTimeAsync(1999);
  expect(answered).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  expect(await first).toBeUndefined();
  // What comes too late belongs to no list.
  overview.add({ type: 'overview', rows: rows(1, 100), last: true });
  const second = ask();
  overview.add({ type: 'overview', rows: rows(1, 7), last: true });
  expect(await second).toEqual(rows(1, 7));
});

test('no more parts are kept than those that reach 10,000 rows', async () => {
  const overview = new Overview();
  const asked = overview.ask(() => undefined);
  for (let first = 0; first < 9999; first += 3333) overview.add({ type: 'overview', rows: rows(3333, first), last: false });
  overview.add({ type: 'overview', rows: rows(2, 9999), last: false });
  overview.add({ type: 'overview', rows: rows(1, 20_000), last: true });
  expect((await asked)?.length).toBe(10_001);
});

test('rows are sent in parts of 40,000 bytes at most, in their order, and the last part says that it is', () => {
  const bytes = Buffer.byteLength(JSON.stringify(row(1)));
  const sized = (id: number, size: number): OverviewRow => ({ ...row(id), error: 'x'.repeat(size - bytes) });
  const ids = (sizes: readonly number[]) =>
    Array.from(overviewParts(sizes.map((size, id) => sized(id, size))), ({ type, rows: all, last }) => [type, all.map(({ id }) => id), last]);
  expect(ids([])).toEqual([['overview', [], true]]);
  expect(ids([20_000, 20_000, 20_000, 20_001, 1000])).toEqual([['overview', [0, 1], false], ['overview', [2], false], ['overview', [3, 4], true]]);
  // Bytes, not characters.
  const umlauts = Array.from(overviewParts([{ ...sized(0, 20_000), host: 'ä'.repeat(100) }, sized(1, 19_850)]));
  expect(umlauts.length).toBe(2);
});
