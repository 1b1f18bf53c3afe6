import { expect, jest, test } from '@jest/globals';
import { Declarer } from '../../src/agent/declarer.ts';
import type { Declaration, DeclaredEntry } from '../../src/wire/declaration.ts';
import { DECLARED_AT_ONCE } from '../../src/wire/declared.ts';
import { declaredHostOf, declaredTunnelOf } from '../support/declared-entries.ts';
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

test('a tunnel and a host of one name are two entries, each with its whole declaration, its record and its changes of state', () => {
  const log = new LogRecorder();
  const said: Declaration[] = [];
  const events: unknown[] = [];
  const declarer = new Declarer({
    log: log.logger,
    onEstablished: (entry, state) => events.push([entry.kind, state]),
    onLost: () => events.push('lost'),
  });
  const web = { kind: 'tunnel', name: 'web', tunnel: declaredTunnelOf({ mode: 'udp', targets: ['1', '2'] }) } as const;
  const site = { kind: 'host', name: 'web', host: declaredHostOf({ host: '', platformPrefix: 'p', platformDomainId: 'd', targets: ['3'] }) } as const;
  const answer = (kind: 'tunnel' | 'host', id: number, port: number, error = ''): void =>
    declarer.answered({ type: 'declared', kind, name: 'web', id, port, error });
  const states = () => log.entries.map(({ level, msg, state }) => [level, msg, state]);
  declarer.set([web, site]);
  declarer.lost();
  expect(events).toEqual([]);
  declarer.connected((message) => said.push(message));
  expect(said.splice(0)).toEqual([{ type: 'tunnel', name: 'web', tunnel: web.tunnel }, { type: 'host', name: 'web', host: site.host }]);
  answer('host', 7, 0);
  answer('tunnel', 7, 9001);
  // Nothing has been asked.
  answer('tunnel', 8, 9002);
  expect([declarer.entryOf('host', 7), declarer.entryOf('tunnel', 7), declarer.entryOf('tunnel', 8)]).toEqual(['web', 'web', undefined]);
  expect(events.splice(0)).toEqual([['host', { id: 7, port: 0, error: '' }], ['tunnel', { id: 7, port: 9001, error: '' }]]);
  declarer.set([web]);
  expect(said.splice(0)).toEqual([{ type: 'withdraw', kind: 'host', name: 'web' }]);
  answer('host', 7, 0);
  expect([declarer.entryOf('host', 7), declarer.stateOf(site), declarer.stateOf(web)]).toEqual([undefined, undefined, { id: 7, port: 9001, error: '' }]);
  declarer.set([{ ...web, tunnel: declaredTunnelOf({ port: 5 }) }]);
  answer('tunnel', 0, 0, 'no more');
  expect(states()).toEqual([
    [30, 'host web: p below d to 3 (id 7)', { event: 'established', kind: 'host', name: 'web', id: 7, port: 0 }],
    [30, 'tunnel web: udp on port 9001 to 1, 2 (id 7)', { event: 'established', kind: 'tunnel', name: 'web', id: 7, port: 9001 }],
    [30, 'host web: withdrawn', { event: 'withdrawn', kind: 'host', name: 'web' }],
    [
      40,
      'tunnel web: the server refuses it: no more; trying again every 30 s',
      { event: 'refused', kind: 'tunnel', name: 'web', id: 0, error: 'no more' },
    ],
  ]);
  declarer.connected(() => undefined);
  declarer.lost();
  declarer.lost();
  expect(events).toEqual(['lost', 'lost']);
});

test('what was refused is declared again every 30 seconds, and not after the session', () => {
  jest.useFakeTimers();
  try {
    const { declarer, said, connect, answer } = setUp();
    declarer.set([tunnel('a', 1), tunnel('b', 2), tunnel('c', 3)]);
    connect();
    said.length = 0;
    answer('a', 0, 'taken');
    answer('c', 3);
    jest.advanceTimersByTime(20_000);
    answer('b', 0, 'taken');
    jest.advanceTimersByTime(9999);
    expect(said.splice(0)).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(said.splice(0)).toEqual(['tunnel a', 'tunnel b']);
    answer('a', 1);
    answer('b', 0, 'taken');
    jest.advanceTimersByTime(30_000);
    expect(said.splice(0)).toEqual(['tunnel b']);
    answer('b', 0, 'taken');
    declarer.lost();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('what was asked in a session that is over takes no place in the next one', () => {
  const { declarer, said, connect } = setUp();
  declarer.set(Array.from({ length: DECLARED_AT_ONCE }, (_, index) => tunnel(`t${index}`)));
  connect();
  declarer.lost();
  connect();
  expect(said).toHaveLength(2 * DECLARED_AT_ONCE);
});

test('an entry holds the values of its last version that the server has taken, and none when it has no record', () => {
  const { declarer, said, connect, answer } = setUp();
  const set = (...entries: DeclaredEntry[]): string[] => {
    said.length = 0;
    declarer.set(entries);
    return [...said];
  };
  set(tunnel('a', 1));
  connect();
  answer('a', 1);
  set(tunnel('a', 2));
  answer('a', 1);
  set(tunnel('a', 9));
  answer('a', 1, 'refused');
  expect(set(tunnel('b', 2), tunnel('a', 3))).toEqual(['tunnel a', 'tunnel b']);
  answer('a', 0, 'refused');
  answer('b', 2);
  expect(set(tunnel('b', 2), tunnel('c', 2000), tunnel('a', 4))).toEqual(['tunnel c', 'tunnel a']);
  answer('a', 3);
  answer('c', 4);
  set(tunnel('b', 2), tunnel('a', 5));
  answer('a', 0, 'refused');
  expect(set(tunnel('b', 2), tunnel('d', 4), tunnel('a', 6))).toEqual(['tunnel d', 'tunnel a']);
  declarer.lost();
});
