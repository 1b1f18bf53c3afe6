import { expect, jest, test } from '@jest/globals';
import type { EngineEvent } from '../../../src/engine/face.ts';
import { type ChangedRecord, ChangedRecords, inLists } from '../../../src/engine/nodes/changed-records.ts';
import { Gathered } from '../../../src/engine/nodes/gathered.ts';
import { chosenNode } from '../../../src/engine/nodes/rank.ts';
import { eventually } from '../../support/eventually.ts';

test('what happens here is news again after the work of another node has failed', async () => {
  let tell: (event: EngineEvent) => void = () => {};
  const sent: ChangedRecord[] = [];
  const watch = (listener: typeof tell) => {
    tell = listener;
    return () => {};
  };
  const records = new ChangedRecords({ watch }, (changed) => sent.push(...changed));
  const failing = () => {
    tell({ kind: 'client', id: 1 });
    throw new Error('the record cannot be shown');
  };
  expect(() => records.hear(failing)).toThrow('the record cannot be shown');
  tell({ kind: 'client', id: 2 });
  await eventually(() => sent, (all) => all.length > 0);
  expect(sent).toEqual([['client', 2]]);
  records.stop();
});

test('other nodes are notified of clients, tunnels and hosts, each once', async () => {
  let tell: (event: EngineEvent) => void = () => {};
  const sent: ChangedRecord[] = [];
  const watch = (listener: typeof tell) => {
    tell = listener;
    return () => {};
  };
  const records = new ChangedRecords({ watch }, (changed) => sent.push(...changed));
  for (const kind of ['host', 'tunnel', 'client', 'tunnel'] as const) tell({ kind, id: 7 });
  await eventually(() => sent, (all) => all.length > 0);
  expect(sent).toEqual([['host', 7], ['tunnel', 7], ['client', 7]]);
  records.stop();
});

test('news are gathered for a while, each once, and sent in lists of 500 at most', () => {
  jest.useFakeTimers();
  try {
    const passed: Array<readonly string[]> = [];
    const gathered = new Gathered<string>(50, (items) => passed.push(items));
    for (const item of ['a', 'b', 'a']) gathered.add(item);
    jest.advanceTimersByTime(49);
    gathered.add('c');
    expect(passed).toEqual([]);
    jest.advanceTimersByTime(1);
    gathered.add('a');
    jest.advanceTimersByTime(50);
    expect(passed).toEqual([['a', 'b', 'c'], ['a']]);
    gathered.add('d');
    gathered.stop();
    jest.advanceTimersByTime(50);
    expect(passed).toHaveLength(2);
  } finally {
    jest.useRealTimers();
  }
  const all = Array.from({ length: 1001 }, (_, n) => n);
  expect([...inLists(all)].map((part) => [part[0], part.at(-1)])).toEqual([[0, 499], [500, 999], [1000, 1000]]);
  expect([...inLists(all.slice(0, 500))]).toHaveLength(1);
});

test('all nodes choose the same node for a client, whatever their version and the order of their lists', () => {
  const chosen = (...nodes: string[]) => Array.from({ length: 10 }, (_, clientId) => chosenNode(nodes, clientId)?.at(-1)).join('');
  expect(chosen('node-a', 'node-b', 'node-c')).toBe('acbcabaccc');
  expect(chosen('node-c', 'node-b', 'node-a')).toBe(chosen('node-a', 'node-b', 'node-c'));
  expect(chosenNode([], 1)).toBeUndefined();
});
