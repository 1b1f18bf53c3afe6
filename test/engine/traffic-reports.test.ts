import { expect, test } from '@jest/globals';
import { DIRECT_BYTES_PER_MS, DirectTraffic } from '../../src/engine/limits/direct-traffic.ts';
import { Frame } from '../../src/wire/frames.ts';
import { ASK_DIRECT } from '../../src/wire/visit-messages.ts';
import { eventually } from '../support/eventually.ts';
import { RawPeer } from '../support/raw-peer.ts';
import { CLIENT, fresh, openTunnel, startEngine, tunnelOf } from '../support/tunnel.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const OTHER = { ...CLIENT, id: 2, vkey: 'another-vkey' };

test('reports count for the p2p tunnels of that client alone, and only while a direct path is open', async () => {
  const theirs = tunnelOf({ mode: 'p2p', clientId: OTHER.id, password: 'the other password' });
  const server = await startEngine({ stored: { clients: [{ ...CLIENT, ...fresh }, { ...OTHER, ...fresh }], tunnels: [{ ...theirs, ...fresh }] } });
  const agent = await RawPeer.connect(server);
  const p2p = await openTunnel(server, { mode: 'p2p', password: 'a password of many words', targets: ['127.0.0.1:9'] });
  const others = [await openTunnel(server, {}), await openTunnel(server, { mode: 'secret', password: 'a secret of many words' }), theirs];
  for (const { id } of [p2p, ...others]) for (const bytes of [1000, MOST]) agent.control({ type: 'traffic', tunnelId: id, inlet: bytes, exported: bytes });
  const visitor = await RawPeer.connect(server, { role: 'visit', key: p2p.password, info: { type: 'p2p' } });
  visitor.frames((batch) => batch.frame(Frame.OPEN, 2, ASK_DIRECT));
  await eventually(() => server.engine.tunnelState(p2p.id)?.connections, (count) => count === 1);
  expect(server.engine.tunnelState(p2p.id)).toMatchObject({ inletBytes: 0, exportBytes: 0 });
  const opened = performance.now();
  agent.control({ type: 'traffic', tunnelId: p2p.id, inlet: 1000, exported: 7 });
  await eventually(() => server.engine.tunnelState(p2p.id)?.inletBytes, (bytes) => bytes === 1000);
  for (const { id } of [p2p, ...others]) for (let i = 0; i < 50; i++) agent.control({ type: 'traffic', tunnelId: id, inlet: MOST, exported: MOST });
  agent.control({ type: 'drain' });
  await server.log.line(/the agent takes no new connections/);
  // What a path of 10 Gbit/s could have carried since before it was opened.
  const most = (performance.now() - opened + 10_000) * DIRECT_BYTES_PER_MS;
  const state = server.engine.clientState(CLIENT.id);
  expect(state?.inletBytes).toBeLessThan(most);
  expect(state?.exportBytes).toBeLessThan(most);
  for (const { id } of others) expect(server.engine.tunnelState(id)).toMatchObject({ inletBytes: 0, exportBytes: 0 });
  expect(server.engine.clientState(OTHER.id)).toMatchObject({ inletBytes: 0, exportBytes: 0 });
});

test('a direct path is believed to carry what a fast network does while it is open, and a last report after its end', () => {
  let now = 0;
  const traffic = new DirectTraffic(() => now);
  const all = { inlet: MOST, exported: MOST };
  now = 1000;
  expect(traffic.believable(all)).toEqual({ inlet: 0, exported: 0 });
  traffic.opened();
  now = 3000;
  traffic.closed();
  now = 100_000;
  expect(traffic.believable({ inlet: 5, exported: 0 })).toEqual({ inlet: 5, exported: 0 });
  expect(traffic.believable(all)).toEqual({ inlet: 2000 * DIRECT_BYTES_PER_MS - 5, exported: 2000 * DIRECT_BYTES_PER_MS });
  expect(traffic.believable(all)).toEqual({ inlet: 0, exported: 0 });
  // Of a longer time, what it could have carried in a minute, and of two paths as much as of one.
  for (const [ms, counted] of [[59_999, 59_999], [60_000, 60_000], [60_001, 60_000]] as const) {
    traffic.opened();
    traffic.opened();
    now += ms;
    expect(traffic.believable(all)).toEqual({ inlet: counted * DIRECT_BYTES_PER_MS, exported: counted * DIRECT_BYTES_PER_MS });
    traffic.closed();
    traffic.closed();
  }
});

test('a counter that is full stays full, over all clients too', async () => {
  const full = { inletBytes: MOST - 3, exportBytes: 2 ** 60 };
  const p2p = tunnelOf({ mode: 'p2p', password: 'a password of many words', targets: ['127.0.0.1:9'] });
  const server = await startEngine({ stored: { clients: [{ ...CLIENT, ...full }, { ...OTHER, ...full }], tunnels: [{ ...p2p, ...full }] } });
  const agent = await RawPeer.connect(server);
  const visitor = await RawPeer.connect(server, { role: 'visit', key: p2p.password, info: { type: 'p2p' } });
  visitor.frames((batch) => batch.frame(Frame.OPEN, 2, ASK_DIRECT));
  await eventually(() => server.engine.tunnelState(p2p.id)?.connections, (count) => count === 1);
  agent.control({ type: 'traffic', tunnelId: p2p.id, inlet: 100, exported: 100 });
  await eventually(() => server.engine.tunnelState(p2p.id)?.inletBytes, (bytes) => bytes === MOST);
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ inletBytes: MOST, exportBytes: MOST });
  expect(server.engine.traffic()).toMatchObject({ inletBytes: MOST, exportBytes: MOST });
  expect((await server.engine.takeDirty()).tunnels).toMatchObject([{ inletBytes: MOST, exportBytes: MOST }]);
});

test('a direct path ends when what it has carried is more than the client may use, and counts for its tunnel and client', async () => {
  const p2p = tunnelOf({ mode: 'p2p', password: 'a password of many words', targets: ['127.0.0.1:9'] });
  const server = await startEngine({
    stored: { clients: [{ ...CLIENT, flowLimit: 500, ...fresh }], tunnels: [{ ...p2p, ...fresh }] },
    bridgeTiming: { heartbeatMs: 3_600_000 }, // nothing ends because its peer is silent
  });
  const agent = await RawPeer.connect(server);
  const visitor = await RawPeer.connect(server, { role: 'visit', key: p2p.password, info: { type: 'p2p' } });
  visitor.frames((batch) => batch.frame(Frame.OPEN, 2, ASK_DIRECT));
  const state = () => server.engine.tunnelState(p2p.id);
  await eventually(() => state()?.connections, (count) => count === 1);
  const report = (inlet: number, exported: number) => agent.control({ type: 'traffic', tunnelId: p2p.id, inlet, exported });
  report(300, 100);
  await eventually(() => state()?.inletBytes, (bytes) => bytes === 300);
  expect(state()?.connections).toBe(1);
  report(1, 100);
  await eventually(() => state()?.connections, (count) => count === 0);
  for (const now of [state(), server.engine.clientState(CLIENT.id)]) expect(now).toMatchObject({ inletBytes: 301, exportBytes: 200 });
});
