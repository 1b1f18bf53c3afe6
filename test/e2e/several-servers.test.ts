import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { SECRETS_FILE } from '../../src/settings/secrets.ts';
import { endChildren } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { openTunnel, startAgent, startVisitorProcess, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { aditNodes, everywhere, graphql, startServers, stateOf } from '../support/several-servers.ts';
import { readAll, roundTrip, startEcho, visit } from '../support/target.ts';
import { udpEcho, udpPeer } from '../support/udp.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

const COUNT = sized(2, 3);

describeWith('initdb', 'several servers on one PostgreSQL database', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(() => postgresql.stop());

  test('are one: a change at one is in effect at all, and a visitor at any reaches the agent, whichever it is connected to', async () => {
    const servers = await startServers(await postgresql.createDatabase(), COUNT);
    const [one, two] = servers;
    const last = servers.at(-1);
    if (!one || !two || !last) throw new Error('there are several servers');
    const secretsOf = ({ dataDir }: { readonly dataDir: string }) => readFileSync(path.join(dataDir, SECRETS_FILE), 'utf8');
    expect(secretsOf(two)).toBe(secretsOf(one));
    const clientId = await write(one, '/client/add/', { vkey: 'the key of the agent' });
    await startAgent(two, 'the key of the agent');
    const echo = await startEcho();
    const tunnel = await openTunnel(last, clientId, echo.address);
    const udp = await openTunnel(one, clientId, (await udpEcho()).address, 'udp');
    const secretId = await write(two, '/index/add/', { client_id: clientId, type: 'secret', target: echo.address, password: 'secret word' });
    await everywhere(
      servers,
      `{ tunnel(id: ${udp.id}) { runtime { running } } secret: tunnel(id: ${secretId}) { runtime { running } } client(id: ${clientId}) { runtime { connected } } }`,
      (data) =>
        JSON.stringify(data) === '{"tunnel":{"runtime":{"running":true}},"secret":{"runtime":{"running":true}},"client":{"runtime":{"connected":true}}}',
    );
    const text = 'x'.repeat(100_000);
    for (const { tunnelHost } of servers) {
      const visitor = await visit(tunnel.port, tunnelHost);
      visitor.end(text);
      expect(String(await readAll(visitor))).toBe(text);
      expect(String(await (await udpPeer()).ask('datagram', udp.port, tunnelHost))).toBe('datagram');
    }
    // All servers say the same, to the byte.
    const bytes = COUNT * (text.length + 'datagram'.length);
    for (const server of servers) {
      const state = await eventuallyAsync(() => stateOf(server, clientId), ({ exportBytes }) => exportBytes >= bytes);
      expect(state.inletBytes - bytes).toBeLessThan(COUNT * 16);
      expect(state.inletBytes).toBe(state.exportBytes);
    }
    // The agent is at another server.
    const visitors = await startVisitorProcess(one, 'secret', 'secret word');
    expect(visitors.child.output).toContain(' agent: connected to');
    expect(await roundTrip(await visit(visitors.port), 'psst')).toBe('psst');
    expect(await graphql(two, '{ nodes { name alive agents } }')).toEqual({
      nodes: servers.map(({ name }) => ({ name, alive: true, agents: expect.any(Number) })),
    });
    expect(await aditNodes(one)).toEqual({
      code: 0,
      output: expect.stringMatching(new RegExp(`^NAME +ADDRESS +VERSION .*\\nnode1 +127\\.0\\.0\\.1:${one.bridgePort} +\\S+ .* yes .*\\nnode2 .* yes `)),
    });
    one.child.kill('SIGTERM');
    expect(await one.child.says(/stopping: load balancers, agents and visitor programs have (\d+) s/)).toMatchObject({ 1: '0' });
  });
});
