import { expect, jest, test } from '@jest/globals';
import type { EngineEvent } from '../../../src/engine/face.ts';
import { type ChangedRecord, ChangedRecords, inLists } from '../../../src/engine/nodes/changed-records.ts';
import { Gathered } from '../../../src/engine/nodes/gathered.ts';
import { GuessNews } from '../../../src/engine/nodes/guess-news.ts';
import { HomeNews } from '../../../src/engine/nodes/home-news.ts';
import { Homes } from '../../../src/engine/nodes/homes.ts';
import { chosenNode } from '../../../src/engine/nodes/rank.ts';
import { Attempts } from '../../../src/rules/attempts.ts';
import type { NodeMessage } from '../../../src/wire/node-messages.ts';
import { eventually } from '../../support/eventually.ts';

/** News for other nodes of events that a test causes with `tell`. */
function watched() {
  let listener: (event: EngineEvent) => void = () => {};
  const sent: ChangedRecord[] = [];
  const watch = (added: typeof listener) => {
    listener = added;
    return () => {};
  };
  return { records: new ChangedRecords({ watch }, (changed) => sent.push(...changed)), sent, tell: (event: EngineEvent) => listener(event) };
}

test('what happens here is news again after the work of another node has failed', async () => {
  const { records, sent, tell } = watched();
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
  const { records, sent, tell } = watched();
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

test('the wrong guesses of 100 ms are news together, at most 500, and the end of a lockout at once', () => {
  jest.useFakeTimers();
  try {
    const [attempts, others] = [new Attempts(), new Attempts()];
    const sent: NodeMessage[] = [];
    const news = new GuessNews(attempts, () => 0, (message) => sent.push(message));
    const guess = (nth: number) => attempts.guess('basic', `10.0.${nth >> 8}.${nth & 255}`, `name ${nth}`, 0, () => false);
    for (let nth = 0; nth < 501; nth++) guess(nth);
    jest.advanceTimersByTime(99);
    expect(sent).toEqual([]);
    jest.advanceTimersByTime(1);
    guess(600);
    jest.advanceTimersByTime(100);
    expect(sent.map((message) => message.type === 'guesses' && message.guesses.length)).toEqual([500, 1]);
    expect(sent[1]).toMatchObject({ guesses: [{ credential: 'basic', address: '10.0.2.88' }] });
    attempts.free({ kind: 'address', source: '10.0.0.1' }, 0);
    expect(sent[2]).toEqual({ type: 'freed', source: { kind: 'address', source: '10.0.0.1' } });

    // As many fit each message.
    for (const from of [1000, 2000, 3000]) {
      for (let nth = from; nth < from + 500; nth++) guess(nth);
      jest.advanceTimersByTime(100);
      expect(sent.at(-1)).toMatchObject({ type: 'guesses', guesses: { length: 500 } });
    }

    const heard = new GuessNews(others, () => 0, () => undefined);
    const guesses = Array.from({ length: 10 }, (_, nth) => ({ credential: 'login', address: '10.0.0.1', name: `${nth}` }));
    heard.hear(guesses.map((one) => ({ ...one, credential: 'of a later version' })));
    expect(others.lockouts(0)).toEqual([]);
    heard.hear(guesses);
    expect(others.lockouts(0)).toMatchObject([{ credential: 'login', kind: 'address', source: '10.0.0.1' }]);
    heard.hearFreed({ kind: 'address', source: '10.0.0.1' });
    expect(others.lockouts(0)).toEqual([]);
    for (const each of [news, heard]) each.stop();
    guess(700);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('other nodes learn which agents have come and gone, and one that can be reached from now on of all that were here, a part at a time', () => {
  jest.useFakeTimers();
  try {
    const homes = new Homes();
    const sent: NodeMessage[] = [];
    const news = new HomeNews('own', homes, (message) => sent.push(message));
    homes.learn(1, { node: 'own', epoch: 10, connected: true, ended: false });
    homes.learn(2, { node: 'own', epoch: 20, connected: false, ended: true });
    homes.learn(3, { node: 'own', epoch: 30, connected: false, ended: false });
    homes.learn(4, { node: 'other', epoch: 40, connected: true, ended: false });
    for (const id of [2, 4, 1, 5, 2]) news.moved(id);
    jest.advanceTimersByTime(4);
    expect(sent).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(sent).toEqual([{ type: 'homes', homes: [[2, 20, false, true], [1, 10, true, false]] }]);

    const reported: NodeMessage[] = [];
    const taken: Array<() => void> = [];
    news.tellAll({ send: (message) => reported.push(message), whenTaken: (next) => taken.push(next) });
    expect(reported).toEqual([{ type: 'homes', homes: [[1, 10, true, false], [2, 20, false, true], [3, 30, false, false]] }]);
    taken.shift()?.();
    expect(reported.slice(1)).toEqual([{ type: 'allHomes' }]);
    taken.shift()?.();
    expect([reported.length, taken.length]).toEqual([2, 0]);

    for (let id = 100; id < 1100; id++) homes.learn(id, { node: 'own', epoch: 1, connected: true, ended: false });
    reported.length = 0;
    news.tellAll({ send: (message) => reported.push(message), whenTaken: (next) => next() });
    expect(reported.map((message) => message.type === 'homes' ? message.homes.length : message.type)).toEqual([500, 500, 3, 'allHomes']);
    news.moved(1);
    news.stop();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
