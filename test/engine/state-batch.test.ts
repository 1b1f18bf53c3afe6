import { expect, test } from '@jest/globals';
import type { EngineEvent } from '../../src/engine/face.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { CLIENT, fresh, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

test('counters and last-seen facts of what changed are handed over, and nothing else', async () => {
  const server = await startEngine({ stored: { clients: [{ ...CLIENT, inletBytes: 100, exportBytes: 200 }, { ...CLIENT, id: 2, vkey: 'b', ...fresh }] } });
  expect(await server.engine.takeDirty()).toEqual({ clients: [], tunnels: [], hosts: [] });
  await startAgent(server);
  const { port, id } = await openTunnel(server, { targets: [(await startEcho()).address] });
  await openTunnel(server, {});
  expect((await server.engine.takeDirty()).tunnels).toHaveLength(2); // their listeners were opened
  await roundTrip(await visit(port), 'hello');
  const batch = await server.engine.takeDirty();
  expect(batch.tunnels).toEqual([{ id, running: true, inletBytes: 5, exportBytes: 5, connections: 1, rate: expect.any(Number) }]);
  expect(batch.clients).toEqual([expect.objectContaining({
    id: CLIENT.id,
    connected: true,
    rate: expect.any(Number),
    inletBytes: 105,
    exportBytes: 205,
    address: '127.0.0.1',
    version: '0.0.1',
    lastOnlineAt: expect.any(Number),
  })]);
});

test('what could not be stored is handed over again', async () => {
  const server = await startEngine();
  const { agent } = await startAgent(server);
  await agent.stop();
  await server.log.line(/agent disconnected/);
  const batch = await server.engine.takeDirty();
  expect(batch.clients).toHaveLength(1);
  expect((await server.engine.takeDirty()).clients).toHaveLength(0);
  server.engine.restoreDirty(batch);
  expect((await server.engine.takeDirty()).clients).toMatchObject([{ id: CLIENT.id }]);
});

test('agents that connect or disconnect, and listeners that open or close, are reported at once', async () => {
  const server = await startEngine();
  const events: EngineEvent[] = [];
  server.engine.watch((event) => events.push(event));
  const { agent } = await startAgent(server);
  expect(events).toEqual([{ kind: 'client', id: CLIENT.id }]);
  const tunnel = await openTunnel(server, {});
  expect(events.slice(1)).toEqual([{ kind: 'tunnel', id: tunnel.id }]);
  expect(await server.engine.takeDirty()).toMatchObject({ clients: [{ connected: true }], tunnels: [{ id: tunnel.id, running: true }] });
  await agent.stop();
  await server.log.line(/agent disconnected/);
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  expect(events.slice(2)).toEqual([{ kind: 'client', id: CLIENT.id }, { kind: 'tunnel', id: tunnel.id }]);
  expect(await server.engine.takeDirty()).toMatchObject({ clients: [{ connected: false }], tunnels: [{ id: tunnel.id, running: false }] });
});

test('nothing is handed over of what was deleted meanwhile', async () => {
  const server = await startEngine();
  await startAgent(server);
  const { port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  await roundTrip(await visit(port), 'hello');
  await server.engine.apply({ kind: 'clientRemoved', id: CLIENT.id });
  expect(await server.engine.takeDirty()).toEqual({ clients: [], tunnels: [], hosts: [] });
});
