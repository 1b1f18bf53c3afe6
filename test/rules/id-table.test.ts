import { expect, test } from '@jest/globals';
import { IdTable } from '../../src/rules/id-table.ts';

test('has the records that a Map has, whatever ids come and go', () => {
  const table = new IdTable<string>();
  const model = new Map<number, string>();
  const ids = [1, 2, 63, 64, 65, 1000, 2 ** 31 - 1, 3, 64, 128, 127];
  for (const [n, id] of ids.entries()) {
    table.set(id, `record ${n}`);
    model.set(id, `record ${n}`);
  }
  for (const id of [64, 65, 127, 2, 1000, 5000]) {
    table.delete(id);
    model.delete(id);
  }
  table.set(66, 'after its page was empty');
  model.set(66, 'after its page was empty');
  for (const id of [...ids, 0, 66, 5000]) expect(table.get(id)).toBe(model.get(id));
  expect([...table.values()].toSorted()).toEqual([...model.values()].toSorted());
});

test('is walked through while records are replaced, deleted and added', () => {
  const table = new IdTable<number>();
  for (let id = 1; id <= 200; id++) table.set(id, id);
  const seen: number[] = [];
  for (const id of table.values()) {
    seen.push(id);
    if (id === 100) { for (let other = 64; other < 128; other++) table.delete(other); }
    if (id === 150) table.set(300, 300);
  }
  expect(seen).toEqual([...Array.from({ length: 100 }, (_, n) => n + 1), ...Array.from({ length: 73 }, (_, n) => n + 128), 300]);
});

test('no other number is taken for the id of a record', () => {
  const table = new IdTable<string>();
  table.set(1, 'the first');
  for (const id of [1.5, 2 ** 32 + 1, -1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(table.get(id)).toBeUndefined();
    table.delete(id);
  }
  expect(table.get(1)).toBe('the first');
});
