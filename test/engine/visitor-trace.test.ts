import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, test } from '@jest/globals';
import pino from 'pino';
import { VisitorTrace } from '../../src/engine/limits/visitor-trace.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { readAll, refusedPort, startTarget, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { udpEcho, udpPeer } from '../support/udp.ts';
import { hostOf } from '../support/vhost.ts';

/** What the trace says of one visitor, in order. */
const wayOf = ({ entries }: LogRecorder, visitor: unknown) => entries.filter((entry) => entry['visitor'] === visitor).map(({ msg }) => msg);

async function traced() {
  const trace = new LogRecorder();
  const server = await startEngine({ visitorLog: trace.logger });
  return { trace, server };
}

/** A web target that answers every request. */
async function startWeb(): Promise<string> {
  const server = http.createServer((_, response) => response.end('found')).listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a visitor of a tcp tunnel is followed by its number from accept to close, and the agent names the same stream', async () => {
  const { trace, server } = await traced();
  const agent = await startAgent(server);
  const target = await startTarget(async (socket) => {
    socket.end(`got ${String(await readAll(socket))}`);
  });
  const { port, id } = await openTunnel(server, { targets: [target.address] });
  const socket = await visit(port);
  const ownPort = socket.localPort;
  socket.end('question');
  expect(String(await readAll(socket))).toBe('got question');
  const closed = await trace.line(/^closed$/);
  const { visitor } = closed;
  expect(visitor).toBe(1);
  expect(wayOf(trace, visitor)).toEqual(['accepted', 'admitted', 'opened', 'closed']);
  const [accepted, admitted, opened] = trace.entries;
  expect(accepted).toMatchObject({ tunnelId: id, type: 'tcp', address: '127.0.0.1', port: ownPort });
  expect(admitted).toMatchObject({ clientId: CLIENT.id });
  expect(opened).toMatchObject({ connection: closed['connection'], clientId: CLIENT.id, stream: expect.any(Number) });
  expect(closed).toMatchObject({ inletBytes: 8, exportBytes: 12, reason: 'both sides have ended' });
  expect(await agent.log.line(/^target dialed$/)).toMatchObject({ stream: opened?.['stream'], by: `tunnel ${id}`, kind: 'tcp', targets: [target.address] });
});

test('a visitor that is refused is followed up to the cause, and one whose target does not answer up to the reset', async () => {
  const { trace, server } = await traced();
  const { port, id } = await openTunnel(server, { targets: [`127.0.0.1:${await refusedPort()}`] });
  await visitUntilClosed(port);
  expect(await trace.line(/^refused$/)).toMatchObject({ visitor: 1, tunnelId: id, cause: 'offline' });
  expect(wayOf(trace, 1)).toEqual(['accepted', 'refused']);
  const agent = await startAgent(server);
  await visitUntilClosed(port);
  expect(await trace.line(/^closed$/)).toMatchObject({ visitor: 2, inletBytes: 0, reason: 'the peer reset the stream' });
  expect(wayOf(trace, 2)).toEqual(['accepted', 'admitted', 'opened', 'closed']);
  expect(await agent.log.line(/^no target answered$/)).toMatchObject({ by: `tunnel ${id}` });
});

test('a visitor of a host is followed through all requests of its connection', async () => {
  const { trace, server } = await traced();
  await startAgent(server);
  const { httpPort, httpsPort } = await server.engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  const host = hostOf({ id: 77, targets: [await startWeb()] });
  await server.engine.apply({ kind: 'host', host });
  const keepAlive = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (name: string): Promise<number | undefined> => {
    const request = http.get({ host: '127.0.0.1', port: httpPort, agent: keepAlive, headers: { host: name } });
    const [response] = await once(request, 'response') as [http.IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  };
  expect([await ask(host.host), await ask(host.host), await ask('unknown.test')]).toEqual([200, 200, 404]);
  keepAlive.destroy();
  await Promise.all([trace.line(/^closed$/), trace.line(/^visitor gone$/)]);
  const { visitor } = await trace.line(/^visitor gone$/);
  expect(trace.entries.filter((entry) => entry['visitor'] !== visitor)).toEqual([]);
  // The connection to the target is kept for the second request.
  expect(wayOf(trace, visitor).slice(0, 6)).toEqual(['accepted', 'opened', 'admitted', 'target dialed', 'admitted', 'refused']);
  expect(wayOf(trace, visitor).slice(6).toSorted()).toEqual(['closed', 'visitor gone']);
  expect(await trace.line(/^accepted$/)).toMatchObject({ scheme: 'http', address: '127.0.0.1' });
  expect(await trace.line(/^admitted$/)).toMatchObject({ hostId: host.id, clientId: CLIENT.id, method: 'GET' });
  expect(await trace.line(/^target dialed$/)).toMatchObject({ result: 'connected' });
  expect(await trace.line(/^opened$/)).toMatchObject({ clientId: CLIENT.id, connection: expect.any(Number), stream: expect.any(Number) });
  expect(await trace.line(/^closed$/)).toMatchObject({ inletBytes: expect.any(Number), exportBytes: expect.any(Number), reason: expect.any(String) });
  expect(await trace.line(/^refused$/)).toMatchObject({ cause: 'noRoute', reason: expect.any(String) });
  const count = trace.entries.length;
  const tls = await visit(httpsPort);
  tls.destroy();
  expect(await trace.line(/^accepted$/, count)).toMatchObject({ scheme: 'https', address: '127.0.0.1', port: expect.any(Number) });
  connectTls({ host: '127.0.0.1', port: httpsPort, servername: 'unknown.test' }).on('error', () => undefined);
  const { visitor: other, cause } = await trace.line(/^refused$/, count);
  expect([cause, other]).toEqual(['no host has the name in the TLS handshake', Number(visitor) + 2]);
  expect(wayOf(trace, other).slice(0, 2)).toEqual(['accepted', 'refused']);
});

test('visitors of UDP and of proxies are followed, too', async () => {
  const { trace, server } = await traced();
  await startAgent(server);
  const udp = await openTunnel(server, { mode: 'udp', targets: [(await udpEcho()).address] });
  expect(String(await (await udpPeer()).ask('ping', udp.port))).toBe('ping');
  expect(wayOf(trace, 1)).toEqual(['accepted', 'admitted', 'opened']);
  expect(trace.entries[0]).toMatchObject({ by: `tunnel ${udp.id}`, type: 'udp', address: '127.0.0.1', port: expect.any(Number) });
  const proxy = await openTunnel(server, { mode: 'httpProxy' });
  const target = await startWeb();
  const request = http.get({ host: '127.0.0.1', port: proxy.port, path: `http://${target}/`, agent: false });
  const [response] = await once(request, 'response') as [http.IncomingMessage];
  response.resume();
  await trace.line(/^closed$/);
  expect(wayOf(trace, 2)).toEqual(['accepted', 'admitted', 'admitted', 'opened', 'closed']);
});

test('nobody is followed, and nothing is prepared, unless the log takes level debug', () => {
  expect(VisitorTrace.of(undefined)).toBeUndefined();
  expect(VisitorTrace.of(pino({ level: 'info' }))).toBeUndefined();
  expect(VisitorTrace.of(pino({ level: 'info' }).child({ module: 'visitors' }, { level: 'debug' }))).toBeInstanceOf(VisitorTrace);
});
