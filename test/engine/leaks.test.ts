import { readdirSync } from 'node:fs';
import process from 'node:process';
import { expect, test } from '@jest/globals';
import { sized } from '../support/endurance.ts';
import { eventually } from '../support/eventually.ts';
import { readAll, startTarget, visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

/** The long run sets it to 10000. */
const CONNECTIONS = Number(process.env['ADIT_TEST_CONNECTIONS'] ?? sized(200, 1000, 1000));
const AT_ONCE = 50;

const descriptors = () => readdirSync('/dev/fd').length;
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

async function connections(port: number, count: number): Promise<void> {
  let left = count;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (left-- > 0) {
      const visitor = await visit(port);
      visitor.end('ask');
      expect((await readAll(visitor)).toString()).toBe('answer');
    }
  }));
}

test(`${CONNECTIONS} short connections leave file descriptors, streams and timers where they were`, async () => {
  const server = await startEngine({ node: undefined });
  await startAgent(server);
  const target = await startTarget((socket) => {
    socket.resume().once('end', () => socket.end('answer'));
  });
  const { port, id } = await openTunnel(server, { targets: [target.address] });
  await connections(port, AT_ONCE * 2);
  const settled = () => server.engine.clientState(CLIENT.id)?.connections;
  await eventually(settled, (open) => open === 0);
  target.connections.length = 0;
  const before = { descriptors: descriptors(), timers: timers() };

  await connections(port, CONNECTIONS);

  await eventually(settled, (open) => open === 0);
  await eventually(descriptors, (now) => now <= before.descriptors);
  await eventually(timers, (now) => now <= before.timers);
  expect(server.engine.counts).toMatchObject({ visitors: 0, sessions: 1, handshakes: 0 });
  expect(server.engine.tunnelState(id)).toMatchObject({ connections: 0 });
  expect(target.connections).toHaveLength(CONNECTIONS);
});
