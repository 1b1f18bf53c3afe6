import { once } from 'node:events';
import net from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { meet, reached, startNode, type TestNode } from '../support/nodes.ts';
import { startAgent } from '../support/tunnel.ts';

/** For an agent that does not wait at random before it moves, as one of many does. */
const unspread = { random: () => 0 };

const closers: Array<() => void> = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Two nodes at one address, which gives each connection to the next of them, as the kernel does for processes on one port. A node that is gone gets none. */
async function twoAtOneAddress() {
  const nodes = [await startNode('one', { siblings: new Set(['two']) }), await startNode('two', { siblings: new Set(['one']) })];
  meet(nodes);
  for (const node of nodes) await eventually(() => reached(node), (others) => others.length === 1);
  const living = new Set(nodes);
  let next = 0;
  const relay = net.createServer((socket) => {
    const chosen = [...living][next++ % living.size];
    const onward = net.connect(chosen?.bridge.port ?? 0, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const [end, other] of [[socket, onward], [onward, socket]] as const) end.on('error', () => other.destroy()).on('close', () => other.destroy());
    closers.push(() => socket.destroy());
  }).listen(0, '127.0.0.1');
  closers.push(() => relay.close());
  await once(relay, 'listening');
  const address = relay.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return { nodes, living, bridge: { host: '127.0.0.1', port: address.port } };
}

const countsOf = ({ engine }: TestNode) => engine.counts;

test('an agent of several processes at one address has all data connections with its own, a session in reserve with another, and goes there when its own dies', async () => {
  const { nodes, living, bridge } = await twoAtOneAddress();
  await startAgent({ bridge }, unspread);
  const home = nodes.find((node) => countsOf(node).sessions === 1);
  const other = nodes.find((node) => node !== home);
  if (!home || !other) throw new Error('the agent is connected to one of them');
  await eventually(() => countsOf(home).dataConnections, (count) => count >= 8);
  await eventually(() => countsOf(other).standbys, (count) => count === 1);
  expect(countsOf(home).standbys).toBe(0);
  expect(countsOf(other).dataConnections).toBe(0);
  living.delete(home);
  await home.engine.close();
  await eventually(() => countsOf(other), ({ sessions, standbys }) => sessions === 1 && standbys === 0);
});

test('an agent leaves a process that drains, although the address may lead there again', async () => {
  const { nodes, bridge } = await twoAtOneAddress();
  await startAgent({ bridge }, unspread);
  for (let times = 0; times < 3; times++) {
    const home = nodes.find((node) => countsOf(node).sessions === 1);
    const other = nodes.find((node) => node !== home);
    if (!home || !other) throw new Error('the agent is connected to one of them');
    home.engine.nodes?.leave(true);
    await eventually(() => countsOf(other).sessions, (count) => count === 1);
    await eventually(() => countsOf(home).sessions, (count) => count === 0);
    home.engine.nodes?.leave(false);
    await eventually(() => countsOf(home).standbys, (count) => count === 1);
    expect(countsOf(other).standbys).toBe(0);
  }
});
