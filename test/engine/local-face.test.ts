import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { LocalFace } from '../../src/engine/local-face.ts';
import { visitorKeyOf } from '../../src/rules/vkey.ts';
import { covering } from '../support/certificates.ts';
import { testDatabases } from '../support/database.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { openSchemaOver } from '../support/schema.ts';
import { closed, occupyPort, refusal, roundTrip, startEcho, visit } from '../support/target.ts';
import { startAgent, startEngine } from '../support/tunnel.ts';

const databases = testDatabases('sqlite');
const vkey = 'the key of the agent';
const addClient = `mutation { createClient(input: { verifyKey: "${vkey}", allowlistPassword: "open the door" }) { id } }`;
const addTunnel = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id port runtime { running } } }';
const record = z.object({ id: z.number(), port: z.number(), runtime: z.object({ running: z.boolean() }) });

/** The schema over a real engine that answers late and by clones, with an agent and a client. */
async function start() {
  const server = await startEngine({ stored: { clients: [] } });
  const api = await openSchemaOver(new LocalFace(server.engine), databases);
  await api.ok(addClient);
  await startAgent(server, { vkey });
  const echo = await startEcho();
  const open = async (input: object) => record.parse(await api.record(addTunnel, { input: { clientId: 1, targets: [echo.address], ...input } }));
  return { ...server, api, open };
}

test('the schema works over a real engine of which only plain data comes, and late', async () => {
  const { api, open } = await start();
  const events = api.services.live.states({ kind: 'admin' }, 'tunnel');
  const { id, port, runtime } = await open({ mode: 'TCP', serverIp: '127.0.0.1' });
  expect(runtime).toEqual({ running: true });
  expect((await events.next()).value).toMatchObject({ kind: 'tunnel', id });
  await events.return?.();
  const visitor = await visit(port);
  await roundTrip(visitor, 'hello');
  const ticks = api.services.live.everySecond({ kind: 'admin' }, async () => (await api.services.engine.clientStates([1]))[0]);
  expect((await ticks.next()).value).toMatchObject({ connected: true, connections: 1, inletBytes: 5 });
  await ticks.return?.();

  expect(
    await api.ok(`{
    clients { rows { id runtime { connected connections inletBytes version refusals { cause } } } }
    tunnels { rows { id runtime { running connections visitors { address } health { type } } } }
    connections(clientId: 1) { total rows { id port tunnel { id } } }
    diagnoseTunnel(id: ${id}, probe: true) { stoppedBy { name } probes { reached } }
  }`),
  ).toEqual({
    clients: { rows: [{ id: 1, runtime: { connected: true, connections: 1, inletBytes: 5, version: '0.0.1', refusals: [] } }] },
    tunnels: { rows: [{ id, runtime: { running: true, connections: 1, visitors: [], health: null } }] },
    connections: { total: 1, rows: [{ id: expect.any(Number), port: visitor.localPort, tunnel: { id } }] },
    diagnoseTunnel: { stoppedBy: null, probes: [{ reached: true }] },
  });
  const { rows: [connection] } = await api.services.engine.connections(1, { offset: 0, limit: 1 });
  await api.ok(`mutation { closeConnection(clientId: 1, id: ${connection?.id}) }`);
  await closed(visitor);
  expect(await api.services.engine.traffic()).toMatchObject({ connections: 0, inletBytes: 5 });
});

test('a lease is a number and a port: taken over, released, and refused in words', async () => {
  const { engine, api, open } = await start();
  const face = api.services.engine;
  const lease = await face.reservePort({ mode: 'tcp', port: 0, serverIp: '127.0.0.1' });
  expect(lease).toEqual({ id: expect.any(Number), port: expect.any(Number) });
  if ('unavailable' in lease) throw new Error(lease.unavailable);
  await face.releasePort(lease.id);
  expect(await refusal(lease.port)).toBe('ECONNREFUSED');

  const { id, port } = await open({ mode: 'TCP', serverIp: '127.0.0.1' });
  const occupied = await occupyPort();
  expect(await api.code('mutation ($id: ID!, $port: Port!) { updateTunnel(id: $id, input: { port: $port }) { id } }', { id, port: occupied.port })).toBe(
    'PORT_UNAVAILABLE',
  );
  expect(api.logged).toContainEqual(expect.objectContaining({ reason: `port ${occupied.port} is occupied` }));
  await api.ok('mutation ($id: ID!) { stopTunnel(id: $id) { id } }', { id });
  await api.ok('mutation ($id: ID!) { startTunnel(id: $id) { id } }', { id });
  expect(await roundTrip(await visit(port), 'back')).toBe('back');

  const unused = await face.reservePort({ mode: 'tcp', port: 0, serverIp: '127.0.0.1' });
  if ('unavailable' in unused) throw new Error(unused.unavailable);
  await engine.close();
  expect(await refusal(unused.port)).toBe('ECONNREFUSED');
});

test('visitors, certificates and counted refusals come as plain data, too', async () => {
  const { engine, api, open } = await start();
  const face = api.services.engine;
  const keyDigest = visitorKeyOf(vkey);
  const allow = `mutation ($password: String!) { allowVisitor(keyDigest: "${keyDigest}", password: $password, address: "192.0.2.1") }`;
  expect(await api.ok(allow, { password: 'guess' })).toEqual({ allowVisitor: 'WRONG_PASSWORD' });
  expect(await api.ok(allow, { password: 'open the door' })).toEqual({ allowVisitor: 'ALLOWED' });
  expect(await Promise.all([face.isAllowedByPassword(1, '192.0.2.1'), face.isAllowedByPassword(1, '192.0.2.2')])).toEqual([true, false]);

  const input = { clientId: 1, host: 'a.p.example.com', targets: ['80'], certificate: covering.certificate, privateKey: covering.key };
  await api.ok('mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }', { input });
  // It has not been looked at yet, and answers for other paths of its name, which is not so for names without one and for http.
  for (const other of [{ location: '/b' }, { location: '/c', scheme: 'HTTP' }, { host: 'b.p.example.com' }]) {
    await api.ok('mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }', {
      input: { clientId: 1, host: 'a.p.example.com', targets: ['80'], ...other },
    });
  }
  const { validTo } = new X509Certificate(covering.certificate);
  expect(await face.listedCertificates()).toEqual([1, 2].map((id) => ({ id, status: 'valid', until: Date.parse(validTo) })));
  const named = await face.troubles();
  // The second host's certificate is that of the first; the last has none.
  expect(named).toEqual({ certificates: [], unhealthyTunnels: [], unhealthyHosts: [] });
  await api.ok('mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }', { input: { ...input, host: 'uncovered.example.com' } });
  await face.hostCertificates([{ id: 5 }]);
  expect((await face.troubles()).certificates).toEqual([{ id: 5, clientId: 1, status: 'notCovered' }]);
  await api.ok('mutation { stopHost(id: 5) { id } }');
  expect((await face.troubles()).certificates).toEqual([]);
  expect(await face.retryAcme(1)).toEqual({ kind: 'notFailed' });
  expect(await face.hostCertificates([{ id: 1 }, { id: 9 }])).toEqual([
    expect.objectContaining({ inUse: expect.objectContaining({ validTo: expect.any(Date) }) }),
    undefined,
  ]);
  expect(await face.clientStates([9, 1])).toEqual([undefined, expect.objectContaining({ connected: true })]);
  expect(await face.hostStates([9, 1])).toEqual([undefined, expect.objectContaining({ running: true })]);

  const { id, port } = await open({ mode: 'TCP', serverIp: '127.0.0.1', targets: [] });
  const [before] = await face.tunnelStates([id]);
  await refusal(port);
  const [after] = await eventuallyAsync(() => face.tunnelStates([id]), ([state]) => state?.refusals.noTarget === 1);
  expect([before?.refusals, after?.refusals]).toEqual([{}, { noTarget: 1 }]);

  const local = new LocalFace(engine);
  const batch = structuredClone(await local.takeDirty());
  expect(batch.tunnels).toContainEqual(expect.objectContaining({ id, running: true }));
  await local.restoreDirty(batch);
  expect(await local.takeDirty()).toMatchObject({ tunnels: batch.tunnels });
  expect(structuredClone(await local.numbers())).toMatchObject({ counts: { sessions: 1 }, refusals: { noTarget: 1 } });
});
