import { expect, test } from '@jest/globals';
import { halvesOf, merged, nameOf, namesOf, NOTHING, only } from '../../src/store/counter-batch.ts';
import type { CounterBatch } from '../../src/store/hot/counters.ts';

/** A batch of records that are known by their bytes. */
function batchOf(clients: readonly number[], tunnels: readonly number[], hosts: readonly number[], inletBytes = 0): CounterBatch {
  const row = (id: number) => ({ id, rate: 0, connections: 0, inletBytes, exportBytes: 0 });
  return {
    clients: clients.map((id) => ({ ...row(id), connected: true, address: '', localAddress: '', version: '', lastOnlineAt: null })),
    tunnels: tunnels.map((id) => ({ ...row(id), running: true })),
    hosts: hosts.map(row),
  };
}

const whole = batchOf([1, 2], [1, 3], [1, 4, 5]);
const names = ['client 1', 'client 2', 'tunnel 1', 'tunnel 3', 'host 1', 'host 4', 'host 5'];

test('records of each kind have names of their own, and can be chosen by them', () => {
  expect(namesOf(whole)).toEqual(names);
  expect((['client', 'tunnel', 'host'] as const).map((kind) => nameOf(kind, 7))).toEqual(['client 7', 'tunnel 7', 'host 7']);
  for (const name of names) expect(namesOf(only(whole, (other) => other === name))).toEqual([name]);
  expect(only(whole, () => false)).toEqual(NOTHING);
});

test('a batch is split in two, of which the first one is never the smaller one, until there is one record in each', () => {
  expect(halvesOf(whole).map(namesOf)).toEqual([names.slice(0, 4), names.slice(4)]);
  expect(halvesOf(batchOf([], [8], [9])).map(namesOf)).toEqual([['tunnel 8'], ['host 9']]);
  expect(halvesOf(batchOf([], [], [9]))).toEqual([]);
  expect(halvesOf(NOTHING)).toEqual([]);
});

test('of two batches, records of both are as in the later one', () => {
  const both = merged(whole, batchOf([2, 6], [3, 7], [4, 8], 9));
  const bytes = (rows: ReadonlyArray<{ readonly id: number; readonly inletBytes: number }>) => rows.map(({ id, inletBytes }) => [id, inletBytes]);
  expect(bytes(both.clients)).toEqual([[1, 0], [2, 9], [6, 9]]);
  expect(bytes(both.tunnels)).toEqual([[1, 0], [3, 9], [7, 9]]);
  expect(bytes(both.hosts)).toEqual([[1, 0], [4, 9], [5, 0], [8, 9]]);
  expect(merged(NOTHING, whole)).toEqual(whole);
  expect(merged(whole, NOTHING)).toEqual(whole);
});
