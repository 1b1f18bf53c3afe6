import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { hashOf, receive, sendPayload } from '../support/payload.ts';
import { closed, readAll, refusedPort, roundTrip, startEcho, startTarget, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { udpEcho, udpPeer } from '../support/udp.ts';

const local = { allowLocalProxy: true };

test('the server dials the target itself, without an agent; traffic is counted, and either side may end first', async () => {
  const server = await startEngine(local);
  const target = await startTarget(async (socket) => {
    socket.end(`got ${String(await readAll(socket))}`);
  });
  const tunnel = await openTunnel(server, { targets: [target.address], localProxy: true });
  const visitor = await visit(tunnel.port);
  visitor.end('question');
  expect(String(await readAll(visitor))).toBe('got question');
  await eventually(() => server.engine.tunnelState(tunnel.id)?.connections, (open) => open === 0);
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ inletBytes: 8, exportBytes: 12, refusals: {} });
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connected: false, connections: 0, inletBytes: 8, exportBytes: 12 });

  const farewell = await startTarget((socket) => socket.end('bye'));
  const second = await openTunnel(server, { targets: [farewell.address], localProxy: true });
  const accepted = farewell.accepted();
  const late = await visit(second.port);
  expect(String(await readAll(late))).toBe('bye');
  late.end('late words');
  expect(String(await readAll(await accepted))).toBe('late words');
});

test('much passes both ways as it was sent, with a reader that stops in between', async () => {
  const [down, up] = [16 * 1024 * 1024, 2 * 1024 * 1024];
  const server = await startEngine(local);
  const target = await startTarget((socket) => void sendPayload(socket, down, 7));
  const { port } = await openTunnel(server, { targets: [target.address], localProxy: true });
  const accepted = target.accepted();
  const visitor = await visit(port);
  visitor.pause();
  const far = await accepted;
  const [received] = await Promise.all([receive(far), sendPayload(visitor, up, 8)]);
  expect(received).toEqual({ bytes: up, hash: hashOf(up, 8) });
  // The far side can't have sent all: it would be held nowhere but in our memory.
  expect(far.writableLength).toBeGreaterThan(0);
  expect(await receive(visitor)).toEqual({ bytes: down, hash: hashOf(down, 7) });
});

test('datagrams too', async () => {
  const server = await startEngine(local);
  const { port, id } = await openTunnel(server, { mode: 'udp', targets: [(await udpEcho()).address], localProxy: true });
  expect(String(await (await udpPeer()).ask('ping', port))).toBe('ping');
  expect(server.engine.tunnelState(id)).toMatchObject({ connections: 1, dropped: 0 });
});

test("if the target refuses, the visitor's connection is closed and the reason is logged", async () => {
  const server = await startEngine(local);
  const { port } = await openTunnel(server, { targets: [`127.0.0.1:${await refusedPort()}`], localProxy: true });
  await visitUntilClosed(port);
  expect((await server.log.line(/no target responds/)).msg).toMatch(/ECONNREFUSED/);
});

test('if the setting is off, neither the server nor an agent dials the target', async () => {
  const server = await startEngine();
  await startAgent(server);
  const target = await startEcho();
  const { port, id } = await openTunnel(server, { targets: [target.address], localProxy: true });
  await visitUntilClosed(port);
  expect(server.engine.tunnelState(id)?.refusals).toEqual({ localProxy: 1 });
  expect(target.connections).toEqual([]);
});

test('limits, stop and disabling hold for what the server dials', async () => {
  const server = await startEngine(local);
  const target = await startEcho();
  const tunnel = await openTunnel(server, { targets: [target.address], localProxy: true });
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, maxConnections: 1 } });
  const first = await visit(tunnel.port);
  expect(await roundTrip(first, 'in')).toBe('in');
  await visitUntilClosed(tunnel.port);
  expect(server.engine.tunnelState(tunnel.id)?.refusals).toEqual({ connections: 1 });
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, enabled: false } });
  await closed(first);
  await server.engine.apply({ kind: 'tunnel', tunnel });
  const second = await visit(tunnel.port);
  expect(await roundTrip(second, 'again')).toBe('again');
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await closed(second);
  await eventually(() => target.connections.filter((socket) => !socket.closed).length, (open) => open === 0);
});
