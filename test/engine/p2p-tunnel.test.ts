import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { StunServer } from '../../src/engine/stun-server.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { stunMapped, stunRequest } from '../../src/wire/stun.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { freePortRange } from '../support/free-port.ts';
import { describeWithIpv6 } from '../support/programs.ts';
import {
  closed,
  occupyPort,
  readAll,
  refusal,
  refusedPort,
  roundTrip,
  startEcho,
  startTarget,
  type Target,
  visit,
  visitUntilClosed,
} from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { startVisitor } from '../support/visitor.ts';

const password = 'a password of many words';

/** A server, its agent, a p2p tunnel and a visitor, all on this machine. Whether a direct path opens depends on its addresses. */
async function visiting(target?: Target) {
  const server = await startEngine();
  const agent = await startAgent(server);
  const tunnel = await openTunnel(server, { mode: 'p2p', password, targets: [(target ?? await startEcho()).address] });
  // What an attempt sends would count, too.
  const visitor = await startVisitor(server, { password, type: 'p2p', directRetry: { first: 600_000, longest: 600_000 } });
  await visitor.log.line(/direct path/);
  return { server, agent, tunnel, visitor };
}

test('connections go to the target, and the path that they take is shown', async () => {
  const { server, agent, tunnel, visitor } = await visiting();
  const direct = visitor.log.entries.some(({ msg }) => msg.startsWith('direct path to'));
  expect(await roundTrip(await visit(visitor.port), 'hello')).toBe('hello');
  const { visitors } = await eventually(
    () => server.engine.tunnelState(tunnel.id) ?? { visitors: [] },
    (state) => (state.visitors[0]?.path === 'direct') === direct,
  );
  expect(visitors).toEqual([{ address: '127.0.0.1', since: expect.any(Number), path: direct ? 'direct' : 'relay' }]);
  expect(visitor.visitor.path).toBe(direct ? 'direct' : 'relay');
  await agent.agent.stop();
  await eventually(() => server.engine.tunnelState(tunnel.id)?.visitors[0]?.path, (path) => path === 'relay');
  expect(visitor.visitor.path).toBe('relay');
});

test('each byte counts once in its direction, whatever the path, however often the agent reports, and the last ones when the path ends', async () => {
  const target = await startTarget((socket) => socket.on('data', ({ length }) => socket.write(Buffer.alloc(7 * length))).on('end', () => socket.end()));
  const { server, tunnel, visitor } = await visiting(target);
  const counted = () => server.engine.tunnelState(tunnel.id) ?? { inletBytes: 0, exportBytes: 0 };
  const before = counted();
  const socket = await visit(visitor.port);
  socket.resume();
  const expectBytes = async (inlet: number) => {
    const [inletBytes, exportBytes] = [before.inletBytes + inlet, before.exportBytes + 7 * inlet];
    expect(await eventually(counted, (now) => now.inletBytes >= inletBytes && now.exportBytes >= exportBytes)).toMatchObject({ inletBytes, exportBytes });
  };
  for (const inlet of [30, 80]) {
    socket.write(Buffer.alloc(inlet === 30 ? 30 : 50));
    await expectBytes(inlet);
  }
  socket.end(Buffer.alloc(11));
  await closed(socket);
  await visitor.visitor.stop();
  await expectBytes(91);
});

test('the targets are used in round-robin order, and a connection ends when none answers, whatever the path', async () => {
  const [one, two] = [await startTarget((socket) => socket.end('one')), await startTarget((socket) => socket.end('two'))];
  const { server, agent, tunnel, visitor } = await visiting(one);
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: [one.address, two.address] } });
  const ask = async () => String(await readAll(await visit(visitor.port)));
  while (await ask() !== 'two');
  expect([await ask(), await ask(), await ask()]).toEqual(['one', 'two', 'one']);
  const lost = await refusedPort();
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: [`127.0.0.1:${lost}`] } });
  while (!agent.log.entries.some(({ msg }) => msg.startsWith('no target responds'))) await visitUntilClosed(visitor.port);
});

test('another target holds from the next connection on, and so does having none, whatever the path', async () => {
  const { server, agent, tunnel, visitor } = await visiting();
  const socket = await visit(visitor.port);
  await roundTrip(socket, 'x');
  const beside = await openTunnel(server, { mode: 'p2p', password: 'another one', targets: [(await startEcho()).address] });
  const neighbor = await startVisitor(server, { password: beside.password, type: 'p2p', directRetry: { first: 600_000, longest: 600_000 } });
  await neighbor.log.line(/direct path/);
  const other = await startTarget((socket) => socket.end('other'));
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: [other.address] } });
  await eventually(() => other.connections.length, (count) => {
    if (count === 0) void visit(visitor.port);
    return count > 0;
  });
  expect((await readAll(await visit(visitor.port))).toString()).toBe('other');
  expect(await roundTrip(socket, 'still')).toBe('still');
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: [] } });
  const refused = () =>
    agent.log.entries.some(({ msg }) => msg === 'no target responds: the list is empty') || server.engine.tunnelState(tunnel.id)?.refusals.noTarget;
  while (!refused()) await visitUntilClosed(visitor.port);
  expect(await roundTrip(socket, 'still')).toBe('still');
  expect(await roundTrip(await visit(neighbor.port), 'as before')).toBe('as before');
});

test.each([
  ['the tunnel is stopped', { enabled: false }],
  ['the password changes', { password: 'another' }],
])('when %s every path ends, with its connections', async (_, change) => {
  const { server, tunnel, visitor } = await visiting();
  const socket = await visit(visitor.port);
  await roundTrip(socket, 'x');
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, ...change } });
  await closed(socket);
  await visitUntilClosed(visitor.port);
  expect(server.engine.tunnelState(tunnel.id)?.visitors).toEqual([]);
});

test('a client that is disabled loses its visitors on every path', async () => {
  const { server, visitor } = await visiting();
  const socket = await visit(visitor.port);
  await roundTrip(socket, 'x');
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await closed(socket);
  await eventually(() => server.engine.counts.visits, (visits) => visits === 0);
  expect(server.engine.clientState(CLIENT.id)?.connections).toBe(0);
});

test.each(['visitor', 'agent'] as const)('a program (%s) that is stopped lets open connections end, on every path', async (who) => {
  const { server, agent, visitor } = await visiting();
  const socket = await visit(visitor.port);
  await roundTrip(socket, 'x');
  const stopped = who === 'visitor' ? visitor.visitor.stop() : agent.agent.stop();
  expect(await roundTrip(socket, 'still')).toBe('still');
  socket.end();
  await stopped;
  await eventually(() => server.engine.counts[who === 'visitor' ? 'visits' : 'sessions'], (count) => count === 0);
});

test('when the server is drained, a direct path ends with its last connection, and then the STUN ports are closed', async () => {
  const { ports } = StunServer.prototype;
  let stunPorts: readonly number[] = [];
  const spy = jest.spyOn(StunServer.prototype, 'ports').mockImplementation(async function(this: StunServer) {
    return stunPorts = await ports.call(this);
  });
  const { server, agent, visitor } = await visiting();
  spy.mockRestore();
  expect(await refusal(stunPorts[0] ?? 0)).toBe('');
  const direct = visitor.log.entries.some(({ msg }) => msg.startsWith('direct path to'));
  const socket = await visit(visitor.port);
  await roundTrip(socket, 'x');
  const drained = server.engine.drain(60_000);
  await visitor.log.line(/shutting down/);
  expect(await roundTrip(socket, 'still')).toBe('still');
  socket.end();
  if (direct) await agent.log.line(/^direct path with a visitor of tunnel \d+ ended: /);
  expect(await drained).toBe(0);
  expect(await refusal(stunPorts[0] ?? 0)).toBe('ECONNREFUSED');
});

/** A STUN server on ports of its own. */
async function stunServer(port = 0, host = '127.0.0.1'): Promise<{ stunServer: StunServer; ports: readonly number[] }> {
  const stunServer = new StunServer({ sockets: netBackend, log: pino({ level: 'silent' }), host, port });
  return { stunServer, ports: await stunServer.ports() };
}

test("the STUN server returns the client's address, over UDP and TCP, and ignores short or malformed requests", async () => {
  const { stunServer: service, ports } = await stunServer();
  expect(ports).toHaveLength(2);
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const own = { host: '127.0.0.1', port: socket.address().port };
  const request = stunRequest();
  const nonsense = [Buffer.alloc(0), Buffer.alloc(1400, 1), request.subarray(0, 20), Buffer.concat([request, Buffer.alloc(4)])];
  for (const message of nonsense) socket.send(message, ports[0] ?? 0, '127.0.0.1');
  for (const port of ports) {
    socket.send(request, port, '127.0.0.1');
    const [answer]: Buffer[] = await once(socket, 'message');
    expect(stunMapped(answer ?? Buffer.alloc(0), request)).toEqual(own);
    expect(answer?.length).toBeLessThanOrEqual(request.length);
    expect(stunMapped(answer ?? Buffer.alloc(0), stunRequest())).toBeUndefined();
  }
  socket.close();

  const tcp = net.connect(ports[0] ?? 0, '127.0.0.1');
  await once(tcp, 'connect');
  tcp.write(request);
  const [answer]: Buffer[] = await once(tcp, 'data');
  expect(stunMapped(answer ?? Buffer.alloc(0), request)).toEqual({ host: '127.0.0.1', port: tcp.localPort });
  await service.close();
  await closed(tcp);
});

describeWithIpv6('a STUN server on all addresses', () => {
  test('returns an IPv4 address as such', async () => {
    const { stunServer: service, ports } = await stunServer(0, '');
    const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const request = stunRequest();
    socket.send(request, ports[1] ?? 0, '127.0.0.1');
    const [answer]: Buffer[] = await once(socket, 'message');
    expect(stunMapped(answer ?? Buffer.alloc(0), request)).toEqual({ host: '127.0.0.1', port: socket.address().port });
    socket.close();
    await service.close();
  });
});

test('one address has a share of the STUN server over TCP, and gets it back', async () => {
  const { stunServer: service, ports } = await stunServer();
  /** Whether an address is answered. */
  const answered = (localAddress: string) =>
    new Promise<boolean>((resolve) => {
      const socket = net.connect({ port: ports[0] ?? 0, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined).on('close', () => resolve(false)).on('data', () => {
        resolve(true);
        socket.destroy();
      });
      socket.write(stunRequest());
    });
  const silent = await Promise.all(Array.from({ length: 32 }, () => visit(ports[0] ?? 0)));
  await eventuallyAsync(() => answered('127.0.0.1'), (is) => !is);
  expect(await answered('127.0.0.2')).toBe(true);
  for (const socket of silent) socket.destroy();
  await eventuallyAsync(() => answered('127.0.0.1'), (is) => is);
  await service.close();
});

test('the STUN ports are closed until a visitor program requests a path', async () => {
  const port = await freePortRange(2);
  const server = await startEngine({ p2pPort: port });
  await startAgent(server);
  await openTunnel(server, { mode: 'p2p', password, targets: [(await startEcho()).address] });
  expect(await refusal(port)).toBe('ECONNREFUSED');
  const { log } = await startVisitor(server, { password, type: 'p2p' });
  await log.line(/direct path/);
  expect(await refusal(port)).toBe('');
});

test('a STUN port that is taken costs the direct paths, and nothing else', async () => {
  const { port, release } = await occupyPort();
  const { stunServer: service, ports } = await stunServer(port);
  expect(ports).toEqual([]);
  await release();
  expect(await service.ports()).toHaveLength(2);
  await service.close();

  const taken = await occupyPort();
  const server = await startEngine({ p2pPort: taken.port });
  await startAgent(server);
  await openTunnel(server, { mode: 'p2p', password, targets: [(await startEcho()).address] });
  const visitor = await startVisitor(server, { password, type: 'p2p' });
  expect((await visitor.log.line(/no direct path/)).msg).toMatch(/the server's p2p port is not open/);
  expect(await roundTrip(await visit(visitor.port), 'relayed')).toBe('relayed');
});

test('an attempt that failed is made again after the first wait, then after twice as long each time, up to the longest', async () => {
  const server = await startEngine({ p2pPort: (await occupyPort()).port });
  await startAgent(server);
  await openTunnel(server, { mode: 'p2p', password, targets: [(await startEcho()).address] });
  const { log } = await startVisitor(server, { password, type: 'p2p', directRetry: { first: 100, longest: 400 } });
  const attempts = () => log.entries.filter(({ msg }) => msg.startsWith('no direct path')).map(({ time }) => Number(time));
  const times = await eventually(attempts, (list) => list.length >= 6);
  const waits = times.slice(1, 6).map((time, index) => time - (times[index] ?? 0));
  for (const [index, least] of [100, 200, 400, 400, 400].entries()) expect(waits[index]).toBeGreaterThanOrEqual(least - 2); // clocks of whole ms
  // Said once: it goes on like that for ever.
  expect(log.entries.filter(({ msg, level }) => msg.startsWith('no direct path') && level >= 30)).toHaveLength(1);
});
