import { expect, test } from '@jest/globals';
import { eventuallyAsync } from '../support/eventually.ts';
import { getClient, type Parameters, type ServerProcess } from '../support/processes.ts';
import { serveFromOne } from '../support/served-from-one.ts';
import { closed, roundTrip, startEcho, visit, visitUntilClosed } from '../support/target.ts';

// Short form: test/agent/process.test.ts

/** The server disconnects a silent agent after this time, in ms. */
const LOST_MS = 15_000;

const serve = serveFromOne();

const connected = async (server: ServerProcess, id: number) => (await getClient(server, id)).IsConnect;

test.each<[string, Parameters]>([
  ['in the clear', {}],
  ['over TLS', { crypt: 1 }],
])('a killed agent and its visitors are disconnected, %s', async (_, client) => {
  const { server, agent, clientId, tunnel } = await serve((await startEcho()).address, { client });
  const visitor = await visit(tunnel.port);
  expect(await roundTrip(visitor, 'hello')).toBe('hello');
  expect(await connected(server, clientId)).toBe(true);

  agent.kill('SIGKILL');
  await closed(visitor);
  await visitUntilClosed(tunnel.port);
  expect(await connected(server, clientId)).toBe(false);
});

test('a frozen agent is disconnected within 15 s, its visitors are closed, and it reconnects when it resumes', async () => {
  const { server, agent, clientId, tunnel } = await serve((await startEcho()).address);
  const visitor = await visit(tunnel.port);
  expect(await roundTrip(visitor, 'hello')).toBe('hello');

  agent.kill('SIGSTOP');
  const frozen = performance.now();
  const late = visitUntilClosed(tunnel.port);
  await Promise.all([closed(visitor), late]);
  expect(await connected(server, clientId)).toBe(false);
  expect(performance.now() - frozen).toBeLessThan(LOST_MS);
  await visitUntilClosed(tunnel.port);

  agent.kill('SIGCONT');
  await eventuallyAsync(() => connected(server, clientId), (is) => is);
  expect(await roundTrip(await visit(tunnel.port), 'again')).toBe('again');
});
