import { expect, jest, test } from '@jest/globals';
import { ClientChanges } from '../../../src/engine/client-changes.ts';
import { Absence } from '../../../src/engine/nodes/absence.ts';
import { KnownCounters, totalsOf } from '../../../src/engine/nodes/known-counters.ts';
import { Members } from '../../../src/engine/nodes/members.ts';
import type { ClientTotals } from '../../../src/engine/other-nodes.ts';
import { Tunnels } from '../../../src/engine/tunnels/tunnels.ts';
import { awakeNow } from '../../../src/rules/awake-clock.ts';
import { sessionOf } from '../../support/agent-session.ts';
import { environmentOf } from '../../support/environment.ts';
import { eventually } from '../../support/eventually.ts';
import { meet, NODE_KEY, openEverywhere, reached, startNode, startNodes } from '../../support/nodes.ts';
import { RawPeer } from '../../support/raw-peer.ts';
import { roundTrip, startEcho, visit } from '../../support/target.ts';
import { CLIENT, fresh, startAgent, tunnelOf } from '../../support/tunnel.ts';
import { hostOf } from '../../support/vhost.ts';

test.each([[[]], [['one', 'two']]])('a client takes its counters along from home to home, if others (%p) have looked at it in between', async (looking) => {
  const nodes = await startNodes(['one', 'two']);
  const [one, two] = nodes;
  if (!one || !two) throw new Error('there are two nodes');
  const [, tunnel] = await openEverywhere(nodes, { targets: [(await startEcho()).address] });
  if (!tunnel) throw new Error('there are two listeners');
  const look = async () => {
    for (const node of nodes) if (looking.some((name) => name === node.name)) await node.engine.takeDirty();
  };
  let sum = 0;
  for (const home of [one, two, one]) {
    const { agent } = await startAgent(home);
    await eventually(
      () => nodes.map(({ engine }) => engine.nodes?.isHome(CLIENT.id)),
      ([first, second]) => first === (home === one) && second === (home === two),
    );
    await look();
    const visitor = await visit(tunnel.port);
    await roundTrip(visitor, 'x'.repeat(100));
    visitor.destroy(); // an agent that stops gives open connections five seconds to end
    sum += 100;
    await eventually(() => home.engine.clientState(CLIENT.id)?.exportBytes, (bytes) => bytes === sum);
    await eventually(() => home.engine.tunnelState(tunnel.id)?.exportBytes, (bytes) => bytes === sum);
    await agent.stop();
    await eventually(() => nodes.map(({ engine }) => engine.nodes?.linkTo(CLIENT.id)), ([first, second]) => first === undefined && second === undefined);
    await look();
  }
  expect(sum).toBe(300);
});

test('a node that was frozen stores nothing until it receives something from the others, behind what they took over; what it knows when it ends is stored', async () => {
  const [one] = await startNodes(['one', 'two']);
  if (!one) throw new Error('there are two nodes');
  await startAgent(one);
  const [tunnel] = await openEverywhere([one], { targets: [(await startEcho()).address] });
  const visitor = await visit(tunnel?.port ?? 0);
  const batch = (exportBytes: number) => ({ clients: [{ id: CLIENT.id, exportBytes }], tunnels: [{ exportBytes }] });
  // As if the process were stopped: nothing of it runs.
  const freeze = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1300);
  await one.engine.nodes?.acquainted(5000);
  await one.engine.takeDirty();
  await roundTrip(visitor, 'hello');
  freeze();
  const runs = performance.now();
  expect(await one.engine.takeDirty()).toMatchObject(batch(5));
  expect(performance.now() - runs).toBeGreaterThan(200);
  await roundTrip(visitor, 'hello');
  freeze();
  const taken = one.engine.takeDirty();
  await one.engine.close();
  expect(await one.engine.takeDirty()).toMatchObject(batch(10));
  await taken;
});

test('what is counted while a new home learns what was counted before is stored afterwards, also of a tunnel that is newer than that', async () => {
  let learned: (totals: ClientTotals) => void = () => undefined;
  const storedTotals = () =>
    new Promise<ClientTotals>((resolve) => {
      learned = resolve;
    });
  const node = await startNode('one', { node: { name: 'one', version: '0.0.1', key: NODE_KEY, amongOthers: true, storedTotals } });
  const [older] = await openEverywhere([node], {});
  const host = hostOf({});
  await node.engine.apply({ kind: 'host', host });
  await startAgent(node);
  const [tunnel] = await openEverywhere([node], { targets: [(await startEcho()).address] });
  const visitor = await visit(tunnel?.port ?? 0);
  await roundTrip(visitor, 'hello');
  visitor.destroy();
  await eventually(() => node.engine.tunnelState(tunnel?.id ?? 0)?.connections, (connections) => connections === 0);
  // No bytes move any more, when the second ends in which the last ones did.
  await eventually(() => node.engine.tunnelState(tunnel?.id ?? 0)?.rate, (rate) => rate !== 0);
  await eventually(() => node.engine.tunnelState(tunnel?.id ?? 0)?.rate, (rate) => rate === 0);
  for (let batch = 0; batch < 2; batch++) expect(await node.engine.takeDirty()).toEqual({ clients: [], tunnels: [], hosts: [] });
  const olderBytes = { id: older?.id ?? 0, inletBytes: 10, exportBytes: 20 };
  const hostBytes = { id: host.id, inletBytes: 30, exportBytes: 40 };
  learned({ client: { inletBytes: 200, exportBytes: 100 }, tunnels: [olderBytes], hosts: [hostBytes] });
  await eventually(() => node.engine.clientState(CLIENT.id)?.exportBytes, (bytes) => bytes === 105);
  const { clients, tunnels, hosts } = await node.engine.takeDirty();
  expect(clients).toMatchObject([{ inletBytes: 205, exportBytes: 105 }]);
  expect(tunnels.toSorted((a, b) => a.id - b.id)).toMatchObject([olderBytes, { id: tunnel?.id, inletBytes: 5, exportBytes: 5 }]);
  expect(hosts).toMatchObject([hostBytes]);
});

test('a client that goes to another node and comes back, while this one learns its counters: what the other one has counted is learned, too', async () => {
  const answers: Array<(totals: ClientTotals) => void> = [];
  const storedTotals = () => new Promise<ClientTotals>((resolve) => answers.push(resolve));
  const node = await startNode('one', { node: { name: 'one', version: '0.0.1', key: NODE_KEY, amongOthers: true, storedTotals } });
  const { nodes } = node.engine;
  if (!nodes) throw new Error('there is a node');
  const first = await RawPeer.connect(node);
  await eventually(() => answers.length, (asked) => asked === 1);
  nodes.onMessage('two', { type: 'homes', homes: [[CLIENT.id, Date.now() + 60_000, true, false]] });
  await first.gone;
  await RawPeer.connect(node);
  await eventually(() => nodes.isHome(CLIENT.id), Boolean);
  const totals = (bytes: number): ClientTotals => ({ client: { inletBytes: bytes, exportBytes: 0 }, tunnels: [], hosts: [] });
  answers[0]?.(totals(100));
  // As each save does.
  await eventually(() => nodes.counts(CLIENT.id) || answers.length === 2, Boolean);
  expect(nodes.counts(CLIENT.id)).toBe(false);
  answers[1]?.(totals(200));
  await eventually(() => nodes.counts(CLIENT.id), Boolean);
  expect(node.engine.clientState(CLIENT.id)?.inletBytes).toBe(200);
});

test('the log says once that counters cannot be read, however many clients come, and once that they can be again', async () => {
  let away = true;
  let asked = 0;
  const storedTotals = async () => {
    asked++;
    if (away) throw new Error('the database is away');
    return undefined;
  };
  const node = await startNode('one', { node: { name: 'one', version: '0.0.1', key: NODE_KEY, amongOthers: true, storedTotals } });
  const { engine, log } = node;
  for (const id of [2, 3]) await engine.apply({ kind: 'client', client: { ...CLIENT, id, vkey: `vkey ${id}` } });
  for (const key of [CLIENT.vkey, 'vkey 2', 'vkey 3']) await RawPeer.connect(node, { key });
  await eventually(() => asked, (count) => count === 3);
  const counted = () => [1, 2, 3].map((id) => engine.nodes?.counts(id));
  await eventually(() => counted().length > 0 && asked, (count) => count === 6);
  away = false;
  await eventually(counted, (all) => all.every(Boolean));
  const lines = log.entries.filter(({ level, msg }) => level >= 30 && msg.startsWith('the counters')).map(({ level }) => level);
  expect(lines).toEqual([40, 30]);
});

/** A process with this clock, which was never away, and receives something from nodes when the test says. */
function absenceAt(start: number) {
  let now = start;
  /** When each connected node was heard. */
  const heard = new Map([['two', start], ['three', start]]);
  const absence = new Absence(() => new Map(Array.from(heard, ([node, at]) => [node, now - at])), () => now);
  return {
    absence,
    heard,
    outdatedAt: (at: number) => {
      now = at;
      return absence.outdated;
    },
  };
}

test('a process was frozen if it did not run for 1.2 s, until it has heard of all nodes that were connected, or 3 s later', () => {
  const { absence, heard, outdatedAt } = absenceAt(1000);
  expect([2200, 3400, 4601].map(outdatedAt)).toEqual([false, false, true]);
  // What has just arrived may be from before it was frozen, or while it was.
  heard.set('two', 4700).set('three', 4802);
  expect(outdatedAt(4900)).toBe(true);
  heard.set('two', 4901);
  expect(outdatedAt(5000)).toBe(false);
  // A session that has ended meanwhile, and does not come back.
  expect(outdatedAt(6300)).toBe(true);
  heard.delete('two');
  heard.set('three', 7000);
  expect([7400, 8500, 9300, 9301].map(outdatedAt)).toEqual([true, true, true, false]);
  // It is not waited for again.
  expect(outdatedAt(10_600)).toBe(true);
  heard.set('three', 10_801);
  expect(outdatedAt(10_900)).toBe(false);
  absence.stop();
});

test('a machine that has slept was away, although the clock of its processes stood still', () => {
  const timeOfDay = Date.now.bind(Date);
  const absence = new Absence(() => new Map([['two', 100]]));
  const members = new Members();
  members.read(awakeNow());
  expect(absence.outdated).toBe(false);
  // The process's clock may already be ahead, by the same test.
  const ahead = awakeNow() - performance.now() + 3_600_000;
  const slept = jest.spyOn(Date, 'now').mockImplementation(() => timeOfDay() + ahead);
  try {
    expect(absence.outdated).toBe(true);
    // The last report was an hour ago.
    expect(members.read(awakeNow())).toBe(true);
  } finally {
    slept.mockRestore();
    absence.stop();
  }
});

test('a process that is frozen again and again knows in between what has happened', () => {
  const { absence, heard, outdatedAt } = absenceAt(0);
  heard.delete('three');
  outdatedAt(0);
  // Frozen for 1.3 s, and then running for 1.2 s.
  for (let runs = 1300; runs < 30_000; runs += 2500) {
    const outdated = [0, 200, 400, 600, 800, 1000, 1200].map((ms) => {
      if (ms % 400 === 0 && ms > 0) heard.set('two', runs + ms);
      return outdatedAt(runs + ms);
    });
    expect(outdated).toEqual([true, true, false, false, false, false, false]);
  }
  absence.stop();
});

test('what is awaited of a node whose session has ended is awaited for 3 s in which the process runs', () => {
  const { absence, heard, outdatedAt } = absenceAt(0);
  expect(outdatedAt(1300)).toBe(true);
  heard.clear();
  expect([2300, 3600, 4600, 5599, 5600, 5601].map(outdatedAt)).toEqual([true, true, true, true, true, false]);
  absence.stop();
});

test('a process that runs looks at the clock by itself, and does not wait longer than it should for what it missed', async () => {
  const { absence, heard, outdatedAt } = absenceAt(0);
  expect(outdatedAt(1300)).toBe(true);
  expect(await absence.over(-1)).toBe(false);
  for (const node of heard.keys()) heard.set(node, 1501);
  expect(await absence.over(-1)).toBe(true);
  absence.stop();
  jest.useFakeTimers();
  try {
    let now = 0;
    const looking = new Absence(() => new Map([['two', now]]), () => now);
    for (; now < 5000; now += 200) jest.advanceTimersByTime(200);
    expect(looking.outdated).toBe(false);
    looking.stop();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

const bytes = (inletBytes: number, exportBytes: number) => ({ inletBytes, exportBytes });

test('of what the store, other nodes and this one have counted, the most counts, in each direction; what is counted meanwhile is added', async () => {
  const environment = environmentOf();
  const tunnels = new Tunnels(environment);
  await new ClientChanges(environment, tunnels).addAll([{ wanted: { ...CLIENT, id: 7 }, stored: bytes(10, 20) }]);
  const tunnel = tunnels.add(tunnelOf({ id: 3, clientId: 7 }), bytes(2, 3));
  environment.hosts.set(hostOf({ id: 3, clientId: 7 }), bytes(500, 1));
  const [entry, host] = [environment.clients.get(7), environment.hosts.get(3)];
  if (!entry || !host) throw new Error('there are both');
  const totals: Readonly<Record<string, ClientTotals>> = {
    stored: { client: bytes(100, 5), tunnels: [{ id: 3, ...bytes(1, 200) }, { id: 4, ...bytes(9, 9) }], hosts: [{ id: 3, ...bytes(30, 30) }] },
    a: { client: bytes(50, 60), tunnels: [{ id: 3, ...bytes(300, 1) }], hosts: [] },
  };
  const asked: string[] = [];
  const answer = async (clientId: number, from: string) => {
    asked.push(`${from} ${clientId}`);
    return totals[from];
  };
  const counters = new KnownCounters({ environment, amongOthers: true, stored: (id) => answer(id, 'stored'), counted: answer });
  for (const id of [9, 7, 7]) counters.learn(id, ['a', 'b']);
  entry.meter.countInlet(1000);
  tunnel.meter.countExport(2000);
  host.meter.countInlet(4000);
  expect(counters.has(7)).toBe(false);
  await eventually(() => counters.has(7), Boolean);
  counters.learn(7, ['a']);
  expect(asked).toEqual(['stored 7', 'a 7', 'b 7']);
  expect(totalsOf(environment, entry)).toEqual({
    client: { id: 7, ...bytes(1100, 60) },
    tunnels: [{ id: 3, ...bytes(300, 2200) }],
    hosts: [{ id: 3, ...bytes(4500, 30) }],
  });
  environment.ticker.stop();
});

test('the only node knows what all clients have counted, until it sees another one: from then on what those have whose agents are here', async () => {
  const environment = environmentOf();
  const ids = [1, 2, 3];
  await new ClientChanges(environment, new Tunnels(environment)).addAll(ids.map((id) => ({ wanted: { ...CLIENT, id, vkey: `key ${id}` }, stored: fresh })));
  const second = environment.clients.get(2);
  if (second) second.session = sessionOf('192.0.2.1', '1', false);
  const countersOf = (amongOthers: boolean) => new KnownCounters({ environment, amongOthers, stored: async () => undefined, counted: async () => undefined });
  const known = (counters: KnownCounters) => ids.map((id) => counters.has(id));
  expect(known(countersOf(true))).toEqual([false, false, false]);
  const counters = countersOf(false);
  expect(known(counters)).toEqual([true, true, true]);
  counters.loseOthers();
  expect(known(counters)).toEqual([false, true, false]);
  counters.learn(1, []);
  await eventually(() => counters.has(1), Boolean);
  counters.loseOthers();
  expect(known(counters)).toEqual([false, true, false]);
  counters.lose(2);
  expect(known(counters)).toEqual([false, false, false]);
  const other = countersOf(false);
  other.lose(1);
  expect(known(other)).toEqual([false, true, false]);
});

test('what a client has counted is learned again whenever another node may have been its home meanwhile', async () => {
  const asked: number[] = [];
  const storedTotals = async (id: number) => {
    asked.push(id);
    return undefined;
  };
  const one = await startNode('one', { node: { name: 'one', version: '0.0.1', key: NODE_KEY, storedTotals } });
  const two = await startNode('two');
  const { nodes } = one.engine;
  if (!nodes) throw new Error('it is a node');
  const clientId = CLIENT.id;
  const learned = (before: number) => eventually(() => nodes.counts(clientId) && asked.length > before, Boolean);
  expect([nodes.isHome(clientId), nodes.counts(clientId), asked]).toEqual([true, true, []]);
  meet([one, two]);
  await eventually(() => [reached(one), reached(two)], (all) => all.every((names) => names.length === 1));
  // A home that all choose, whether the other one takes agents or not.
  two.engine.nodes?.leave(true);
  await learned(0);
  for (const on of [false, true]) {
    const before = asked.length;
    two.engine.nodes?.leave(on);
    if (on) await learned(before);
    else await eventually(() => nodes.others.servers.length, (count) => count === 1);
  }
  // The database was away for so long that others may have lost sight of this one.
  const peers = [one, two].map(({ name, bridge }) => ({ name, host: '127.0.0.1', port: bridge.tls.port, bridgePort: bridge.port }));
  nodes.use(peers, awakeNow());
  await eventually(() => nodes.counts(clientId), Boolean);
  for (const [ago, isLearned] of [[0, false], [11_000, false], [0, true]] as const) {
    const before = asked.length;
    nodes.use(peers, awakeNow() - ago);
    if (isLearned) await learned(before);
    else expect([nodes.counts(clientId), asked.length]).toEqual([true, before]);
  }
  // A third one was there for a moment, and was not reached.
  const reachable = asked.length;
  nodes.use([...peers, { name: 'three', host: '127.0.0.1', port: 1, bridgePort: 1 }], awakeNow());
  nodes.use(peers, awakeNow());
  await learned(reachable);
  // It can no longer be reached, and the database says that it has ended.
  const before = asked.length;
  await two.engine.close();
  await eventually(() => reached(one), (names) => names.length === 0);
  nodes.use(peers.slice(0, 1), awakeNow());
  await learned(before);
});
