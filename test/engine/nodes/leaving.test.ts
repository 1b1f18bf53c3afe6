import { expect, test } from '@jest/globals';
import type { HealthMessage } from '../../../src/wire/health.ts';
import { MessageSocket } from '../../../src/wire/message-socket.ts';
import { encodeNodeRequest } from '../../../src/wire/node-messages.ts';
import { encodeOpen } from '../../../src/wire/open.ts';
import { eventually } from '../../support/eventually.ts';
import { meet, NODE_KEY, openEverywhere, reached, startNode, startNodes, type TestNode } from '../../support/nodes.ts';
import { RawPeer } from '../../support/raw-peer.ts';
import { closed, roundTrip, startEcho, visit, visitUntilClosed } from '../../support/target.ts';
import { CLIENT, openTunnel, startAgent } from '../../support/tunnel.ts';
import { startVisitor } from '../../support/visitor.ts';

const connected = ({ engine }: TestNode): boolean => engine.clientState(CLIENT.id)?.connected === true;

async function serving() {
  const nodes = await startNodes(['one', 'two']);
  const [one, two] = nodes;
  if (!one || !two) throw new Error('there are two nodes');
  const { log } = await startAgent(one, { random: () => 0 });
  const [atOne, atTwo] = await openEverywhere(nodes, { targets: [(await startEcho()).address] });
  if (!atOne || !atTwo) throw new Error('there are two listeners');
  await eventually(() => two.engine.nodes?.linkTo(CLIENT.id), (link) => link !== undefined);
  return { nodes, one, two, log, atOne, atTwo };
}

test('an agent goes to another node when its own is leaving; open connections go on until they end, and new ones are served at every node', async () => {
  const { one, two, log, atOne, atTwo } = await serving();
  const before = [await visit(atOne.port), await visit(atTwo.port)];
  for (const socket of before) await roundTrip(socket, 'hello');
  const agents = () => [one, two].map(({ engine }) => engine.nodes?.hasAgents);
  expect(agents()).toEqual([true, false]);
  one.engine.nodes?.leave(true);
  await eventually(() => [connected(one), connected(two)], ([atFirst, atSecond]) => atFirst === false && atSecond === true);
  expect(agents()).toEqual([false, true]);
  // Nothing in between is lost, and the log of the agent shows no disconnection.
  expect(log.entries.filter(({ msg }) => /lost/.test(msg))).toEqual([]);
  for (const socket of before) expect(await roundTrip(socket, 'still here')).toBe('still here');
  for (const port of [atOne.port, atTwo.port]) expect(await roundTrip(await visit(port), 'new')).toBe('new');
  expect(one.engine.nodes?.linkTo(CLIENT.id)?.peer.name).toBe('two');
  const left = one.log.line(/agent disconnected/);
  for (const socket of before) socket.end();
  expect((await left)['reason']).toBe('the agent says: the agent has moved to another server');
});

test('the connections of a session that was left end when its client is disabled', async () => {
  const { one, two, atOne } = await serving();
  const socket = await visit(atOne.port);
  await roundTrip(socket, 'hello');
  one.engine.nodes?.leave(true);
  await eventually(() => connected(two), Boolean);
  const ended = closed(socket);
  await one.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await ended;
  expect(connected(one)).toBe(false);
});

test('an agent that does not know of others stays, and is served; new ones are refused until the node takes agents again', async () => {
  const { one, two, log } = await serving();
  await one.engine.apply({ kind: 'client', client: { ...CLIENT, id: 2, vkey: 'another' } });
  const standby = await RawPeer.connect(one, { role: 'standby', key: 'another' });
  await eventually(() => [connected(one), reached(one).length], ([here, links]) => here === true && links === 1);
  one.engine.nodes?.leave(true);
  // A session in reserve with it is of no use.
  await standby.gone;
  await log.line(/is being drained/);
  await eventually(() => connected(two), Boolean);
  await expect(RawPeer.connect(one)).rejects.toMatchObject({ refusal: { code: 'shutdown' } });
  one.engine.nodes?.leave(false);
  const old = await RawPeer.connect(one);
  await eventually(() => connected(one), Boolean);
  one.engine.nodes?.leave(true);
  expect(connected(one)).toBe(true);
  old.control({ type: 'drain' });
  await eventually(() => connected(one), (there) => !there);
});

test('a visitor program goes to another node as well, and its connections go on', async () => {
  const { nodes, one, two } = await serving();
  await openEverywhere(nodes, { mode: 'secret', password: 'secret word', targets: [(await startEcho()).address] });
  const visitor = await startVisitor(one, { password: 'secret word', random: () => 0 });
  const socket = await visit(visitor.port);
  await roundTrip(socket, 'hello');
  const moved = visitor.log.next(new RegExp(`connected to 127.0.0.1:${two.bridge.port} `));
  const visitors = () => [one, two].map(({ engine }) => engine.nodes?.hasVisitors);
  expect(visitors()).toEqual([true, false]);
  one.engine.nodes?.leave(true);
  await moved;
  // It has gone before its last connection at the other node has ended.
  await eventually(visitors, ([atFirst, atSecond]) => atFirst === false && atSecond === true);
  expect(await roundTrip(socket, 'still here')).toBe('still here');
  expect(await roundTrip(await visit(visitor.port), 'new')).toBe('new');
});

test('a client without an agent has its home at the nodes that stay', async () => {
  const { one, two } = await serving();
  const ids = Array.from({ length: 40 }, (_, n) => n + 2);
  expect(ids.some((id) => one.engine.nodes?.isHome(id))).toBe(true);
  one.engine.nodes?.leave(true);
  await eventually(
    () => ids.map((id) => [one, two].map(({ engine }) => engine.nodes?.isHome(id))),
    (homes) => homes.every(([a, b]) => a === false && b === true),
  );
  one.engine.nodes?.leave(false);
  await eventually(() => ids.filter((id) => one.engine.nodes?.isHome(id)).length, (count) => count > 0);
  // One that leaves, and then ends, need not be seen by the others.
  one.engine.nodes?.leave(true);
  await eventually(() => ids.every((id) => two.engine.nodes?.isHome(id)), Boolean);
  await one.engine.close();
  await eventually(() => reached(two).length, (count) => count === 0);
  expect(ids.every((id) => two.engine.nodes?.isHome(id))).toBe(true);
});

test('a connection that comes to a node whose agent has just gone is passed on, once', async () => {
  const { one, two, atOne } = await serving();
  one.engine.nodes?.leave(true);
  await eventually(() => [connected(one), connected(two)], ([atFirst, atSecond]) => atFirst === false && atSecond === true);
  const link = [...two.engine.nodes?.links() ?? []][0];
  const target = (await startEcho()).address;
  const answer = (passedOn: boolean) =>
    new Promise<string | undefined>((resolve) => {
      const visitor = { clientId: CLIENT.id, of: 'tunnel', id: atOne.id, address: '192.0.2.1', port: 1, dataFollows: false, passedOn } as const;
      const stream = link?.open(encodeNodeRequest({ kind: 'visitor', ...visitor }, encodeOpen({ kind: 'tcp', targets: [target] })));
      stream?.join(new MessageSocket('hello', (message) => resolve(message?.toString())));
    });
  expect(await answer(false)).toBe('hello');
  expect(await answer(true)).toBeUndefined();
});

test('a node that comes later learns which node is leaving, where agents are, what they have reported on targets, and from then on of commits', async () => {
  const one = await startNode('one');
  let commits = 0;
  const two = await startNode('two', { node: { name: 'two', version: '0.0.1', key: NODE_KEY, onCommitted: () => commits++ } });
  // It does not know of other nodes, so it stays.
  await RawPeer.connect(one);
  const tunnel = await openTunnel(one, { mode: 'secret', password: 'secret word', targets: ['127.0.0.1:1'] });
  await openTunnel(two, tunnel);
  const check = { type: 'tcp', intervalMs: 1000, timeoutMs: 1000, maxFailed: 1, path: '' } as const;
  const report = (healthy: boolean): HealthMessage => (
    { type: 'health', of: 'tunnel', id: tunnel.id, check, targets: [{ target: '127.0.0.1:1', healthy, failures: 1, ageMs: 0, error: 'refused' }] }
  );
  one.engine.records.tunnels.get(tunnel.id)?.onHealth(report(false), Date.now());
  one.engine.nodes?.leave(true);
  meet([one, two]);
  await eventually(() => two.engine.nodes?.nodeOf(CLIENT.id), (node) => node === 'one');
  expect(two.engine.nodes?.others).toEqual({ servers: [], here: false });
  const healthy = () => two.engine.tunnelState(tunnel.id)?.health?.targets[0]?.healthy;
  await eventually(healthy, (is) => is === false);
  // Only the home of a client knows what its agent says.
  two.engine.nodes?.onMessage('three', { type: 'health', clientId: CLIENT.id, report: report(true) });
  expect(healthy()).toBe(false);
  two.engine.nodes?.onMessage('one', { type: 'health', clientId: CLIENT.id, report: report(true) });
  expect(healthy()).toBe(true);
  one.engine.nodes?.committed();
  await eventually(() => commits, (count) => count === 1);
  // One that was started again takes agents.
  two.engine.nodes?.onNode({ name: 'one', version: '0.0.1', host: '127.0.0.1', port: one.bridge.tls.port, bridgePort: one.bridge.port });
  expect(two.engine.nodes?.others.servers).toHaveLength(1);
});

test('a process may refuse to serve while another one of the machine, which can be reached and is not leaving, does so', async () => {
  const [one, two] = await startNodes(['one', 'two'], { siblings: new Set(['one', 'two', 'three']) });
  const serves = () => one?.engine.nodes?.siblingServes;
  expect(serves()).toBe(true);
  for (const on of [true, false]) {
    two?.engine.nodes?.leave(on);
    await eventually(serves, (is) => is === !on);
  }
  // A third one is to serve, but cannot be reached.
  const peers = [['two', two?.bridge.tls.port ?? 0], ['three', 1]] as const;
  one?.engine.nodes?.use(peers.map(([name, port]) => ({ name, host: '127.0.0.1', port, bridgePort: 1 })), performance.now());
  expect(serves()).toBe(true);
  two?.engine.nodes?.leave(true);
  await eventually(serves, (is) => is === false);
  expect(one?.engine.nodes?.others.here).toBe(true);
  const [alone] = await startNodes(['alone', 'other']);
  expect(alone?.engine.nodes?.siblingServes).toBe(false);
});

test('without other nodes, the visitors of an agent that was lost are refused at once', async () => {
  const node = await startNode('alone');
  const agent = await RawPeer.connect(node);
  const { port, id } = await openTunnel(node, { targets: ['127.0.0.1:1'] });
  await eventually(() => connected(node), Boolean);
  expect(node.engine.nodes?.nodeOf(CLIENT.id)).toBeUndefined();
  agent.socket.destroy(true);
  await eventually(() => connected(node), (there) => !there);
  await visitUntilClosed(port);
  expect(node.engine.tunnelState(id)?.refusals).toEqual({ offline: 1 });
  expect(node.log.entries.filter(({ msg }) => msg.includes('waited'))).toEqual([]);
});
