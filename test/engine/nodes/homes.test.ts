import { expect, test } from '@jest/globals';
import { AwaitedHomes } from '../../../src/engine/nodes/awaited-homes.ts';
import { Homes } from '../../../src/engine/nodes/homes.ts';
import { eventually } from '../../support/eventually.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { openEverywhere, startNodes } from '../../support/nodes.ts';
import { RawPeer } from '../../support/raw-peer.ts';
import { roundTrip, startEcho, visit, visitUntilClosed } from '../../support/target.ts';
import { CLIENT, fresh, startAgent } from '../../support/tunnel.ts';

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
  await nodes.pop()?.engine.close();
  await eventually(homesOf, (homes) => homes.every((one) => one.length === 1));
  expect(new Set(homesOf().flat()).size).toBe(2);
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
  await two.log.line(/connections that waited for an agent go on/);
  expect(two.engine.clientState(CLIENT.id)).toMatchObject({ connections: 2, inletBytes: 10, exportBytes: 10 });
  for (const socket of waiting) socket.destroy();
  await agent.stop();
  await eventually(homes, (names) => names.every((name) => name === undefined));
  await visitUntilClosed(atThree.port);
  expect(three.engine.tunnelState(atThree.id)?.refusals).toEqual({ offline: 1 });
});

test('a connection that waited in vain is refused', async () => {
  const refused: unknown[] = [];
  const awaited = new AwaitedHomes((clientId) => {
    refused.push(clientId);
    return undefined;
  }, new LogRecorder().logger);
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
  await eventually(() => refused.length, (count) => count === 1001);
  expect(awaited.opener(1)).toBeUndefined();
  expect(streams.every((stream) => stream?.over)).toBe(true);
}, 20_000);
