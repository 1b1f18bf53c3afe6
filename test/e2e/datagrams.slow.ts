import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { startDatagramFlood, tcpLatency, udpLatency } from '../support/datagram-figures.ts';
import { sized } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { type Limited, startLimited, visitAs } from '../support/limit-figures.ts';
import { openTunnel } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { udpEcho } from '../support/udp.ts';

// Short form: test/engine/udp-tunnel.test.ts

const SECONDS = sized(1, 10);
/** What a round trip may take, in ms, half of the time and 99 times of 100, on a machine that does other things too. */
const MOST = { p50: 500, p99: 3000 } as const;

let limited: Limited;

beforeAll(async () => {
  limited = await startLimited();
});
afterAll(async () => {
  limited.close();
  await endChildren();
  removeScratchDirectories();
});

test('a tcp tunnel answers while another tunnel is flooded with datagrams, and those that are too many are dropped, counted and shown', async () => {
  const flood = await startDatagramFlood(limited);
  const before = flood.received;
  const { p50, p99 } = await tcpLatency(limited.ports[0], SECONDS);
  expect(flood.sent).toBeGreaterThan(1000);
  expect(flood.received).toBeGreaterThan(before);
  expect(p50).toBeLessThan(MOST.p50);
  expect(p99).toBeLessThan(MOST.p99);
  // What the kernel dropped before the server saw it is counted nowhere; that the agent takes nothing more is the server's to see.
  const already = await flood.dropped();
  limited.agent.kill('SIGSTOP');
  await eventuallyAsync(() => flood.dropped(), (dropped) => dropped > already + 100);
  limited.agent.kill('SIGCONT');
  await flood.end();
});

test('a udp tunnel answers while tcp tunnels carry as much as they can, both ways', async () => {
  const echo = await udpEcho();
  const udp = await openTunnel(limited.server, limited.clientId, echo.address, 'udp');
  const bulk = await Promise.all([visitAs(limited.ports[0], 'd', 0), visitAs(limited.ports[1], 'd', 1)]);
  let moved = 0;
  for (const socket of bulk) {
    socket.on('data', (chunk: Buffer) => {
      moved += chunk.length;
    });
  }
  const { p50, p99, lost } = await udpLatency(udp.port, SECONDS);
  expect(moved).toBeGreaterThan(1024 * 1024);
  expect(lost).toBe(0);
  expect(p50).toBeLessThan(MOST.p50);
  expect(p99).toBeLessThan(MOST.p99);
  for (const socket of bulk) socket.destroy();
});
