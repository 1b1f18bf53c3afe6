import { afterEach, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { startAgent } from '../support/processes.ts';
import { closed, readAll, roundTrip, startEcho, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, openTunnel, startEngine } from '../support/tunnel.ts';

afterEach(endChildren);

/** The agent as its user runs it, with one open visitor. */
async function serving(heartbeatMs = 5000) {
  const server = await startEngine({ bridgeTiming: { heartbeatMs } });
  const agent = await startAgent({ bridgePort: server.bridge.port }, CLIENT.vkey);
  const tunnel = await openTunnel(server, { targets: [(await startEcho()).address] });
  const visitor = await visit(tunnel.port);
  expect(await roundTrip(visitor, 'hello')).toBe('hello');
  return { server, agent, tunnel, visitor };
}

test('an agent that is killed takes its visitors with it at once', async () => {
  const { server, agent, tunnel, visitor } = await serving();
  agent.kill('SIGKILL');
  await closed(visitor);
  await server.log.line(/agent disconnected/);
  await visitUntilClosed(tunnel.port);
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connected: false, connections: 0 });
});

test('a frozen agent counts as disconnected, and reconnects when it resumes', async () => {
  // A second: on a busy machine, an agent that is not frozen must not seem to be for three of them.
  const { server, agent, tunnel, visitor } = await serving(1000);
  agent.kill('SIGSTOP');
  await closed(visitor);
  expect((await server.log.line(/agent disconnected/))['reason']).toMatch(/no sign of life/);
  const back = server.log.next(/agent connected/);
  agent.kill('SIGCONT');
  await back;
  expect(await roundTrip(await visit(tunnel.port), 'again')).toBe('again');
});

test('SIGTERM stops it gracefully: the server is notified, an open connection may finish, and no new one is accepted', async () => {
  const { server, agent, tunnel, visitor } = await serving();
  agent.kill('SIGTERM');
  await server.log.line(/the agent takes no new connections/);
  await visitUntilClosed(tunnel.port);
  expect(await roundTrip(visitor, 'still served')).toBe('still served');
  visitor.end();
  await readAll(visitor);
  expect(await agent.exited).toEqual({ code: 0, signal: null });
  expect((await server.log.line(/agent disconnected/))['reason']).toBe('the agent says: the agent was stopped');
});

test('a second signal ends it at once', async () => {
  const { agent, visitor } = await serving();
  agent.kill('SIGINT');
  await agent.says(/a second signal stops at once/);
  agent.kill('SIGINT');
  expect(await agent.exited).toEqual({ code: 130, signal: null });
  await closed(visitor);
});
