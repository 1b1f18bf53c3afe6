import { expect, test } from '@jest/globals';
import { Declarer } from '../../src/agent/declarer.ts';
import type { Declaration, DeclaredEntry } from '../../src/wire/declaration.ts';
import { DECLARED_AT_ONCE } from '../../src/wire/declared.ts';
import { declaredTunnelOf } from '../support/declared-entries.ts';
import { LogRecorder } from '../support/log-recorder.ts';

function tunnel(name: string, port = 0): DeclaredEntry {
  return { kind: 'tunnel', name, tunnel: declaredTunnelOf({ port }) };
}

/** A declarer, what it said, and the server's answers. */
function setUp() {
  const said: string[] = [];
  const established: string[] = [];
  const log = new LogRecorder();
  const declarer = new Declarer({ log: log.logger, onEstablished: ({ name }, { id }) => established.push(`${name} ${id}`) });
  const connect = (): void =>
    declarer.connected((message: Declaration) => {
      said.push(`${message.type} ${message.name}`);
    });
  const answer = (name: string, id: number, error = ''): void =>
    declarer.answered({ type: 'declared', kind: 'tunnel', name, id, port: id === 0 ? 0 : 1000 + id, error });
  return { declarer, said, established, connect, answer, log };
}

test('nothing is declared without a session, and everything is declared again in each session', () => {
  const { declarer, said, connect, answer } = setUp();
  declarer.set([tunnel('a'), tunnel('b')]);
  expect(said).toEqual([]);
  connect();
  expect(said.splice(0)).toEqual(['tunnel a', 'tunnel b']);
  answer('a', 1);
  declarer.lost();
  answer('b', 2);
  expect(declarer.stateOf({ kind: 'tunnel', name: 'b' })).toBeUndefined();
  connect();
  expect(said).toEqual(['tunnel a', 'tunnel b']);
});

test('of a new set only the differences are declared, withdrawals first', () => {
  const { declarer, said, connect, answer } = setUp();
  declarer.set([tunnel('gone'), tunnel('same'), tunnel('other', 80)]);
  connect();
  for (const [index, name] of ['gone', 'same', 'other'].entries()) answer(name, index + 1);
  said.length = 0;
  declarer.set([tunnel('new', 80), tunnel('same'), tunnel('other', 81)]);
  expect(said).toEqual(['withdraw gone', 'tunnel other', 'tunnel new']);
});

test('entries can exchange unique values: if they wait for each other, one is withdrawn and declared again', () => {
  const { declarer, said, established, connect, answer } = setUp();
  declarer.set([tunnel('a', 1), tunnel('b', 2), tunnel('c', 3), tunnel('same', 4)]);
  connect();
  for (const [index, name] of ['a', 'b', 'c', 'same'].entries()) answer(name, index + 1);
  said.length = 0;
  declarer.set([tunnel('a', 2), tunnel('b', 3), tunnel('c', 1), tunnel('same', 4)]);
  expect(said).toEqual(['withdraw a', 'tunnel c', 'tunnel b']);
  answer('a', 0);
  expect(said).toEqual(['withdraw a', 'tunnel c', 'tunnel b', 'tunnel a']);
  for (const [name, id] of [['c', 3], ['b', 2], ['a', 5]] as const) answer(name, id);
  expect(established.slice(4)).toEqual(['c 3', 'b 2', 'a 5']);
});

test('an entry with an assigned port that another entry wants keeps it until it is changed itself', () => {
  const { declarer, said, connect, answer } = setUp();
  declarer.set([tunnel('free')]);
  connect();
  answer('free', 1);
  declarer.set([tunnel('free'), tunnel('wants', 1001)]);
  expect(said.splice(0)).toEqual(['tunnel free', 'tunnel wants']);
  answer('wants', 0, 'the port is taken');
  declarer.set([tunnel('wants', 1001), tunnel('free', 9)]);
  expect(said).toEqual(['tunnel free', 'tunnel wants']);
  declarer.lost();
});

test('an entry that changes while its answer is pending is declared after the answer, only in its last version', () => {
  const { declarer, said, established, connect, answer } = setUp();
  declarer.set([tunnel('a', 1)]);
  connect();
  declarer.set([tunnel('a', 2)]);
  declarer.set([tunnel('a', 3)]);
  expect(said).toEqual(['tunnel a']);
  answer('a', 7);
  expect(said).toEqual(['tunnel a', 'tunnel a']);
  expect(established).toEqual([]);
  answer('a', 7);
  expect(established).toEqual(['a 7']);
  expect(declarer.entryOf('tunnel', 7)).toBe('a');
});

test('an entry that was withdrawn and is wanted again is declared after the answer', () => {
  const { declarer, said, connect, answer } = setUp();
  declarer.set([tunnel('a')]);
  connect();
  answer('a', 1);
  declarer.set([]);
  declarer.set([tunnel('a')]);
  answer('a', 0);
  expect(said).toEqual(['tunnel a', 'withdraw a', 'tunnel a']);
});

test('no more wait for an answer than the server takes', () => {
  const { declarer, said, connect, answer } = setUp();
  const entries = Array.from({ length: 100 }, (_, index) => tunnel(`t${index}`));
  declarer.set(entries);
  connect();
  expect(said).toHaveLength(DECLARED_AT_ONCE);
  for (const [index, { name }] of entries.entries()) {
    answer(name, index + 1);
    expect(said.length - index - 1).toBeLessThanOrEqual(DECLARED_AT_ONCE);
  }
  expect(said).toHaveLength(100);
});

test('a refusal is logged once, with a note that the previous record stays active, and is tried again with the next set', () => {
  const { declarer, said, connect, answer, log } = setUp();
  declarer.set([tunnel('a', 80)]);
  connect();
  answer('a', 5, 'the port is taken');
  expect(declarer.stateOf({ kind: 'tunnel', name: 'a' })).toEqual({ id: 5, port: 1005, error: 'the port is taken' });
  declarer.set([tunnel('a', 80)]);
  expect(said).toEqual(['tunnel a', 'tunnel a']);
  answer('a', 5, 'the port is taken');
  expect(log.entries.filter(({ msg }) => msg.includes('the previous record stays active'))).toHaveLength(1);
  declarer.set([tunnel('a', 81)]);
  answer('a', 5, 'the port is not allowed');
  expect(log.entries.map(({ msg }) => msg)).toContainEqual(expect.stringContaining('the server refuses it: the port is not allowed'));
  declarer.lost();
});
