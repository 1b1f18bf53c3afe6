import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WantedClient } from '../../../src/engine/face.ts';
import type { HealthMessage } from '../../../src/wire/health.ts';
import { covering } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { applyEverywhere, startNodes, type TestNode } from '../../support/nodes.ts';
import { CLIENT, startAgent } from '../../support/tunnel.ts';
import { hostOf } from '../../support/vhost.ts';

const body = Buffer.alloc(3 * 1024 * 1024, 'what the target sends ');
const digest = createHash('sha256').update(body).digest('hex');
/** The heads of the requests that the target got. */
const heads: http.IncomingHttpHeaders[] = [];
let target: http.Server;
let address = '';

beforeAll(async () => {
  target = http.createServer((request, response) => {
    heads.push(request.headers);
    if (request.method === 'POST') request.pipe(response);
    else response.end(body);
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const bound = target.address();
  address = `127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`;
});
afterAll(() => {
  target.closeAllConnections();
  target.close();
});

async function serving() {
  const nodes = await startNodes(['home', 'entry']);
  const [home, entry] = nodes;
  if (!home || !entry) throw new Error('there are two nodes');
  await startAgent(home);
  const host = hostOf({ targets: [address], certificate: covering.certificate, privateKey: covering.key });
  await applyEverywhere(nodes, { kind: 'host', host });
  const ports = await entry.engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  await eventually(() => entry.engine.nodes?.linkTo(CLIENT.id), (link) => link !== undefined);
  return { home, entry, host, ...ports };
}

async function get(port: number, { method = 'GET', sent = '' } = {}): Promise<{ readonly status: number; readonly body: Buffer }> {
  const request = http.request({ host: '127.0.0.1', port, method, headers: { host: 'example.test' }, agent: false });
  request.end(sent);
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
  });
  return { status: response.statusCode ?? 0, body: Buffer.concat(await response.toArray()) };
}

function setClient(nodes: readonly TestNode[], changes: Partial<WantedClient>): Promise<void> {
  return applyEverywhere(nodes, { kind: 'client', client: { ...CLIENT, ...changes } });
}

test('requests at another node reach the target, with the address of the visitor, and are counted at home', async () => {
  const { home, entry, host, httpPort } = await serving();
  expect(entry.engine.hostState(host.id)).toMatchObject({ running: true, error: '' });
  const got = await get(httpPort);
  expect([got.status, createHash('sha256').update(got.body).digest('hex')]).toEqual([200, digest]);
  expect(heads.at(-1)).toMatchObject({ 'x-forwarded-for': '127.0.0.1', host: 'example.test' });
  expect((await get(httpPort, { method: 'POST', sent: 'x'.repeat(300_000) })).body.length).toBe(300_000);
  await eventually(() => home.engine.hostState(host.id)?.exportBytes ?? 0, (bytes) => bytes > body.length + 300_000);
  expect(entry.engine.hostState(host.id)).toMatchObject({ inletBytes: 0, exportBytes: 0 });
});

test('HTTPS and HTTP/2 end at the node that the visitor comes to', async () => {
  const { httpsPort } = await serving();
  const session = http2.connect(`https://127.0.0.1:${httpsPort}`, { servername: 'example.test', rejectUnauthorized: false });
  const stream = session.request({ ':path': '/', ':authority': 'example.test' });
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk instanceof Buffer ? chunk : String(chunk));
  session.close();
  expect(hash.digest('hex')).toBe(digest);
});

test('an upgraded connection goes both ways', async () => {
  const { httpPort } = await serving();
  target.once('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  const socket = net.connect(httpPort, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: example.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 101 /);
  socket.write('hello');
  expect(String((await once(socket, 'data'))[0])).toBe('hello');
  socket.destroy();
});

test('a visitor learns why the home refuses a request', async () => {
  const { home, entry, host, httpPort } = await serving();
  const nodes = [home, entry];
  expect((await get(httpPort)).status).toBe(200);
  await eventually(() => home.engine.hostState(host.id)?.connections, (open) => open === 0);
  await setClient(nodes, { flowLimit: 1 });
  const exhausted = await get(httpPort);
  expect([exhausted.status, String(exhausted.body)]).toEqual([503, expect.stringContaining('used up its traffic')]);
  expect(home.engine.hostState(host.id)?.refusals).toMatchObject({ flow: expect.any(Number) });
  // One of the servers counts it, not both.
  expect([...home.engine.takeRefusals(), ...entry.engine.takeRefusals()]).toEqual([
    { clientId: CLIENT.id, cause: 'flow', count: home.engine.hostState(host.id)?.refusals.flow },
  ]);
  await setClient(nodes, { maxConnections: 1 });
  const held = net.connect(httpPort, '127.0.0.1');
  held.write('POST / HTTP/1.1\r\nHost: example.test\r\nContent-Length: 10\r\n\r\n');
  await eventually(() => home.engine.hostState(host.id)?.connections, (open) => open === 1);
  const crowded = await get(httpPort);
  expect([crowded.status, String(crowded.body)]).toEqual([429, expect.stringContaining('Too many connections')]);
  held.destroy();
  await setClient(nodes, { blackIpList: '127.0.0.1' });
  expect((await get(httpPort)).status).toBe(403);
  await setClient(nodes, { enabled: false });
  expect((await get(httpPort)).status).toBe(503);
});

test('reports on health take targets out of rotation at every node', async () => {
  const { home, entry, host, httpPort } = await serving();
  const other = { ...host, targets: ['127.0.0.1:1', address] };
  await applyEverywhere([home, entry], { kind: 'host', host: other });
  const report: HealthMessage = {
    type: 'health',
    of: 'host',
    id: host.id,
    check: { type: 'tcp', intervalMs: 1000, timeoutMs: 1000, maxFailed: 1, path: '' },
    targets: [{ target: '127.0.0.1:1', healthy: false, failures: 3, ageMs: 0, error: 'refused' }],
  };
  home.engine.nodes?.health(CLIENT.id, report);
  await eventually(() => entry.engine.hostState(host.id)?.health?.targets, (targets) => targets?.[0]?.healthy === false);
  for (let request = 0; request < 4; request++) expect((await get(httpPort)).status).toBe(200);
});
