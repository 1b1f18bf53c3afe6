import { expect, test } from '@jest/globals';
import type { EngineEvent } from '../../src/engine/face.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { CLIENT, fresh, openTunnel, startAgent, startEngine, tunnelOf } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

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

test('each kind of record has its own totals, in the batch, after a reset, and again after the batch was not stored', async () => {
  const bytes = (inletBytes: number, exportBytes: number) => ({ inletBytes, exportBytes });
  const host = hostOf({ id: 7 });
  const { engine } = await startEngine({
    node: undefined, // of two servers, the other one could be the home, which alone counts
    stored: {
      clients: [{ ...CLIENT, id: 7, ...bytes(100, 200) }],
      tunnels: [{ ...tunnelOf({ id: 7, clientId: 7, enabled: false }), ...bytes(300, 400) }],
      hosts: [{ ...host, clientId: 7, ...bytes(500, 600) }],
    },
  });
  const takes = async () => {
    const { clients, tunnels, hosts } = await engine.takeDirty();
    return [clients, tunnels, hosts].map((records) => records.map(({ id, inletBytes, exportBytes }) => `${id}: ${inletBytes} ${exportBytes}`).join());
  };
  expect(await takes()).toEqual(['', '', '']);
  for (const [index, of] of (['client', 'tunnel', 'host'] as const).entries()) {
    await engine.apply({ kind: 'trafficReset', of, id: 7, ...bytes(10 + index, 20 + index) });
  }
  const all = ['7: 90 180', '7: 289 379', '7: 488 578'];
  expect(await takes()).toEqual(all);
  expect(await takes()).toEqual(['', '', '']);
  for (const [index, kind] of (['client', 'tunnel', 'host'] as const).entries()) {
    await engine.apply({ kind: 'trafficReset', of: kind, id: 8, ...bytes(index, 0) });
  }
  expect(await takes()).toEqual(['', '', '']);
  await engine.apply({ kind: 'trafficReset', of: 'host', id: 7, ...bytes(0, 0) });
  const batch = await engine.takeDirty();
  expect([batch.clients, batch.tunnels, batch.hosts].map(({ length }) => length)).toEqual([0, 0, 1]);
  engine.restoreDirty(batch);
  expect(await takes()).toEqual(['', '', all[2]]);
  expect(engine.wanted()).toEqual({ clients: [7], tunnels: [7], hosts: [7] });
});
