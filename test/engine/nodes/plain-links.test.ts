import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { expect, test } from '@jest/globals';
import type { NodeLinkKind } from '../../../src/wire/node-messages.ts';
import { keyIdOf, proveHandshake } from '../../../src/wire/handshake.ts';
import { netBackend } from '../../../src/wire/net-socket.ts';
import { nodeWelcomeSchema } from '../../../src/wire/node-messages.ts';
import { eventually } from '../../support/eventually.ts';
import { NODE_KEY, openEverywhere, reached, startNode, type TestNode } from '../../support/nodes.ts';
import { hashOf, receive, sendPayload } from '../../support/payload.ts';
import { Relay } from '../../support/relay.ts';
import { startTarget, visit } from '../../support/target.ts';
import { transfer, transferTarget } from '../../support/transfers.ts';
import { CLIENT, fresh, startAgent } from '../../support/tunnel.ts';

const MB = 1024 * 1024;
/** Of a stream, in each direction. */
const BULK = 4 * MB;
/** What a stream carries over TLS at least before it moves, and at most, in both directions together: several windows, and the frames around it. */
const OVER_TLS = { least: 0.5 * MB, most: 5 * MB };
/** What the handshakes of idle data connections take, at most. */
const HANDSHAKES = 32 * 1024;
/** A sender that is held back for this time, in ms, has stopped. */
const STILL_MS = 500;
/** What is offered to a visitor who does not read, and what the ten buffers of the kernel on the way may take of it. */
const OFFERED = 96 * MB;
const HELD = 72 * MB;

interface Links {
  readonly home?: NodeLinkKind;
  readonly entry?: NodeLinkKind;
  readonly crypt?: boolean;
}

/** An agent's node, and one to which visitors come, whose way to the first one leads through relays. */
async function twoNodes({ home: ofHome = 'plain', entry: ofEntry = 'plain', crypt = false }: Links = {}) {
  const stored = { clients: [{ ...CLIENT, crypt, ...fresh }] };
  const [home, entry] = [await startNode('home', { links: ofHome, stored }), await startNode('entry', { links: ofEntry, stored })];
  const [tls, data] = [await Relay.start(home.bridge.tls.port), await Relay.start(home.bridge.port)];
  entry.engine.nodes?.use([{ name: 'home', ...tls.address, bridgePort: data.address.port }], performance.now());
  await eventually(() => [reached(home), reached(entry)], (all) => all.every((names) => names.length === 1));
  // Four for each side.
  if (ofHome === 'plain' && ofEntry === 'plain') await eventually(() => home.engine.counts.dataConnections, (count) => count === 8);
  await startAgent(home);
  await eventually(() => entry.engine.nodes?.linkTo(CLIENT.id), (link) => link !== undefined);
  return { home, entry, tls, data };
}

async function tunnelTo(nodes: readonly TestNode[], target: string): Promise<{ readonly port: number; readonly id: number }> {
  const [, atEntry] = await openEverywhere(nodes, { targets: [target] });
  if (!atEntry) throw new Error('there are two listeners');
  return atEntry;
}

/** A connection to a node that names a session as if it were a data connection of its. */
async function proveData({ bridge }: TestNode, keyId: string, key: string | Buffer, over: 'plain' | 'tls' = 'plain'): Promise<unknown> {
  const place = over === 'tls' ? { port: bridge.tls.port, trust: { fingerprint: '' } } : { port: bridge.port };
  const socket = await netBackend.connect({ host: '127.0.0.1', ...place, timeoutMs: 2000 });
  try {
    return (await proveHandshake(socket, { timeoutMs: 5000, role: 'data', keyId, key, connection: 1000, info: {} })).body;
  } finally {
    socket.destroy();
  }
}

test('a stream with much traffic goes over a data connection in the clear, in both directions', async () => {
  const { home, entry, tls, data } = await twoNodes();
  const target = await transferTarget();
  const { port, id } = await tunnelTo([home, entry], `127.0.0.1:${target.port}`);
  const before = { tls: tls.bytes, data: data.bytes };
  await transfer(port, { up: BULK, down: BULK, duplex: true });
  const [overTls, inTheClear] = [tls.bytes - before.tls, data.bytes - before.data];
  expect(overTls).toBeGreaterThan(OVER_TLS.least);
  expect(overTls).toBeLessThan(OVER_TLS.most);
  expect(inTheClear).toBeGreaterThan(2 * BULK - OVER_TLS.most);
  // The visitor's half close, and the target's answer after it.
  for (const size of [1, 600_000, BULK]) {
    await transfer(port, { up: size, down: size });
    await transfer(port, { up: size, down: 1, slow: 'target' });
    await transfer(port, { up: 1, down: size, slow: 'visitor' });
  }
  expect(target.failures).toEqual([]);
  await eventually(() => home.engine.tunnelState(id)?.connections, (count) => count === 0);
  target.close();
});

test.each<[string, Links]>([
  ['of a client with crypt', { crypt: true }],
  ['if only the home has plain links', { entry: 'tls' }],
  ['if only the other node has plain links', { home: 'tls' }],
  ['by default', { home: 'tls', entry: 'tls' }],
])('all bytes go over TLS %s', async (_, links) => {
  const { home, entry, tls, data } = await twoNodes(links);
  const target = await transferTarget();
  const { port } = await tunnelTo([home, entry], `127.0.0.1:${target.port}`);
  await transfer(port, { up: BULK, down: BULK, duplex: true });
  expect(tls.bytes).toBeGreaterThan(2 * BULK);
  expect(data.bytes).toBeLessThan(links.crypt === true ? HANDSHAKES : 1);
  target.close();
});

test('a visitor who does not read holds the sender back over a data connection, and loses nothing', async () => {
  const { home, entry, data } = await twoNodes();
  const target = await startTarget((socket) => void sendPayload(socket, OFFERED, 3));
  const { port } = await tunnelTo([home, entry], target.address);
  const visitor = await visit(port);
  visitor.pause();
  let last = -1;
  let since = performance.now();
  await eventually(() => target.connections[0]?.bytesWritten ?? 0, (now) => {
    if (now !== last) since = performance.now();
    last = now;
    return data.bytes > MB && performance.now() - since > STILL_MS;
  });
  expect(last).toBeLessThan(HELD);
  expect(await receive(visitor)).toEqual({ bytes: OFFERED, hash: hashOf(OFFERED, 3) });
});

/** How the other end's direction ended. libuv shows a reset that arrives together with data as an end; unlike after an end, nothing can be written then. */
function endOf(socket: net.Socket): Promise<'end' | 'reset'> {
  return new Promise((resolve) => {
    socket.once('error', () => resolve('reset'));
    socket.once('end', () => socket.write('x', (error) => resolve(error ? 'reset' : 'end')));
  });
}

test('a data connection that is cut resets its stream, which does not seem complete; later ones go over TLS', async () => {
  const { home, entry, data } = await twoNodes();
  const target = await startTarget((socket) => {
    socket.on('error', () => undefined);
    void sendPayload(socket, OFFERED, 3).catch(() => undefined);
  });
  const { port, id } = await tunnelTo([home, entry], target.address);
  const visitor = await visit(port);
  const ended = endOf(visitor);
  visitor.resume();
  await eventually(() => data.bytes, (bytes) => bytes > MB);
  data.close();
  expect(await ended).toBe('reset');
  await eventually(() => [home, entry].map(({ engine }) => engine.tunnelState(id)?.connections), (counts) => counts.every((count) => count === 0));
  await entry.log.line(/no data connection to another node can be opened, so that all bytes go over TLS/);
  const transfers = await transferTarget();
  const other = await tunnelTo([home, entry], `127.0.0.1:${transfers.port}`);
  await transfer(other.port, { up: BULK, down: BULK, duplex: true });
  transfers.close();
});

/** A port of a node through which a dialer's first data connection leads, and what it sent there. */
async function eavesdropped(port: number): Promise<{ readonly port: number; readonly said: Promise<Buffer>; close(): void }> {
  let resolve: (said: Buffer) => void = () => undefined;
  const said = new Promise<Buffer>((done) => {
    resolve = done;
  });
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    const heard: Buffer[] = [];
    near.on('data', (chunk) => heard.push(chunk)).on('error', () => undefined).pipe(far);
    let answers = 0;
    far.on('error', () => undefined).on('data', () => {
      // The challenge, and the verdict.
      if (++answers === 2) resolve(Buffer.concat(heard));
    }).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  return { port: address.port, said, close: () => server.close() };
}

test('an unauthenticated client, an agent, a node of another installation, and one who has listened get no data connection of a link', async () => {
  const [home, entry] = [await startNode('home', { links: 'plain' }), await startNode('entry', { links: 'plain' })];
  const spy = await eavesdropped(home.bridge.port);
  entry.engine.nodes?.use([{ name: 'home', host: '127.0.0.1', port: home.bridge.tls.port, bridgePort: spy.port }], performance.now());
  const said = await spy.said;
  const session = said.subarray(6, 22).toString('hex');
  await eventually(() => home.engine.counts.dataConnections, (count) => count === 8);
  await startAgent({ bridge: { host: '127.0.0.1', port: home.bridge.tls.port } }, { tls: { fingerprint: home.bridge.tls.fingerprint } });
  const refused = { code: 'refused', refusal: { code: 'unknown-key' } };
  const guesses: ReadonlyArray<[string, string | Buffer]> = [
    [randomBytes(16).toString('hex'), randomBytes(32)],
    [session, randomBytes(32)],
    [session, CLIENT.vkey],
    // Even the installation's secret is not enough: the key of the session covers the secret of its TLS connection.
    [session, NODE_KEY],
    [keyIdOf(NODE_KEY), NODE_KEY],
  ];
  for (const [keyId, key] of guesses) {
    for (const over of ['plain', 'tls'] as const) await expect(proveData(home, keyId, key, over)).rejects.toMatchObject(refused);
  }
  // What a data connection sent once, sent again.
  const replay = net.connect(home.bridge.port, '127.0.0.1');
  replay.write(said);
  const answer: Buffer[] = [];
  replay.on('data', (chunk) => answer.push(chunk));
  await once(replay, 'end');
  expect(Buffer.concat(answer).subarray(0, 4).toString()).toBe('ADIT');
  expect(Buffer.concat(answer)[37]).toBe(0);
  replay.destroy();
  expect(home.engine.counts).toMatchObject({ dataConnections: 8, refused: 2 * guesses.length + 1 });
  expect([reached(home), reached(entry)]).toEqual([['entry'], ['home']]);
  spy.close();
});

test('a data connection belongs to the TLS session that its node has proven itself on, is in the clear, and exists only with plain links', async () => {
  for (const kind of ['plain', 'tls'] as const) {
    const node = await startNode('node', { links: kind });
    const socket = await netBackend.connect({ host: '127.0.0.1', port: node.bridge.tls.port, trust: { fingerprint: '' }, timeoutMs: 2000 });
    const info = { name: 'somebody', version: '1', host: '127.0.0.1', port: 1, bridgePort: 1 };
    const { body, sessionKey } = await proveHandshake(socket, { timeoutMs: 5000, role: 'node', keyId: keyIdOf(NODE_KEY), key: NODE_KEY, connection: 0, info });
    const { dataSession } = nodeWelcomeSchema.parse(body);
    if (kind === 'tls') expect(dataSession).toBeUndefined();
    else {
      if (dataSession === undefined) throw new Error('plain links have data connections');
      await proveData(node, dataSession, sessionKey);
      expect(node.engine.counts.dataConnections).toBe(1);
      await expect(proveData(node, dataSession, sessionKey, 'tls')).rejects.toMatchObject({ refusal: { code: 'no-data-connections' } });
      socket.destroy();
      await eventually(() => reached(node), (names) => names.length === 0);
      // It ends with the session.
      await eventually(() => node.engine.counts.refused, (count) => count > 0);
      await expect(proveData(node, dataSession, sessionKey)).rejects.toMatchObject({ refusal: { code: 'unknown-key' } });
    }
    socket.destroy();
  }
});

test('a data connection that proves nothing is closed, within the limits of all unfinished handshakes', async () => {
  const node = await startNode('node', { links: 'plain', bridgeTiming: { handshakeMs: 300, places: { total: 64, perAddress: 8, minAgeMs: 60_000 } } });
  const sockets = Array.from({ length: 12 }, () => net.connect(node.bridge.port, '127.0.0.1').on('error', () => undefined));
  // The beginning of a data connection's handshake, with a session that might exist.
  for (const socket of sockets) socket.write(Buffer.concat([Buffer.from('ADIT'), Buffer.of(1, 1), randomBytes(48), Buffer.alloc(4)]));
  await eventually(() => node.engine.counts, ({ handshakes, handshakesRefused }) => handshakes === 8 && handshakesRefused === 4);
  await eventually(() => node.engine.counts, ({ handshakes }) => handshakes === 0);
  expect(node.engine.counts).toMatchObject({ garbage: 8, handshakesRefused: 4, dataConnections: 0 });
  for (const socket of sockets) socket.destroy();
});
