import net from 'node:net';
import { expect, test } from '@jest/globals';
import { otherServersSchema } from '../../src/wire/other-servers.ts';
import { meet, openEverywhere, startNodes } from '../support/nodes.ts';
import { refusedPort, startTarget } from '../support/target.ts';
import { CLIENT, launchAgent, startAgent, startEngine } from '../support/tunnel.ts';
import { startVisitor } from '../support/visitor.ts';

test('an agent that was given one server learns of the others, and goes to one of them when its own ends', async () => {
  const nodes = await startNodes(['one', 'two', 'three']);
  const [one, two, three] = nodes;
  if (!one || !two || !three) throw new Error('there are three nodes');
  const { log } = await startAgent(one, { random: () => 0 });
  await openEverywhere(nodes, { mode: 'secret', password: 'secret word' });
  const visitor = await startVisitor(one, { password: 'secret word', random: () => 0 });
  meet(nodes);
  // The message is on its way.
  await one.engine.probe(CLIENT.id, '127.0.0.1:1', 1000);
  const moved = [log, visitor.log].map((each) => each.next(/^connected to/));
  await one.engine.close();
  for (const { msg } of await Promise.all(moved)) expect(msg).toMatch(new RegExp(`127.0.0.1:(${two.bridge.port}|${three.bridge.port}) `));
});

test('a list of servers: those that are gone, or accept connections and say nothing, are passed over', async () => {
  const frozen = await startTarget(() => undefined);
  const server = await startEngine();
  const servers = [await refusedPort(), frozen.port, server.bridge.port].map((port) => ({ host: '127.0.0.1', port }));
  const { log, agent } = launchAgent(server, { servers });
  expect((await log.line(/^connected to/)).msg).toContain(`connected to 127.0.0.1:${server.bridge.port} `);
  expect(agent.state.connected).toBe(true);
});

test('the log says why none of them could be reached', async () => {
  const servers = await Promise.all(Array.from({ length: 6 }, async () => ({ host: '127.0.0.1', port: await refusedPort() })));
  const { log } = launchAgent({ bridge: { host: '127.0.0.1', port: 1 } }, { servers, random: () => 0.99 });
  const { msg } = await log.line(/^cannot connect/);
  for (const { port } of servers.slice(0, 4)) expect(msg).toContain(`cannot connect to 127.0.0.1:${port}: connect ECONNREFUSED`);
  expect(msg).toMatch(/; and so with 2 others; trying again in 0\.5 s$/);
});

test('a refusal that all servers would give is not asked for again', async () => {
  const [first, second] = [await startEngine({ stored: { clients: [{ ...CLIENT, enabled: false, inletBytes: 0, exportBytes: 0 }] } }), await startEngine()];
  const { log } = launchAgent(first, { servers: [first.bridge, second.bridge], random: () => 0.99 });
  await log.line(/^refused by .*: the client is disabled; trying again/);
  expect(second.engine.counts.sessions).toBe(0);
});

test('a server that an agent was sent to has to prove that it knows the key', async () => {
  const impostor = await startEngine({ stored: { clients: [] } });
  const [one] = await startNodes(['one']);
  if (!one) throw new Error('there is a node');
  const { log } = await startAgent(one, { random: () => 0 });
  one.engine.nodes?.use([{ name: 'two', host: '127.0.0.1', port: impostor.bridge.tls.port, bridgePort: impostor.bridge.port }], performance.now());
  await one.engine.probe(CLIENT.id, '127.0.0.1:1', 1000);
  await one.engine.close();
  await log.line(new RegExp(`refused by 127.0.0.1:${impostor.bridge.port}: the server does not know this vkey`));
  expect(impostor.engine.counts.sessions).toBe(0);
});

test('a server tells of at most 32 others, and an agent believes no more', () => {
  const server = { host: 'a.example', port: 1, tlsPort: 2 };
  const accepts = (servers: unknown) => otherServersSchema.safeParse({ type: 'servers', servers }).success;
  expect(accepts(Array.from({ length: 32 }, () => server))).toBe(true);
  expect(accepts(Array.from({ length: 33 }, () => server))).toBe(false);
  for (const wrong of [{ host: 'a b' }, { host: '' }, { host: 'a:1/x' }, { port: 0 }, { tlsPort: 65_536 }]) {
    expect(accepts([{ ...server, ...wrong }])).toBe(false);
  }
  expect(net.isIPv6('2001:db8::1') && accepts([{ ...server, host: '2001:db8::1' }])).toBe(true);
});
