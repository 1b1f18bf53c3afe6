import { expect, test } from '@jest/globals';
import { writePrivately } from '../../src/settings/private-file.ts';
import { closed, readAll, roundTrip, startEcho, startTarget, visit } from '../support/target.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { CLIENT, fresh, launchAgent, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

const directory = temporaryDirectory();

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

test('an order of a certificate is aborted at once, not when the last connection has ended', async () => {
  const authority = await startTarget();
  const asked = authority.accepted();
  const acme = { directory: `https://${authority.address}/dir`, email: '', dir: directory, write: writePrivately };
  const server = await startEngine({ acme, stored: { hosts: [{ ...hostOf({ host: 'site.example.org', acme: true }), ...fresh }] } });
  await startAgent(server);
  const { port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  const visitor = await visit(port);
  await roundTrip(visitor, 'x');
  await server.engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  const order = await asked;
  const drained = server.engine.drain(60_000);
  await closed(order);
  expect(await roundTrip(visitor, 'still served')).toBe('still served');
  visitor.end();
  expect(await drained).toBe(0);
  // The authority was not given up for its silence.
  expect(server.log.entries.filter(({ msg }) => msg.startsWith('no ACME certificate'))).toEqual([]);
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
