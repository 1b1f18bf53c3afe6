import { expect, test } from '@jest/globals';
import { ask } from '../../../src/engine/nodes/ask.ts';
import { HomeOpener } from '../../../src/engine/nodes/home-opener.ts';
import { tunnelAnswers } from '../../../src/engine/nodes/node-answers.ts';
import { NodesFace } from '../../../src/engine/nodes/nodes-face.ts';
import { Frame } from '../../../src/wire/frames.ts';
import { declaredTunnelOf } from '../../support/declared-entries.ts';
import { eventually } from '../../support/eventually.ts';
import { openEverywhere, reached, startNodes, type TestNode } from '../../support/nodes.ts';
import { RawPeer } from '../../support/raw-peer.ts';
import { roundTrip, startEcho, visit } from '../../support/target.ts';
import { CLIENT, startAgent } from '../../support/tunnel.ts';

// Short form: test/engine/hostile-peers.test.ts

/** What one client's agent and visitors do must not end the sessions between nodes, which carry all clients. */

const HOSTILE = { ...CLIENT, id: 2, vkey: 'the-vkey-of-an-attacker', configAllowed: true };

/** Two nodes: the agents of a client and of an attacker are connected to the first one. Returns a visitor of the client, who came to the second one. */
async function serving() {
  const nodes = await startNodes(['home', 'entry']);
  const [home, entry] = nodes;
  if (!home || !entry) throw new Error('there are two nodes');
  for (const { engine } of nodes) await engine.apply({ kind: 'client', client: HOSTILE });
  const none = { id: 0, port: 0, error: '' };
  home.engine.keepDeclared({
    open: () => ({ declare: async ({ name }) => ({ ...none, id: Number(name) }), withdraw: async () => none, close: () => undefined }),
  });
  await startAgent(home);
  const port = (await openEverywhere(nodes, { targets: [(await startEcho()).address] }))[1]?.port ?? 0;
  await eventually(() => entry.engine.nodes?.linkTo(CLIENT.id), (link) => link !== undefined);
  const visitor = await visit(port);
  await roundTrip(visitor, 'before');
  return { nodes, home, entry, visitor };
}

/** A hostile agent that has declared a tunnel of this id. */
async function declaring(home: TestNode, tunnelId: number, key = HOSTILE.vkey): Promise<RawPeer> {
  const peer = await RawPeer.connect(home, { key, info: { configFile: true } });
  const before = peer.read;
  peer.control({ type: 'tunnel', name: String(tunnelId), tunnel: declaredTunnelOf() });
  await eventually(() => peer.read, (read) => read > before);
  return peer;
}

test('a tunnel with more targets than a request can name', async () => {
  const { nodes, home, entry, visitor } = await serving();
  const { host, port: bridgePort } = home.bridge;
  await startAgent({ bridge: { host, port: bridgePort } }, { vkey: HOSTILE.vkey });
  await eventually(() => entry.engine.nodes?.linkTo(HOSTILE.id), (link) => link !== undefined);
  const echo = await startEcho();
  const port = (await openEverywhere(nodes, { clientId: HOSTILE.id, targets: [echo.address, ...Array.from({ length: 7999 }, () => '127.0.0.1:1')] }))[1]?.port
    ?? 0;
  expect(await roundTrip(await visit(port), 'hello')).toBe('hello');
  expect(await roundTrip(visitor, 'after')).toBe('after');
});

test('visitors of a tunnel with thousands of targets, more at once than a session may queue requests for: those of others are served', async () => {
  const { entry, nodes, visitor } = await serving();
  const { host, port: bridgePort } = nodes[0]?.bridge ?? { host: '', port: 0 };
  await startAgent({ bridge: { host, port: bridgePort } }, { vkey: HOSTILE.vkey });
  const link = await eventually(() => entry.engine.nodes?.linkTo(HOSTILE.id), (found) => found !== undefined);
  const socket = { remoteAddress: '127.0.0.1', remotePort: 1 };
  const open = (clientId: number, bytes: number) =>
    link && new HomeOpener(link, clientId, false).open(Buffer.alloc(bytes), false, undefined, { of: 'tunnel', id: 1, socket });
  // In one iteration of the event loop, as while the connection takes nothing.
  const opened = Array.from({ length: 100 }, () => open(HOSTILE.id, 60_000)).filter((stream) => stream !== undefined);
  expect(opened).toHaveLength(4);
  expect(open(CLIENT.id, 200)).toBeDefined();
  expect(await roundTrip(visitor, 'meanwhile')).toBe('meanwhile');
  // The connection has taken them.
  await eventually(() => open(HOSTILE.id, 60_000), (stream) => stream !== undefined);
  expect(reached(entry)).toEqual(['home']);
});

test('reports on health that get longer on the way', async () => {
  const { nodes, home, entry, visitor } = await serving();
  const id = (await openEverywhere(nodes, { clientId: HOSTILE.id, targets: ['127.0.0.1:1'] }))[0]?.id ?? 0;
  const peer = await declaring(home, id);
  const check = { type: 'tcp', intervalMs: 1000, timeoutMs: 1000, maxFailed: 1, path: '' };
  const report = (target: string, error: string) => ({ target, healthy: false, failures: 1, ageMs: 0, error });
  const targets = Array.from({ length: 49 }, () => report('@'.repeat(300), '@'.repeat(200)));
  const message = { type: 'health', of: 'tunnel', id, check, targets: [...targets, report('127.0.0.1:1', 'refused')] };
  // Bytes that are no UTF-8: each becomes a character of three bytes.
  peer.frames((batch) => batch.frame(Frame.CONTROL, 0, Buffer.from(JSON.stringify(message)).map((byte) => byte === 0x40 ? 0xff : byte)));
  await eventually(() => entry.engine.tunnelState(id)?.health?.targets, (all) => all?.[0]?.lastError === 'refused');
  // All nodes have it: for thousands of targets, the state that one asks for would be too long with it.
  const link = entry.engine.nodes?.linkTo(HOSTILE.id);
  expect(link && await ask(link, { kind: 'tunnels', ids: [id] }, tunnelAnswers)).toMatchObject([{ running: true, health: null }]);
  const face = entry.engine.nodes && new NodesFace(entry.engine, entry.engine.nodes);
  expect(await face?.tunnelStates([id])).toMatchObject([{ running: true, health: { targets: [{ lastError: 'refused' }] } }]);
  expect(await roundTrip(visitor, 'after')).toBe('after');
});

test('more reports on health of several agents than a session may carry: the other node gets the last one', async () => {
  const { nodes, home, entry, visitor } = await serving();
  const all = Array.from({ length: 50 }, (_, index) => `127.0.0.1:${index + 1}`);
  const check = { type: 'tcp', intervalMs: 1000, timeoutMs: 1000, maxFailed: 1, path: '' };
  const failing = all.map((target) => ({ target, healthy: false, failures: 1, ageMs: 0, error: '\u20ac'.repeat(200) }));
  const last = [{ target: '127.0.0.1:50', healthy: true, failures: 0, ageMs: 0, error: 'the last' }];
  const ids = await Promise.all([3, 4].map(async (clientId) => {
    const client = { ...HOSTILE, id: clientId, vkey: `${HOSTILE.vkey} ${clientId}` };
    for (const { engine } of nodes) await engine.apply({ kind: 'client', client });
    const id = (await openEverywhere(nodes, { clientId, targets: all }))[0]?.id ?? 0;
    const peer = await declaring(home, id, client.vkey);
    const flood = Buffer.from(JSON.stringify({ type: 'health', of: 'tunnel', id, check, targets: failing }));
    // Together more than the 32 MB that a session may send at once; each agent sends less.
    for (let rest = Math.ceil(30_000_000 / (flood.length + 1024)); rest > 0; rest--) {
      peer.frames((batch) => batch.frame(Frame.CONTROL, 0, flood));
      await eventually(() => peer.socket.pending, (pending) => pending < 1_000_000);
    }
    peer.control({ type: 'health', of: 'tunnel', id, targets: last });
    return id;
  }));
  const healthOf = (id: number) => entry.engine.tunnelState(id)?.health?.targets ?? [];
  for (const id of ids) {
    await eventually(() => healthOf(id)[49]?.lastError, (error) => error === 'the last', 30_000);
    expect(healthOf(id).filter(({ healthy }) => !healthy)).toHaveLength(49);
  }
  expect(reached(entry)).toEqual(['home']);
  expect(await roundTrip(visitor, 'after')).toBe('after');
  for (const { log } of nodes) expect(log.entries.filter(({ msg }) => msg === 'the session with another node was lost')).toEqual([]);
});

test('an agent that connects to both nodes again and again, in reserve too, and names homes: it gets its turns, and takes nothing', async () => {
  const { nodes, home, entry, visitor } = await serving();
  const began = performance.now();
  const peers: RawPeer[] = [];
  for (let round = 0; round < 80; round++) {
    const attempts = nodes.flatMap((node) => (['mux', 'standby'] as const).map((role) => RawPeer.connect(node, { key: HOSTILE.vkey, role })));
    for (const attempt of await Promise.allSettled(attempts)) if (attempt.status === 'fulfilled') peers.push(attempt.value);
    // What only nodes may say, of the client of another one, and its own.
    for (const peer of peers.slice(-2)) {
      for (const clientId of [CLIENT.id, HOSTILE.id]) peer.control({ type: 'homes', homes: [[clientId, Number.MAX_SAFE_INTEGER, true, false]] });
      for (let pings = 0; pings < 20; pings++) peer.control({ type: 'ping' });
    }
  }
  // 320 attempts; a node accepts 60 at once, and one a second.
  const seconds = (performance.now() - began) / 1000;
  expect(peers.length).toBeGreaterThanOrEqual(60);
  expect(peers.length).toBeLessThanOrEqual(2 * (61 + seconds));
  // In the end it has one home at most, and so has the other client: the one that it had.
  await eventually(() => nodes.filter(({ engine }) => engine.clientState(HOSTILE.id)?.connected).length, (homes) => homes <= 1);
  // The other client's agent also has one in reserve.
  expect(home.engine.counts.standbys).toBeLessThanOrEqual(1);
  expect(entry.engine.counts.standbys).toBeLessThanOrEqual(2);
  expect(nodes.map(({ engine }) => engine.nodes?.isHome(CLIENT.id))).toEqual([true, false]);
  expect(home.engine.clientState(CLIENT.id)).toMatchObject({ connected: true, connections: 1 });
  const asked = performance.now();
  expect(await roundTrip(visitor, 'after')).toBe('after');
  expect(performance.now() - asked).toBeLessThan(5000);
  expect(reached(entry)).toEqual(['home']);
  for (const { log } of nodes) expect(log.entries.filter(({ msg }) => msg === 'the session with another node was lost')).toEqual([]);
});

test('an agent that sends rising epochs a thousand times a second, of its own home and of others: no node believes it, and no visitor waits for it', async () => {
  const { nodes, home, entry, visitor } = await serving();
  // It connects to one node, and then to the other one: there it is at home, by the epoch that this node has chosen.
  const first = await RawPeer.connect(entry, { key: HOSTILE.vkey });
  const peer = await RawPeer.connect(home, { key: HOSTILE.vkey });
  await first.gone;
  const homesAre = () => nodes.map(({ engine }) => [engine.nodes?.isHome(CLIENT.id), engine.nodes?.isHome(HOSTILE.id)]);
  await eventually(homesAre, ([ofHome]) => ofHome?.[1] === true);
  const began = performance.now();
  const waits: number[] = [];
  // Far ahead of the nodes, who name the time.
  let epoch = Date.now() + 1_000_000_000;
  for (let sent = 0; sent < 3000;) {
    for (const due = Math.min(3000, performance.now() - began); sent < due; sent++) {
      epoch++;
      peer.control({ type: 'homes', homes: [CLIENT.id, HOSTILE.id, 3].map((clientId) => [clientId, epoch, sent % 2 === 0, false]) });
    }
    const asked = performance.now();
    expect(await roundTrip(visitor, 'meanwhile')).toBe('meanwhile');
    waits.push(performance.now() - asked);
  }
  expect(Math.max(...waits)).toBeLessThan(1000);
  expect(homesAre()).toEqual([[true, true], [false, false]]);
  // The next home of each is chosen by a node, whose epoch none of these was: it counts at both.
  await RawPeer.connect(entry, { key: HOSTILE.vkey });
  await peer.gone;
  await eventually(homesAre, ([ofHome, ofEntry]) => ofHome?.[1] === false && ofEntry?.[1] === true);
  expect(reached(entry)).toEqual(['home']);
});
