import { expect, test } from '@jest/globals';
import { Homes } from '../../../src/engine/nodes/homes.ts';
import { eventually } from '../../support/eventually.ts';
import { startNodes } from '../../support/nodes.ts';
import { CLIENT, fresh, startAgent } from '../../support/tunnel.ts';

test('the home with the highest epoch counts, in whatever order nodes receive them', () => {
  const news = [
    { node: 'a', epoch: 5, connected: true },
    { node: 'a', epoch: 5, connected: false },
    { node: 'b', epoch: 7, connected: true },
    { node: 'c', epoch: 7, connected: true },
  ];
  for (const order of [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]]) {
    const homes = new Homes();
    for (const index of order) homes.learn(1, news[index] ?? { node: '', epoch: 0, connected: false });
    expect(homes.get(1)).toEqual({ node: 'c', epoch: 7, connected: true });
  }
});

test('an epoch is higher than all that the node knows, and not behind those that it has not heard of', () => {
  const homes = new Homes();
  expect(homes.nextEpoch(1, 1000.5)).toBe(1000);
  homes.learn(1, { node: 'a', epoch: 5000, connected: true });
  expect(homes.nextEpoch(1, 1000)).toBe(5001);
  expect(homes.learn(1, { node: 'a', epoch: 5000, connected: true })).toBe(false);
  expect(homes.learn(1, { node: 'a', epoch: 5000, connected: false })).toBe(true);
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
