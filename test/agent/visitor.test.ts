import { once } from 'node:events';
import net from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { runVisitor, Visitor } from '../../src/agent/visitor.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { HALF_CLOSED_MS, type ListenOptions } from '../../src/wire/socket.ts';
import { endChildren } from '../support/child.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { startVisitorProcess } from '../support/processes.ts';
import { closed, occupyPort, refusedPort, roundTrip, startEcho, visit, visitUntilClosed } from '../support/target.ts';
import { openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { launchVisitor } from '../support/visitor.ts';

afterEach(endChildren);

const password = 'a password of many words';

test('it prints one line for each change of state, and finds a server that comes back', async () => {
  const port = await refusedPort();
  const visitor = await launchVisitor({ bridge: { host: '127.0.0.1', port } }, { password, random: () => 0.02 });
  await visitor.log.line(/^cannot connect/);
  await visitUntilClosed(visitor.port);
  const server = await startEngine({ bridgePort: port });
  const tunnel = await openTunnel(server, { mode: 'secret', password, targets: [(await startEcho()).address] });
  await startAgent(server);
  await visitor.log.line(/^connected to/);
  expect(await roundTrip(await visit(visitor.port), 'hello')).toBe('hello');
  await server.engine.close();
  await visitor.log.line(/^connection to .* lost/);
  const lines = visitor.log.entries.filter(({ level }) => level >= 30).map(({ msg }) => msg);
  expect(lines[0]).toBe(`listening on 127.0.0.1:${visitor.port}`);
  expect(lines).toContain(`connected to 127.0.0.1:${port} as visitor of tunnel ${tunnel.id}`);
  expect(lines).toContain(`connection to 127.0.0.1:${port} lost: the server is shutting down; trying again in 0.0 s`);
});

/** A visitor whose server is not there. */
function optionsFor(host: string, port: number) {
  return { servers: [{ host: '127.0.0.1', port: 1 }], type: 'secret', password, listen: { host, port }, log: new LogRecorder().logger, version: '1' } as const;
}

test('its local port has the address, and the time for half-closed connections, that it was given', async () => {
  const opened: unknown[] = [];
  const listen = async ({ host, port, halfClosedMs }: ListenOptions) => {
    opened.push([host, port, halfClosedMs]);
    return { host, port, close: async () => undefined, renew: () => undefined };
  };
  const options = { ...optionsFor('192.0.2.1', 7), sockets: { ...netBackend, listen } };
  for (const halfClosedMs of [undefined, 5]) expect(await new Visitor({ ...options, halfClosedMs }).listen()).toEqual({ host: '192.0.2.1', port: 7 });
  expect(opened.splice(0)).toEqual([['192.0.2.1', 7, HALF_CLOSED_MS], ['192.0.2.1', 7, 5]]);
});

test('a local port that is taken stops the start', async () => {
  const { port } = await occupyPort();
  await expect(runVisitor(optionsFor('127.0.0.1', port))).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('SIGTERM stops the program gracefully, over TLS, too: an open connection may finish, in the time that one has whose target does not end it, and no new one is accepted', async () => {
  const server = await startEngine();
  await startAgent(server);
  const target = net.createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket, { end: false }).on('error', () => {})).listen(0, '127.0.0.1');
  await once(target, 'listening');
  await openTunnel(server, { mode: 'secret', password, targets: [`127.0.0.1:${(target.address() as net.AddressInfo).port}`] });
  const { port, fingerprint } = server.bridge.tls;
  const environment = { ADIT_HALF_CLOSED_SECONDS: '4', ADIT_LOG_FORMAT: 'json' };
  const visitor = await startVisitorProcess({ bridgePort: port }, 'secret', password, environment, 0, ['--tls-fingerprint', fingerprint]);
  const socket = await visit(visitor.port);
  expect(await roundTrip(socket, 'hello')).toBe('hello');
  visitor.child.kill('SIGTERM');
  await server.log.line(/the visitor opens no new connections/);
  await expect(visit(visitor.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(await roundTrip(socket, 'still served')).toBe('still served');
  const began = performance.now();
  socket.end();
  await closed(socket);
  expect(performance.now() - began).toBeGreaterThan(3900);
  target.close();
  expect(await visitor.child.exited).toEqual({ code: 0, signal: null });
  expect(visitor.child.output).not.toContain(password);
  const lines: unknown[] = visitor.child.output.trim().split('\n').map((line) => JSON.parse(line));
  expect(lines).toContainEqual(expect.objectContaining({ msg: expect.stringMatching(/^connected to .* over TLS$/) }));
});
