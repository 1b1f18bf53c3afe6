import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { acceptHandshake } from '../../src/wire/handshake.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket, SocketServer } from '../../src/wire/socket.ts';
import { eventually } from '../support/eventually.ts';
import { refusedPort, roundTrip, startEcho, startTarget, visit } from '../support/target.ts';
import { CLIENT, launchAgent, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

const servers: SocketServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A server that lets the agent in and then says `bytes`. */
async function oddServer(bytes: Buffer): Promise<{ readonly host: string; readonly port: number }> {
  const onSocket = async (socket: ByteSocket): Promise<void> => {
    const offer = await acceptHandshake(socket, { timeoutMs: 1000, keyOf: () => CLIENT.vkey });
    offer.accept({ clientId: 1, sessionId: '0'.repeat(32), heartbeatMs: 5000 });
    socket.attach({ onData: () => undefined, onEnd: () => socket.destroy(), onDrain: () => undefined, onClose: () => undefined });
    socket.write(bytes);
  };
  const server = await netBackend.listen({
    host: '127.0.0.1',
    port: 0,
    onError: () => undefined,
    onSocket: (socket) => void onSocket(socket).catch(() => undefined), // the agent under test may leave at any time
  });
  servers.push(server);
  return server;
}

test('it prints one line for each change of state', async () => {
  const server = await startEngine();
  const { log } = await startAgent(server, { random: () => 0.5 });
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await log.line(/^refused by/);
  const { port } = server.bridge;
  expect(log.entries.filter(({ level }) => level >= 30).map(({ msg }) => msg)).toEqual([
    `connected to 127.0.0.1:${port} as client 1`,
    `connection to 127.0.0.1:${port} lost: the client is disabled; trying again in 0.3 s`,
    `refused by 127.0.0.1:${port}: the client is disabled; trying again in 0.5 s`,
  ]);
});

test('it finds a server that starts later, and one that comes back', async () => {
  const port = await refusedPort();
  const { log } = launchAgent({ bridge: { host: '127.0.0.1', port } }, { random: () => 0.02 });
  expect((await log.line(/^cannot connect/)).msg).toMatch(new RegExp(`^cannot connect to 127.0.0.1:${port}: connect ECONNREFUSED`));
  const first = await startEngine({ bridgePort: port });
  await log.line(/^connected to/);
  const lost = log.next(/^connection to .* lost: the server is shutting down/);
  await first.engine.close();
  await lost;
  const back = log.next(/^connected to/);
  const second = await startEngine({ bridgePort: port });
  await back;
  const tunnel = await openTunnel(second, { targets: [(await startEcho()).address] });
  expect(await roundTrip(await visit(tunnel.port), 'back')).toBe('back');
});

test('a name that leads nowhere is tried again', async () => {
  const { log } = launchAgent({ bridge: { host: 'no-such-host.invalid', port: 1 } }, { random: () => 0 });
  await log.line(/^cannot connect to no-such-host\.invalid:1: getaddrinfo/);
  expect((await log.next(/^cannot connect/)).msg).toMatch(/trying again in 0\.0 s$/);
});

test.each([
  ['an unknown frame', Buffer.from([99, 0, 0, 0, 0, 0, 0, 0, 0])],
  ['a stream that is not its to open', Buffer.from([1, 0, 0, 0, 2, 0, 0, 0, 0])],
  ['data on its way to nowhere, then rubbish', Buffer.concat([Buffer.from([2, 0, 0, 0, 9, 0, 0, 0, 1, 7]), Buffer.alloc(64, 0xee)])],
])('a server that sends %s loses the session, and the agent tries again', async (_, bytes) => {
  const { log } = launchAgent({ bridge: await oddServer(bytes) }, { random: () => 0 });
  expect((await log.line(/^connection to .* lost/)).msg).toMatch(/protocol error/);
  expect((await log.next(/^connection to .* lost/)).msg).toMatch(/protocol error/);
});

test.each([
  ['says nothing of itself', 'x'],
  ['speaks HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
])('a server that %s is left, and tried again', async (_, text) => {
  const target = await startTarget((socket) => {
    socket.on('error', () => undefined).end(text);
  });
  const { log } = launchAgent({ bridge: { host: '127.0.0.1', port: target.port } }, { random: () => 0 });
  await log.line(/^cannot connect to/);
  await log.next(/^cannot connect to/);
  expect(target.connections.length).toBeGreaterThan(1);
});

test('a server that does not know the vkey cannot pretend to', async () => {
  const onSocket = async (socket: ByteSocket): Promise<void> => {
    await acceptHandshake(socket, { timeoutMs: 1000, keyOf: () => 'another key' });
    socket.write(Buffer.concat([Buffer.of(1), Buffer.alloc(32), Buffer.from([0, 2]), Buffer.from('{}')]));
  };
  const server = await netBackend.listen({ host: '127.0.0.1', port: 0, onError: () => undefined, onSocket: (socket) => void onSocket(socket) });
  servers.push(server);
  const { log } = launchAgent({ bridge: server });
  expect((await log.line(/^cannot connect/)).msg).toMatch(/the server does not know this key/);
});

test('stopping it while it waits ends it at once', async () => {
  const { agent, log } = launchAgent({ bridge: { host: '127.0.0.1', port: await refusedPort() } }, { random: () => 0.99 });
  await log.line(/^cannot connect/);
  const before = performance.now();
  await agent.stop();
  expect(performance.now() - before).toBeLessThan(200);
});

test('it opens data connections ahead, and more when a long stream has taken one', async () => {
  const server = await startEngine();
  await startAgent(server);
  const ahead = await eventually(() => server.engine.counts.dataConnections, (count) => count >= 8);
  const bytes = 4 * 1024 * 1024;
  const target = await startTarget((socket) => socket.end(Buffer.alloc(bytes)));
  const tunnel = await openTunnel(server, { targets: [target.address] });
  const visitor = await visit(tunnel.port);
  let received = 0;
  visitor.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  await once(visitor, 'end');
  expect(received).toBe(bytes);
  await eventually(() => server.engine.counts.dataConnections, (count) => count > ahead);
  expect(server.engine.counts).toMatchObject({ refused: 0, garbage: 0 });
});
