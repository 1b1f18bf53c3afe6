import { expect, test } from '@jest/globals';
import { NodesFace } from '../../../src/engine/nodes/nodes-face.ts';
import type { HealthMessage } from '../../../src/wire/health.ts';
import { sessionOf } from '../../support/agent-session.ts';
import { eventually, eventuallyAsync } from '../../support/eventually.ts';
import { applyEverywhere, openEverywhere, startNodes, type TestNode } from '../../support/nodes.ts';
import { RawPeer } from '../../support/raw-peer.ts';
import { roundTrip, closed, startEcho, visit } from '../../support/target.ts';
import { CLIENT, openTunnel, startAgent } from '../../support/tunnel.ts';
import { udpPeer } from '../../support/udp.ts';
import { hostOf } from '../../support/vhost.ts';

const LIMITED = { ...CLIENT, ipWhite: true, ipWhitePassword: 'word', ipWhiteList: '127.0.0.0/8' };

async function serving() {
  const nodes = await startNodes(['home', 'entry']);
  const [home, entry] = nodes;
  if (!home || !entry) throw new Error('there are two nodes');
  for (const { engine } of nodes) await engine.apply({ kind: 'client', client: LIMITED });
  const { agent } = await startAgent(home);
  const echo = await startEcho();
  const [, tunnel] = await openEverywhere(nodes, { targets: [echo.address] });
  if (!tunnel || !entry.engine.nodes || !home.engine.nodes) throw new Error('there are two listeners');
  await eventually(() => entry.engine.nodes?.linkTo(CLIENT.id), (link) => link !== undefined);
  return { home, entry, agent, tunnel, echo, face: new NodesFace(entry.engine, entry.engine.nodes), homeFace: new NodesFace(home.engine, home.engine.nodes) };
}

test('the state of a client is that of its home, at every node', async () => {
  const { home, entry, tunnel, face, homeFace } = await serving();
  const visitor = await visit(tunnel.port);
  await roundTrip(visitor, 'hello');
  const [client] = await eventuallyAsync(() => face.clientStates([CLIENT.id, 99]), ([state]) => state?.exportBytes === 5);
  expect(client).toEqual({
    ...home.engine.clientState(CLIENT.id),
    home: 'home',
    lastHeardAt: expect.any(Number),
    lastOnlineAt: expect.any(Number),
    rate: expect.any(Number),
  });
  expect(client).toMatchObject({ connected: true, version: '0.0.1', connections: 1, inletBytes: 5 });
  expect(entry.engine.clientState(CLIENT.id)).toMatchObject({ connected: false, connections: 0, inletBytes: 0 });
  expect(await face.clientStates([99])).toEqual([undefined]);
  expect(await face.agentSessions(CLIENT.id)).toEqual(home.engine.records.clients.get(CLIENT.id)?.history.sessions);
  expect(await face.agentSessions(CLIENT.id)).toMatchObject([{ until: null, version: '0.0.1' }]);
  expect(await face.tunnelStates([tunnel.id, 99])).toMatchObject([{ running: true, connections: 1, inletBytes: 5 }, undefined]);
  for (const one of [face, homeFace]) expect(await one.traffic()).toMatchObject({ connections: 1, inletBytes: 5, exportBytes: 5 });
});

test('of the bytes that all nodes have loaded, those of the home count; each has its own agents and visitors', async () => {
  const { home, entry, tunnel } = await serving();
  for (const { engine } of [home, entry]) engine.records.clients.get(CLIENT.id)?.meter.countInlet(100);
  expect([home, entry].map(({ engine }) => engine.traffic().inletBytes)).toEqual([100, 0]);
  await roundTrip(await visit(tunnel.port), 'hello');
  expect([home, entry].map(({ engine }) => engine.served)).toEqual([{ agents: 1, connections: 1 }, { agents: 0, connections: 1 }]);
});

test('the sessions of an agent that was at several nodes come newest first, at every node', async () => {
  const { entry, agent, face, homeFace } = await serving();
  const before = await homeFace.agentSessions(CLIENT.id);
  await agent.stop();
  await startAgent(entry);
  for (const one of [face, homeFace]) {
    const sessions = await eventuallyAsync(() => one.agentSessions(CLIENT.id), (all) => all.length > 1 && all[1]?.until !== null);
    expect(sessions.map(({ since, until }) => [since, until === null])).toEqual([[expect.any(Number), true], [before[0]?.since, false]]);
  }
});

test('the states of more tunnels than one request between nodes may name come in the order of their ids', async () => {
  const { home, entry, tunnel, face } = await serving();
  await roundTrip(await visit(tunnel.port), 'hello');
  const ids = [tunnel.id];
  for (let n = 0; n < 60; n++) {
    const [other] = await openEverywhere([home, entry], { mode: 'secret', password: `word ${n}` });
    if (other) ids.unshift(other.id);
  }
  const states = await eventuallyAsync(() => face.tunnelStates(ids), (all) => all.some((state) => state?.exportBytes === 5));
  expect(states.map((state) => state?.inletBytes)).toEqual(ids.map((id) => id === tunnel.id ? 5 : 0));
});

test('the traffic of the installation is the sum over all its servers', async () => {
  const nodes = await startNodes(['one', 'two', 'three']);
  const echo = await startEcho();
  for (const [index, node] of nodes.entries()) {
    const client = { ...CLIENT, id: index + 1, vkey: `key-of-client-${index + 1}` };
    await applyEverywhere(nodes, { kind: 'client', client });
    await startAgent(node, { vkey: client.vkey });
    const tunnel = await openTunnel(node, { clientId: client.id, targets: [echo.address] });
    await roundTrip(await visit(tunnel.port), 'x'.repeat(10 ** index));
  }
  for (const { engine } of nodes) {
    if (!engine.nodes) throw new Error('it is a node');
    const face = new NodesFace(engine, engine.nodes);
    const traffic = await eventuallyAsync(() => face.traffic(), ({ exportBytes }) => exportBytes >= 111);
    expect(traffic).toMatchObject({ connections: 3, inletBytes: 111, exportBytes: 111 });
  }
});

test('connections are listed and closed, and targets probed, through any node', async () => {
  const { tunnel, echo, face, homeFace } = await serving();
  const visitor = await visit(tunnel.port);
  await roundTrip(visitor, 'hello');
  const { rows: [row], total } = await face.connections(CLIENT.id, { offset: 0, limit: 10 });
  expect([row, total]).toMatchObject([{ address: '127.0.0.1', port: visitor.localPort, through: { kind: 'tunnel', id: tunnel.id } }, 1]);
  expect(await homeFace.connections(CLIENT.id, { offset: 0, limit: 10 })).toMatchObject({ rows: [{ id: row?.id }], total: 1 });
  expect(await homeFace.connections(CLIENT.id, { offset: 1, limit: 10 })).toEqual({ rows: [], total: 1 });
  for (const one of [face, homeFace]) expect(await one.closeConnection(CLIENT.id, 999_999)).toBeUndefined();
  expect(await face.closeConnection(CLIENT.id, row?.id ?? 0)).toMatchObject({ id: row?.id });
  await closed(visitor);
  for (const one of [face, homeFace]) expect(await one.probe(CLIENT.id, echo.address, 1000)).toBe('');
  expect(await face.probe(CLIENT.id, '127.0.0.1:1', 1000)).toMatch(/ECONNREFUSED/);
});

test('an address that is allowed by the password at one node is allowed at all; a wrong password nowhere', async () => {
  const { home, entry, face } = await serving();
  expect(await face.allowByPassword(CLIENT.id, '192.0.2.7', 'wrong')).toBe(false);
  expect(await face.allowByPassword(CLIENT.id, '192.0.2.7', 'word')).toBe(true);
  await eventually(() => [home, entry].map(({ engine }) => engine.isAllowedByPassword(CLIENT.id, '192.0.2.7')), (all) => all.every(Boolean));
});

test('events of the home reach the watchers of every node, and do not come back', async () => {
  const { home, entry, tunnel } = await serving();
  const seen: string[] = [];
  home.engine.watch(({ kind, id }) => seen.push(`home: ${kind} ${id}`));
  entry.engine.watch(({ kind, id }) => seen.push(`entry: ${kind} ${id}`));
  await startAgent(home);
  await eventually(() => seen, (events) => events.includes(`entry: client ${CLIENT.id}`));
  // A later one, behind all that would go round and round.
  await home.engine.apply({ kind: 'tunnelRemoved', id: tunnel.id });
  await openEverywhere([home], { targets: [] });
  await eventually(() => seen, (events) => events.some((event) => event.startsWith('home: tunnel')));
  expect(seen.filter((event) => event === `home: client ${CLIENT.id}`).length).toBeLessThan(5);
  seen.length = 0;
  await home.engine.close();
  await eventually(() => seen, (events) => events.includes(`entry: client ${CLIENT.id}`));
});

test('only the home has counters to store', async () => {
  const { home, entry, tunnel } = await serving();
  await roundTrip(await visit(tunnel.port), 'hello');
  await eventually(() => home.engine.tunnelState(tunnel.id)?.exportBytes, (bytes) => bytes === 5);
  const batch = await home.engine.takeDirty();
  expect(batch).toMatchObject({ clients: [{ id: CLIENT.id, inletBytes: 5 }], tunnels: [{ id: tunnel.id, inletBytes: 5 }] });
  expect(await entry.engine.takeDirty()).toEqual({ clients: [], tunnels: [], hosts: [] });
});

test("of a tunnel or host, each node shows its own listener and visitor programs, what all know of its targets, and the home's bytes", async () => {
  const { home, entry, tunnel, echo, face } = await serving();
  const nodes = [home, entry];
  const [, secret] = await openEverywhere(nodes, { mode: 'secret', password: 'secret word', targets: [echo.address] });
  const udp = await openEverywhere(nodes, { mode: 'udp', targets: [echo.address] });
  const host = hostOf({ targets: [echo.address] });
  await applyEverywhere(nodes, { kind: 'host', host });
  await applyEverywhere(nodes, { kind: 'client', client: { ...LIMITED, blackIpList: '127.0.0.9' } });
  if (!secret) throw new Error('there are two tunnels');
  for (const [{ engine: { records } }, bytes] of [[home, 5], [entry, 1000]] as const) {
    records.tunnels.get(secret.id)?.meter.countInlet(bytes);
    records.hosts.get(host.id)?.meter.countExport(bytes);
  }
  const check = { type: 'tcp', intervalMs: 1000, timeoutMs: 1000, maxFailed: 1, path: '' } as const;
  const report = (of: HealthMessage['of'], id: number): HealthMessage => ({ type: 'health', of, id, check, targets: [] });
  entry.engine.records.tunnels.get(secret.id)?.onHealth(report('tunnel', secret.id), 0);
  entry.engine.records.hosts.onHealth(report('host', host.id), 0);
  for (const node of [home, entry, entry]) await RawPeer.connect(node, { role: 'visit', key: 'secret word', info: { type: 'secret' } });

  const [ofSecret] = await face.tunnelStates([secret.id]);
  const visitors = [entry, home].flatMap(({ engine }) => engine.tunnelState(secret.id)?.visitors ?? []);
  expect(visitors).toHaveLength(3);
  const healthOf = { ...check, targets: [expect.objectContaining({ target: echo.address, healthy: true })] };
  expect(ofSecret).toMatchObject({ running: true, error: '', inletBytes: 5, visitors, health: healthOf });
  expect(await face.hostStates([99, host.id])).toEqual([
    undefined,
    expect.objectContaining({ running: true, exportBytes: 5, inletBytes: 0, health: healthOf }),
  ]);
  // An address of another machine.
  await entry.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, serverIp: '192.0.2.1' } });
  home.engine.records.tunnels.get(tunnel.id)?.meter.countInlet(7);
  const [closedHere] = await face.tunnelStates([tunnel.id]);
  expect(closedHere).toMatchObject({ running: false, error: entry.engine.tunnelState(tunnel.id)?.error, inletBytes: 7 });
  expect(closedHere?.error).not.toBe('');

  const blocked = await udpPeer('127.0.0.9');
  for (const [index, times] of [1, 2].entries()) for (let nth = 0; nth < times; nth++) blocked.send('datagram', udp[index]?.port ?? 0);
  const dropped = (all: readonly TestNode[]) => all.map(({ engine }) => engine.tunnelState(udp[0]?.id ?? 0)?.dropped);
  await eventually(() => dropped(nodes), ([first, second]) => first === 1 && second === 2);
  expect(await face.tunnelStates([udp[0]?.id ?? 0])).toMatchObject([{ dropped: 3 }]);
});

test('of the sessions of an agent at all nodes together, the last ten are known', async () => {
  const { home, entry, face } = await serving();
  const from = Date.now() + 1000;
  for (const [index, { engine }] of [home, entry].entries()) {
    const client = engine.records.clients.get(CLIENT.id);
    client?.maySession(0); // it has a history from now on
    for (let nth = 0; nth < 8; nth++) {
      client?.history.begin(sessionOf('192.0.2.1', `${nth}`, false), from + 2 * nth + index);
      client?.history.end({ end: 'lost', endText: '' }, from + 100);
    }
  }
  expect((await face.agentSessions(CLIENT.id)).map(({ since }) => since - from)).toEqual([15, 14, 13, 12, 11, 10, 9, 8, 7, 6]);
});
