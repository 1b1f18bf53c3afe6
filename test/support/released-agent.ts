import { tmpdir } from 'node:os';
import { expect } from '@jest/globals';
import { capturedBackend } from '../../src/wire/captured-backend.ts';
import { carry } from './carry.ts';
import { Child } from './child.ts';
import { eventually } from './eventually.ts';
import { type Seen, standardStreams } from './streams.ts';
import { openWays } from './stream-ways.ts';
import { CLIENT, startEngine } from './tunnel.ts';

/** A command that runs an agent's program: a Node with adit-agent.mjs, or an executable. */
export type AgentCommand = readonly [string, ...string[]];

/**
 * Starts an agent as a program outside of this checkout, and carries hash-checked streams through tunnels of every type and hosts, each stream through one of them.
 * @param longest bytes of the longest stream
 */
export async function expectTraffic([program, ...words]: AgentCommand, longest: number): Promise<void> {
  const server = await startEngine({});
  const { host, port } = server.bridge;
  const child = new Child(program, [...words, 'agent', '--server', `${host}:${port}`, '--allow-files', tmpdir()], { ADIT_VKEY: CLIENT.vkey });
  await child.says(/connected to/);
  // A backend whose self-test fails is reported.
  expect(child.output).not.toMatch(/sockets are not had/);
  const seen: Seen = new Map();
  const ways = await openWays(server, { sockets: await capturedBackend(), seen, direct: false });
  expect(ways.map(({ name }) => name.split(',')[0])).toEqual(expect.arrayContaining(['tcp', 'secret', 'p2p', 'httpProxy', 'socks5', 'udp', 'file']));
  const streams = standardStreams(longest);
  await carry(streams.map((stream, n) => ({ stream, way: ways[n % ways.length] })), seen);
  await eventually(() => server.engine.counts.visitors, (open) => open <= streams.length);
  expect(child.over).toBe(false);
  await child.end();
}
