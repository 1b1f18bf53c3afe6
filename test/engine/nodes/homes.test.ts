import { afterEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { AnswerWatch } from '../../../src/engine/bridge/answer-watch.ts';
import { Acquaintance } from '../../../src/engine/nodes/acquaintance.ts';
import { AwaitedHomes } from '../../../src/engine/nodes/awaited-homes.ts';
import { Homes } from '../../../src/engine/nodes/homes.ts';
import { Members } from '../../../src/engine/nodes/members.ts';
import { type Joinable, type StreamHooks, StreamResetError } from '../../../src/wire/stream.ts';
import type { ByteSocket } from '../../../src/wire/socket.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { meet, openEverywhere, reached, startNode, startNodes } from '../../support/nodes.ts';
import { RawPeer } from '../../support/raw-peer.ts';
import { Relay } from '../../support/relay.ts';
import { stopClock } from '../../support/stopped-clock.ts';
import { roundTrip, startEcho, visit, visitUntilClosed } from '../../support/target.ts';
import { CLIENT, fresh, startAgent } from '../../support/tunnel.ts';

afterEach(() => void jest.useRealTimers());

test('the home with the highest epoch counts, in whatever order nodes receive them', () => {
  const news = [
    { node: 'a', epoch: 5, connected: true, ended: false },
    { node: 'a', epoch: 5, connected: false, ended: false },
    { node: 'b', epoch: 7, connected: true, ended: false },
    { node: 'c', epoch: 7, connected: true, ended: false },
  ];
  for (const order of [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]]) {
    const homes = new Homes();
    for (const index of order) homes.learn(1, news[index] ?? { node: '', epoch: 0, connected: false, ended: false });
    expect(homes.get(1)).toEqual({ node: 'c', epoch: 7, connected: true, ended: false });
  }
});

test('an epoch is higher than all that the node knows, and not behind those that it has not heard of', () => {
  const homes = new Homes();
  expect(homes.nextEpoch(1, 1000.5)).toBe(1000);
  homes.learn(1, { node: 'a', epoch: 5000, connected: true, ended: false });
  expect(homes.nextEpoch(1, 1000)).toBe(5001);
  expect(homes.learn(1, { node: 'a', epoch: 5000, connected: true, ended: false })).toBe(false);
  expect(homes.learn(1, { node: 'a', epoch: 5000, connected: false, ended: false })).toBe(true);
});

test('the clients of a node are found without looking at those of others, wherever they move', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('learn', 'forget'), fc.nat(5), fc.constantFrom('a', 'b', 'c'), fc.nat(3)), { maxLength: 40 });
  fc.assert(fc.property(steps, (all) => {
    const homes = new Homes();
    const known = new Set<number>();
    for (const [step, id, node, epoch] of all) {
      if (step === 'learn') {
        homes.learn(id, { node, epoch, connected: true, ended: false });
        known.add(id);
      } else {
        homes.forget(id);
        known.delete(id);
      }
    }
    for (const node of ['a', 'b', 'c']) {
      const own = [...known].filter((id) => homes.get(id)?.node === node).toSorted((a, b) => a - b);
      const found = [...homes.of(node)].toSorted(([a], [b]) => a - b);
      expect(found.map(([id]) => id)).toEqual(own);
      expect(found.every(([id, home]) => home === homes.get(id))).toBe(true);
    }
  }));
  // Of as many clients elsewhere as one likes, none is looked at.
  const homes = new Homes();
  const elsewhere = {
    epoch: 1,
    connected: true,
    ended: false,
    get node() {
      looked++;
      return 'other';
    },
  };
  let looked = 0;
  for (let id = 1; id <= 1000; id++) homes.learn(id, elsewhere);
  homes.learn(1001, { node: 'one', epoch: 1, connected: true, ended: false });
  looked = 0;
  expect([...homes.of('one')].map(([id]) => id)).toEqual([1001]);
  expect(looked).toBe(0);
});

test('a node gets the homes of more clients than a session may queue', async () => {
  const [one, two] = [await startNode('one'), await startNode('two')];
  for (let id = 1; id <= 200_000; id++) one.engine.nodes?.agentConnected(id);
  meet([one, two]);
  expect(await two.engine.nodes?.acquainted(50_000)).toEqual([]);
  for (const id of [1, 100_000, 200_000]) expect(two.engine.nodes?.linkTo(id)?.peer.name).toBe('one');
  // On a busy machine, it may also be lost by silence.
  expect(one.log.entries.filter(({ reason }) => String(reason).includes('does not read'))).toEqual([]);
});

test('an agent that comes to another node is there from then on; what is left of it at the first one ends', async () => {
  const [one, two, three] = await startNodes(['one', 'two', 'three']);
  if (!one || !two || !three) throw new Error('there are three nodes');
  const all = [one, two, three];
  await startAgent(one);
  await eventually(() => [two, three].map(({ engine }) => engine.nodes?.linkTo(CLIENT.id)?.peer.name), (homes) => homes.every((home) => home === 'one'));
  // A program with the same key, as an agent is whose connection with its node was lost without a word.
  await startAgent(two);
  await eventually(() => [one, three].map(({ engine }) => engine.nodes?.linkTo(CLIENT.id)?.peer.name), (homes) => homes.every((home) => home === 'two'));
  await eventually(() => one.engine.clientState(CLIENT.id)?.connected, (connected) => connected === false);
  expect(all.map(({ engine }) => engine.nodes?.isHome(CLIENT.id))).toEqual([false, true, false]);
});

test('every client has one home among the nodes that reach each other, with or without an agent', async () => {
  const clients = Array.from({ length: 60 }, (_, n) => ({ ...CLIENT, id: n + 1, vkey: `key ${n}`, ...fresh }));
  const nodes = await startNodes(['one', 'two', 'three']);
  const homesOf = () => clients.map(({ id }) => nodes.filter(({ engine }) => engine.nodes?.isHome(id)).map(({ name }) => name));
  expect(homesOf().every((homes) => homes.length === 1)).toBe(true);
  expect(new Set(homesOf().flat()).size).toBe(3);
  // A client's agent is at the third one, which does not report any more that it is gone.
  for (const { engine } of nodes.slice(0, 2)) engine.nodes?.onMessage('three', { type: 'homes', homes: [[1, Date.now(), true, false]] });
  await nodes.pop()?.engine.close();
  // It cannot be reached, but may be alive. It is not, by the database.
  await eventually(() => nodes.map(reached), (all) => all.every((names) => names.length === 1));
  expect(homesOf().some((homes) => homes.length === 0)).toBe(true);
  expect(homesOf().every((homes) => homes.length <= 1)).toBe(true);
  meet(nodes);
  await eventually(homesOf, (homes) => homes.every((one) => one.length === 1));
  expect(new Set(homesOf().flat()).size).toBe(2);
});

test('two nodes that cannot reach each other are not both home of a client without an agent; its connections wait until there is one home', async () => {
  const [one, two] = [await startNode('one', { allowLocalProxy: true }), await startNode('two', { allowLocalProxy: true })];
  const ways = { toOne: await Relay.start(one.bridge.tls.port), toTwo: await Relay.start(two.bridge.tls.port) };
  one.engine.nodes?.use([{ name: 'two', ...ways.toTwo.address, bridgePort: two.bridge.port }], performance.now());
  two.engine.nodes?.use([{ name: 'one', ...ways.toOne.address, bridgePort: one.bridge.port }], performance.now());
  const nodes = [one, two];
  await eventually(() => nodes.map(reached), (all) => all.every((names) => names.length === 1));
  const opened = await openEverywhere(nodes, { targets: [(await startEcho()).address], localProxy: true });
  const isHome = () => nodes.map(({ engine }) => engine.nodes?.isHome(CLIENT.id));
  expect(isHome().filter(Boolean)).toEqual([true]);
  for (const way of Object.values(ways)) way.close();
  await eventually(() => nodes.map(reached), (all) => all.every((names) => names.length === 0));
  // They have just been started: others may not know of them yet.
  expect(isHome()).toEqual([false, false]);
  const waiting = await Promise.all(opened.map(({ port }) => visit(port)));
  const answers = waiting.map((socket) => roundTrip(socket, 'hello'));
  await eventually(() => nodes.map(({ engine }) => engine.served.connections), (served) => served.every((count) => count === 1));
  meet(nodes);
  expect(await Promise.all(answers)).toEqual(['hello', 'hello']);
  expect(nodes.map(({ engine }) => engine.tunnelState(opened[0]?.id ?? 0)?.inletBytes).toSorted((one = 0, other = 0) => one - other)).toEqual([0, 10]);
});

test('connections that wait for the home of a client whose targets a server dials go on where its agent connects', async () => {
  const nodes = await startNodes(['one', 'two'], { allowLocalProxy: true });
  const [one, two] = nodes;
  if (!one || !two) throw new Error('there are two nodes');
  const [atOne] = await openEverywhere(nodes, { targets: [(await startEcho()).address], localProxy: true });
  await two.engine.close();
  await eventually(() => reached(one), (names) => names.length === 0);
  expect(one.engine.nodes?.isHome(CLIENT.id)).toBe(false);
  stopClock(); // after 5 s they would go on anyway
  const answer = roundTrip(await visit(atOne?.port ?? 0), 'hello');
  await eventually(() => one.engine.served.connections, (count) => count === 1);
  await startAgent(one);
  expect(await answer).toBe('hello');
});

test('the agents of a node that was started again are not there, unless it reports them', async () => {
  const [one, two] = await startNodes(['one', 'two']);
  if (!one || !two) throw new Error('there are two nodes');
  one.engine.nodes?.onMessage('two', { type: 'homes', homes: [[CLIENT.id, Date.now(), true, false]] });
  expect(one.engine.nodes?.nodeOf(CLIENT.id)).toBe('two');
  one.engine.nodes?.onNode({ name: 'two', version: '0.0.1', host: '127.0.0.1', port: two.bridge.tls.port, bridgePort: two.bridge.port });
  one.engine.nodes?.onMessage('two', { type: 'allHomes' });
  expect(one.engine.nodes?.nodeOf(CLIENT.id)).toBeUndefined();
});

test('an agent is found at a server whose clock was set back by two minutes while it was restarted', async () => {
  const [one, before] = [await startNode('one'), await startNode('two', { now: () => Date.now() + 120_000, clock: Date.now })];
  meet([one, before]);
  const homes = () => one.engine.nodes?.nodeOf(CLIENT.id);
  const agent = await RawPeer.connect(before);
  await eventually(homes, (home) => home === 'two');
  await before.engine.close();
  await agent.gone;
  await eventually(homes, (home) => home === undefined);
  const after = await startNode('two', { clock: Date.now });
  meet([one, after]);
  await eventually(() => [reached(one), reached(after)], (all) => all.every((names) => names.length === 1));
  await RawPeer.connect(after);
  expect(await eventually(homes, (home) => home !== undefined)).toBe('two');
});

test('a node that others may have lost sight of is not sure to be seen', () => {
  let now = 0;
  const members = new Members(() => now);
  const at = (time: number, reportedAt?: number) => {
    now = time;
    if (reportedAt !== undefined) members.read(reportedAt);
    return members.seen;
  };
  expect(at(100)).toBe(false);
  // Others may have read before it came, and trust in that for 10 s.
  expect(at(1000, 900)).toBe(false);
  expect(at(8000, 7000)).toBe(false);
  expect(at(10_999)).toBe(false);
  expect(at(11_000)).toBe(true);
  expect(at(16_999)).toBe(true);
  // The report is 10 s old: others may regard it as dead.
  expect(at(17_000)).toBe(false);
  // One that took long may have come too late for those who looked before.
  expect(at(17_001, 16_000)).toBe(false);
  expect(at(25_000, 24_999)).toBe(false);
  expect(at(27_001)).toBe(true);
});

test('connections wait for an agent that was lost, with its node or alone, and go on where it comes to; not for one that ends', async () => {
  const nodes = await startNodes(['one', 'two', 'three']);
  const [one, two, three] = nodes;
  if (!one || !two || !three) throw new Error('there are three nodes');
  const echo = await startEcho();
  const [, atTwo, atThree] = await openEverywhere(nodes, { targets: [echo.address] });
  if (!atTwo || !atThree) throw new Error('there are three listeners');
  // It does not know of the others.
  const first = await RawPeer.connect(one);
  const homes = () => [two, three].map(({ engine }) => engine.nodes?.linkTo(CLIENT.id)?.peer.name);
  await eventually(homes, (names) => names.every((name) => name === 'one'));
  first.socket.destroy(true);
  await eventually(homes, (names) => names.every((name) => name === undefined));
  const waiting = [await visit(atTwo.port), await visit(atThree.port)];
  const answers = waiting.map((socket) => roundTrip(socket, 'hello'));
  const { agent } = await startAgent(two);
  expect(await Promise.all(answers)).toEqual(['hello', 'hello']);
  await two.log.line(/connections that waited for the home of their client go on/);
  expect(two.engine.clientState(CLIENT.id)).toMatchObject({ connections: 2, inletBytes: 10, exportBytes: 10 });
  for (const socket of waiting) socket.destroy();
  await agent.stop();
  await eventually(homes, (names) => names.every((name) => name === undefined));
  await visitUntilClosed(atThree.port);
  expect(three.engine.tunnelState(atThree.id)?.refusals).toEqual({ offline: 1 });
});

test('an agent leaves a home that sends nothing any more, as if it were frozen; connections wait for that, and the former home learns of it', async () => {
  const [one, two] = [await startNode('one'), await startNode('two')];
  const toOne = await Relay.start(one.bridge.tls.port);
  two.engine.nodes?.use([{ name: 'one', ...toOne.address, bridgePort: one.bridge.port }], performance.now());
  await eventually(() => reached(two), (names) => names.length === 1);
  one.engine.nodes?.use([{ name: 'two', host: '127.0.0.1', port: two.bridge.tls.port, bridgePort: two.bridge.port }], performance.now());
  await eventually(() => reached(one), (names) => names.length === 1);
  const ofAgent = await Relay.start(one.bridge.port);
  const { log } = await startAgent({ bridge: ofAgent.address }, { random: () => 0 });
  const [, atTwo] = await openEverywhere([one, two], { targets: [(await startEcho()).address] });
  if (!atTwo) throw new Error('there are two listeners');
  await eventually(() => two.engine.counts.standbys, (count) => count === 1);
  await roundTrip(await visit(atTwo.port), 'before');
  toOne.freeze();
  ofAgent.freeze();
  await two.log.line(/^another node does not answer/);
  expect(await roundTrip(await visit(atTwo.port), 'after')).toBe('after');
  await log.line(/lost: it did not answer within 500 ms/);
  expect(two.engine.clientState(CLIENT.id)).toMatchObject({ connected: true, connections: 1 });
  // It was not frozen at all, and learns of the new home as soon as the nodes can reach each other again.
  await eventually(() => one.engine.clientState(CLIENT.id), (state) => state?.connected === false && state.connections === 0);
  expect([one, two].map(({ engine }) => engine.nodes?.isHome(CLIENT.id))).toEqual([false, true]);
});

test('an agent that is cut off from its home leaves it, as soon as a visitor comes', async () => {
  const nodes = await startNodes(['one', 'two']);
  const [one, two] = nodes;
  if (!one || !two) throw new Error('there are two nodes');
  const ofAgent = await Relay.start(one.bridge.port);
  const { log } = await startAgent({ bridge: ofAgent.address }, { random: () => 0 });
  const [atOne, atTwo] = await openEverywhere(nodes, { targets: [(await startEcho()).address] });
  if (!atOne || !atTwo) throw new Error('there are two listeners');
  await eventually(() => two.engine.counts.standbys, (count) => count === 1);
  ofAgent.freeze();
  // Its connection was on its way to the agent.
  await visitUntilClosed(atOne.port);
  await log.line(/lost: it did not answer within 500 ms/);
  await eventually(() => [one, two].map(({ engine }) => engine.nodes?.isHome(CLIENT.id)), ([first, second]) => first === false && second === true);
  for (const { port } of [atOne, atTwo]) expect(await roundTrip(await visit(port), 'hello')).toBe('hello');
  expect(one.engine.clientState(CLIENT.id)).toMatchObject({ connected: false, connections: 0 });
});

test.each([[0, false], [Number.POSITIVE_INFINITY, true]])(
  'an agent that was silent for %p ms since a stream was opened is asked, and in doubt: %s',
  async (silence, doubted) => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    const done: string[] = [];
    const watch = new AnswerWatch({ silence, sendControl: ({ type }: { readonly type?: string }) => void done.push(type ?? '') }, () => done.push('doubt'));
    const pass = async (ms: number) => {
      jest.advanceTimersByTime(ms);
      await new Promise(setImmediate);
      return done.splice(0);
    };
    const [ping, doubt] = doubted ? [['ping'], ['doubt']] : [[], []];
    for (let streams = 0; streams < 3; streams++) watch.asked();
    expect([await pass(499), await pass(1), await pass(499), await pass(1)]).toEqual([[], ping, [], doubt]);
    // Not again for a while.
    watch.asked();
    expect([await pass(4999), await pass(1)]).toEqual([[], []]);
    watch.asked();
    expect(await pass(500)).toEqual(ping);
    watch.stop();
    expect(await pass(500)).toEqual([]);
  },
);

test('a connection that waited in vain for five seconds is refused', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  const refused: unknown[] = [];
  const awaited = new AwaitedHomes((clientId) => {
    refused.push(clientId);
    return undefined;
  }, new LogRecorder().logger);
  const idle = new AwaitedHomes(() => undefined, new LogRecorder().logger);
  idle.lost(1);
  expect(awaited.opener(1)).toBeUndefined();
  awaited.lost(1);
  const opener = awaited.opener(1);
  const streams = Array.from({ length: 1000 }, () => opener?.open(Buffer.alloc(0)));
  // No more than a thousand wait for one client; those of other clients have places of their own.
  expect(opener?.open(Buffer.alloc(0))).toBeUndefined();
  awaited.lost(2);
  expect(awaited.opener(2)?.open(Buffer.alloc(0))).toBeDefined();
  streams[0]?.reset();
  expect(opener?.open(Buffer.alloc(0))).toBeDefined();
  jest.advanceTimersByTime(4999);
  expect([awaited.opener(1), idle.opener(1)]).toEqual([expect.anything(), expect.anything()]);
  jest.advanceTimersByTime(1);
  jest.useRealTimers();
  await eventually(() => refused.length, (count) => count === 1001);
  expect(awaited.opener(1)).toBeUndefined();
  expect(streams.every((stream) => stream?.over)).toBe(true);
  // The time is also over where nothing waited: the next connection is refused at once.
  expect(idle.opener(1)).toBeUndefined();
});

test('connections that wait when the server ends are reset, and those that come later do not wait', () => {
  const awaited = new AwaitedHomes(() => undefined, new LogRecorder().logger);
  awaited.lost(1);
  awaited.lost(2);
  const streams = [1, 2].flatMap((clientId) => [1, 2].map(() => awaited.opener(clientId)?.open(Buffer.alloc(0))));
  const sockets = [new EmptySocket(), new EmptySocket()];
  for (const [index, socket] of sockets.entries()) streams[index]?.join(socket);
  expect(streams.map((stream) => stream?.over)).toEqual([false, false, false, false]);
  awaited.close();
  expect(streams.map((stream) => stream?.over)).toEqual([true, true, true, true]);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  expect([Array.from(awaited.clients), awaited.opener(1)]).toEqual([[], undefined]);
});

test('connections that go on do so a few in each iteration of the event loop, clients in round-robin order, and none that was reset meanwhile', async () => {
  const opened: number[] = [];
  const awaited = new AwaitedHomes((clientId) => {
    opened.push(clientId);
    for (const until = performance.now() + 2; performance.now() < until;);
    return undefined;
  }, new LogRecorder().logger);
  const streams = [1, 2].map((clientId) => {
    awaited.lost(clientId);
    return Array.from({ length: 20 }, () => awaited.opener(clientId)?.open(Buffer.alloc(0)));
  });
  for (const clientId of [1, 2]) awaited.found(clientId);
  // As many as fit 4 ms.
  expect(opened.length).toBeLessThanOrEqual(3);
  streams[0]?.at(-1)?.reset();
  await eventually(() => streams.flat().every((stream) => stream?.over), (over) => over);
  expect(opened).toHaveLength(39);
  expect(opened.indexOf(2)).toBeLessThanOrEqual(3);
});

test('a connection that has waited is opened as it was to be, and joined with its visitor, whenever that is known; what ends meanwhile is reset', async () => {
  const opened: unknown[] = [];
  const joined: Array<readonly [ByteSocket, StreamHooks | undefined]> = [];
  let resets = 0;
  const stream: Joinable = { over: false, join: (socket, of) => void joined.push([socket, of]), reset: () => resets++ };
  const awaited = new AwaitedHomes((...given) => {
    opened.push(given);
    return given[0] === 1 ? stream : undefined;
  }, new LogRecorder().logger);
  for (const id of [1, 2]) awaited.lost(id);
  const visitor = { of: 'host', id: 5, socket: { remoteAddress: '192.0.2.1', remotePort: 6 } } as const;
  const open = (clientId: number, payload: string) => {
    const waiting = awaited.opener(clientId)?.open(Buffer.from(payload), payload === 'early', payload.length, visitor);
    if (!waiting) throw new Error('it waits');
    return waiting;
  };
  const ends: unknown[] = [];
  const hooks = ['early', 'late', 'refused', 'reset', 'twice'].map((name): StreamHooks => ({
    onClose: (error) => ends.push([name, error instanceof StreamResetError]),
  }));
  const sockets = hooks.map(() => new EmptySocket());
  const joinWith = (waiting: Joinable, index: number) => waiting.join(sockets[index] ?? new EmptySocket(), hooks[index]);
  const [early, late, refused, reset] = [open(1, 'early'), open(1, 'late'), open(2, 'refused'), open(1, 'reset')];
  joinWith(early, 0);
  joinWith(refused, 2);
  reset.reset();
  reset.reset();
  joinWith(reset, 3);
  const twice = open(1, 'twice');
  joinWith(twice, 4);
  for (let times = 0; times < 2; times++) twice.reset();
  expect([ends, sockets.map(({ destroyed }) => destroyed)]).toEqual([[['reset', true], ['twice', true]], [false, false, false, true, true]]);
  expect(awaited.opener(1)?.elsewhere).toBe(true);
  for (const id of [1, 2]) awaited.found(id);
  await eventually(() => opened.length, (count) => count === 3);
  joinWith(late, 1);
  const given = (clientId: number, payload: string) => [clientId, Buffer.from(payload), payload === 'early', payload.length, visitor];
  expect(opened).toEqual(expect.arrayContaining([given(1, 'early'), given(1, 'late'), given(2, 'refused')]));
  expect(joined.map(([socket, of]) => [sockets.findIndex((one) => one === socket), hooks.findIndex((one) => one === of)])).toEqual([[0, 0], [1, 1]]);
  expect([ends.at(-1), sockets.map(({ destroyed }) => destroyed)]).toEqual([['refused', true], [false, false, true, true, true]]);
  expect([early.over, refused.over, resets]).toEqual([false, true, 0]);
  early.reset();
  expect(resets).toBe(1);
});

test('a node knows where agents are when all others can be reached and have reported all, or are late', async () => {
  jest.useFakeTimers();
  try {
    const others = new Acquaintance();
    const known = (...nodes: string[]) => {
      const answers: Array<readonly string[]> = [];
      void others.with(nodes, 1000).then((missing) => answers.push(missing));
      return answers;
    };
    const [nobody, both] = [known(), known('a', 'b')];
    others.reported('a', true);
    others.reported('b', true);
    others.reached('a', true);
    await jest.advanceTimersByTimeAsync(999);
    expect([nobody, both]).toEqual([[[]], []]);
    others.reached('b', true);
    await jest.advanceTimersByTimeAsync(0);
    expect(both).toEqual([[]]);
    // One is started again, the other one is lost.
    others.reported('b', false);
    others.reached('a', false);
    const late = known('b', 'c', 'a');
    await jest.advanceTimersByTimeAsync(1000);
    expect(late).toEqual([['b', 'c', 'a']]);
  } finally {
    jest.useRealTimers();
  }
});
