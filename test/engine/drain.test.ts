import { expect, test } from '@jest/globals';
import { closed, readAll, roundTrip, startEcho, visit } from '../support/target.ts';
import { CLIENT, launchAgent, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

test('open connections may finish, new ones are refused, the agent is notified', async () => {
  const server = await startEngine({ node: undefined });
  const { log } = await startAgent(server);
  const { port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  const visitor = await visit(port);
  await roundTrip(visitor, 'x');
  const drained = server.engine.drain(10_000);
  await log.line(/the server is shutting down/);
  await expect(visit(port)).rejects.toThrow('ECONNREFUSED');
  expect((await launchAgent(server).log.line(/^refused by/)).msg).toMatch(/the server is shutting down/);
  expect(await roundTrip(visitor, 'still served')).toBe('still served');
  visitor.end();
  await readAll(visitor);
  expect(await drained).toBe(0);
  expect((await log.line(/^connection to .* lost/)).msg).toMatch(/the server is shutting down/);
});

test('changes that other servers make meanwhile open no port and end no connection, unless its client or tunnel may serve no longer', async () => {
  const server = await startEngine({ node: undefined });
  await startAgent(server);
  const targets = [(await startEcho()).address];
  const [tunnel, stopped] = [await openTunnel(server, { targets }), await openTunnel(server, { targets })];
  const [visitor, other] = [await visit(tunnel.port), await visit(stopped.port)];
  for (const socket of [visitor, other]) await roundTrip(socket, 'x');
  const drained = server.engine.drain(60_000);
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, rateLimit: 1000 } });
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: [] } });
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...stopped, enabled: false } });
  await closed(other);
  expect(await roundTrip(visitor, 'still served')).toBe('still served');
  await expect(visit(tunnel.port)).rejects.toThrow('ECONNREFUSED');
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await closed(visitor);
  expect(await drained).toBe(0);
});

test('connections that are still open after the timeout are closed and counted', async () => {
  const server = await startEngine();
  await startAgent(server);
  const { port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  const visitor = await visit(port);
  await roundTrip(visitor, 'x');
  expect(await server.engine.drain(20)).toBe(1);
  await closed(visitor);
});

test('an idle engine drains at once', async () => {
  const server = await startEngine();
  const before = performance.now();
  expect(await server.engine.drain(10_000)).toBe(0);
  expect(performance.now() - before).toBeLessThan(5000);
});
