import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import http from 'node:http';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { installationKeyFile } from '../../src/settings/installation-key.ts';
import { Child, endChildren, endOtherChildren } from '../support/child.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { call, getTunnel, openTunnel, programOf, quickStart, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { everywhere, graphql, invitationOf, joinServers, settingsOf, startServers, stateOf, type TogetherServer } from '../support/several-servers.ts';
import { roundTrip, startEcho, visit, visitUntilClosed } from '../support/target.ts';

// Short form: test/e2e/several-servers.test.ts

afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});

/** In `npm run test:slow`, two. */
const COUNT = sized(2, 3);

describeWith('initdb', 'several servers on one PostgreSQL database', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(() => postgresql.stop());

  describe('that are the same for all tests', () => {
    let url: string;
    let servers: readonly TogetherServer[];
    let one: TogetherServer;
    let two: TogetherServer;
    /** In `npm run test:slow`, the second one. */
    let three: TogetherServer;
    beforeAll(async () => {
      url = await postgresql.createDatabase();
      servers = await startServers(url, COUNT);
      const [first, second, third = second] = servers;
      if (!first || !second || !third) throw new Error('there are several servers');
      [one, two, three] = [first, second, third];
    });
    afterEach(() => endOtherChildren(servers.map(({ child }) => child)));

    test('can have another key of the installation, which is changed under a connection that leads through two of them', async () => {
      const clientId = await write(one, '/client/add/', { vkey: 'the key of the first agent' });
      await startAgent(two, 'the key of the first agent');
      const tunnel = await openTunnel(three, clientId, (await startEcho()).address);
      await everywhere(
        servers,
        `{ tunnel(id: ${tunnel.id}) { runtime { running } } client(id: ${clientId}) { runtime { connected } } }`,
        (data) => !JSON.stringify(data).includes('false'),
      );
      const invitation = await invitationOf(one);
      const away = scratchDirectory();
      await copyFile(installationKeyFile(one.dataDir), installationKeyFile(away));
      const held = await visit(tunnel.port, one.tunnelHost);
      await roundTrip(held, 'before');
      const change = new Child(process.execPath, [...quickStart, programOf(), 'nodes', 'rotate-key'], { ADIT_DATABASE_URL: url, ADIT_DATA_DIR: one.dataDir });
      await change.exited;
      expect(change.output).toMatch(/The key of the installation was changed\. Invitations that were printed before no longer work\.\n$/);
      await Promise.all(servers.map(({ child }) => child.says(/the key of the installation was changed/)));
      expect(await roundTrip(held, 'afterwards')).toBe('afterwards');
      for (const { dataDir } of servers) expect(await invitationOf({ dataDir })).toBe(await invitationOf(two));
      for (const dataDir of sized([away], [away, scratchDirectory()])) {
        await expect(startServer({ environment: { ...settingsOf(url, 4), ADIT_INVITATION: invitation }, dataDir })).rejects.toThrow(
          /or no longer: .*: set ADIT_INVITATION/,
        );
      }
      for (const { child } of servers) expect(child.output).not.toMatch(/session with another node was lost/);
    });

    test('serve hosts, and count limits together', async () => {
      const target = http.createServer((request, response) => response.end(`hello ${String(request.headers['x-forwarded-for'])}`)).listen(0, '127.0.0.1');
      await once(target, 'listening');
      const bound = target.address();
      if (bound === null || typeof bound === 'string') throw new Error('the target does not listen');
      const clientId = await write(one, '/client/add/', { vkey: 'the key of the second agent', max_conn: 2 });
      await startAgent(one, 'the key of the second agent');
      await write(two, '/index/addhost/', { client_id: clientId, host: 'example.test', target: `127.0.0.1:${bound.port}`, scheme: 'all' });
      const tunnel = await openTunnel(two, clientId, (await startEcho()).address);
      await everywhere(
        servers,
        `{ tunnel(id: ${tunnel.id}) { runtime { running } } hosts { rows { runtime { running } } } client(id: ${clientId}) { runtime { connected } } }`,
        (data) => !JSON.stringify(data).includes('false'),
      );
      for (const { hostsPort } of servers) {
        const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
          http.get({ host: '127.0.0.1', port: hostsPort, headers: { host: 'example.test' }, agent: false }, resolve).on('error', reject);
        });
        expect([response.statusCode, String(Buffer.concat(await response.toArray()))]).toEqual([200, 'hello 127.0.0.1']);
      }
      await eventuallyAsync(() => stateOf(two, clientId), ({ connections }) => connections === 0);
      const [first, second] = [await visit(tunnel.port, one.tunnelHost), await visit(tunnel.port, two.tunnelHost)];
      await Promise.all([roundTrip(first, 'a'), roundTrip(second, 'b')]);
      for (const { tunnelHost } of servers) await visitUntilClosed(tunnel.port, tunnelHost);
      expect(await stateOf(two, clientId)).toMatchObject({ connections: 2 });
      target.close();

      // One more with another setting is not ready, and says why.
      const other = await joinServers(url, 4, one, { ADIT_TRUSTED_PROXIES: '192.0.2.0/24' });
      const readiness = await fetch(`http://127.0.0.1:${other.httpPort}/readyz`);
      const reason = expect.stringMatching(/^trusted_proxies: not as on the server node[123], which was started earlier$/);
      expect([readiness.status, await readiness.json()]).toEqual([503, { status: 'not ready', failed: ['settings'], reasons: { settings: reason } }]);
      await eventuallyAsync(() => graphql(one, '{ nodes { name differentSettings } }'), (data) => JSON.stringify(data).includes('trusted_proxies'));
      expect((await fetch(`http://127.0.0.1:${one.httpPort}/readyz`)).status).toBe(200);
    });

    test('an agent that goes from one server to another takes its counters along; a reset at any server counts', async () => {
      const clientId = await write(one, '/client/add/', { vkey: 'the key of the third agent' });
      const tunnel = await openTunnel(one, clientId, (await startEcho()).address);
      const sent = [];
      for (const [turn, server] of [one, two, one, two].entries()) {
        const agent = await startAgent(server, 'the key of the third agent');
        await everywhere(
          servers,
          `{ tunnel(id: ${tunnel.id}) { runtime { running } } client(id: ${clientId}) { runtime { connected } } }`,
          (data) => !JSON.stringify(data).includes('false'),
        );
        const size = 1000 * (turn + 1);
        await roundTrip(await visit(tunnel.port, two.tunnelHost), 'x'.repeat(size));
        sent.push(size);
        const sum = sent.reduce((total, each) => total + each, 0);
        await Promise.all(servers.map((each) => eventuallyAsync(() => stateOf(each, clientId), ({ exportBytes }) => exportBytes === sum)));
        await agent.end();
        await everywhere(servers, `{ client(id: ${clientId}) { runtime { connected } } }`, (data) => JSON.stringify(data).includes('false'));
      }
      await startAgent(one, 'the key of the third agent');
      await eventuallyAsync(() => stateOf(two, clientId), ({ connected, exportBytes }) => connected && exportBytes === 10_000);
      await graphql(two, `mutation { resetClientTraffic(id: ${clientId}) { id } }`);
      await Promise.all(servers.map((each) => eventuallyAsync(() => stateOf(each, clientId), ({ exportBytes }) => exportBytes === 0)));
      await roundTrip(await visit(tunnel.port, two.tunnelHost), 'after');
      await Promise.all(servers.map((each) => eventuallyAsync(() => stateOf(each, clientId), ({ exportBytes }) => exportBytes === 5)));
      const series = await graphql(
        two,
        `{ traffic(resource: CLIENT, id: ${clientId}, step: DAY, from: "${new Date(Date.now() - 86_400_000).toISOString()}") { exportBytes } }`,
      );
      expect(series).toEqual({ traffic: [{ exportBytes: expect.any(Number) }] });
      await Promise.all(servers.map((server) => graphql(server, '{ clients(sort: { field: INLET_BYTES }) { total } }')));
      const stored = z.object({ traffic: z.tuple([z.object({ exportBytes: z.number() })]) });
      await eventuallyAsync(
        async () =>
          stored.parse(
            await graphql(
              one,
              `{ traffic(resource: CLIENT, id: ${clientId}, step: DAY, from: "${new Date(Date.now() - 86_400_000).toISOString()}") { exportBytes } }`,
            ),
          ).traffic[0].exportBytes,
        (bytes) => bytes === 10_005,
      );
    });

    test('lose nothing but the agents of one that is killed: these come to the others, and their counters go on', async () => {
      const clientId = await write(one, '/client/add/', { vkey: 'the key of the fourth agent', max_conn: 2 });
      await startAgent(one, 'the key of the fourth agent');
      const tunnel = await openTunnel(one, clientId, (await startEcho()).address);
      const running = `{ tunnel(id: ${tunnel.id}) { runtime { running } } client(id: ${clientId}) { runtime { connected } } }`;
      const others = servers.filter((server) => server !== one);
      await everywhere(others, running, (data) => !JSON.stringify(data).includes('false'));
      await roundTrip(await visit(tunnel.port, two.tunnelHost), 'x'.repeat(1000));
      const day = `{ traffic(resource: CLIENT, id: ${clientId}, step: DAY, from: "${new Date(Date.now() - 86_400_000).toISOString()}") { exportBytes } }`;
      await eventuallyAsync(
        async () => {
          await graphql(one, '{ clients(sort: { field: INLET_BYTES }) { total } }'); // which stores them
          return graphql(two, day);
        },
        (data) => JSON.stringify(data).includes('"exportBytes":1000'),
      );
      one.child.kill('SIGKILL');
      await one.child.exited;
      await everywhere(
        others,
        `{ client(id: ${clientId}) { runtime { home connected } } }`,
        (data) => /"home":"node[23]","connected":true/.test(JSON.stringify(data)),
      );
      expect(await roundTrip(await visit(tunnel.port, two.tunnelHost), 'y'.repeat(500))).toBe('y'.repeat(500));
      await eventuallyAsync(() => stateOf(two, clientId), ({ inletBytes }) => inletBytes === 1500);
      // The limit counts over all of them as before: the visitor of the killed one is gone, the last one and this one are there.
      const second = await visit(tunnel.port, three.tunnelHost);
      await roundTrip(second, 'z');
      for (const { tunnelHost } of others) await visitUntilClosed(tunnel.port, tunnelHost);
      second.destroy();
      await eventuallyAsync(() => stateOf(two, clientId), ({ connections }) => connections === 1);
      // Changes go on, and one that comes back sees them all.
      const later = await openTunnel(two, clientId, (await startEcho()).address);
      const again = await joinServers(url, 1, two);
      await again.child.says(/connected to another node/);
      await eventuallyAsync(() => stateOf(again, clientId), ({ connected, inletBytes }) => connected && inletBytes === 1501);
      await eventuallyAsync(() => getTunnel(again, later.id), ({ RunStatus }) => RunStatus);
      expect(await roundTrip(await visit(later.port, again.tunnelHost), 'hello')).toBe('hello');
    });
  });
  test('are refused without the key of the installation, and where they could not reach each other', async () => {
    const url = await postgresql.createDatabase();
    const first = await startServer({ environment: { ...settingsOf(url, 1), ADIT_NODE_ADDRESS: '' } });
    const refused = (environment: Readonly<Record<string, string>>) => startServer({ environment: { ...settingsOf(url, 2), ...environment } });
    await expect(refused({})).rejects.toThrow(/belongs to an installation whose key this server lacks: set ADIT_INVITATION/);
    const invitation = { ADIT_INVITATION: await invitationOf(first) };
    await expect(refused(invitation)).rejects.toThrow(/the server node1 is running on the database without ADIT_NODE_ADDRESS/);
    if (endurance) {
      await expect(refused({ ...invitation, ADIT_NODE_ADDRESS: '' })).rejects.toThrow(/the server node1 is running on the database: set the address/);
    }
    expect(await call(first, '/client/add/')).toMatchObject({ status: 1 });
    // A server of version 0.1 tolerates no other one.
    await first.child.end();
    const old = new pg.Client({ connectionString: url });
    await old.connect();
    await old.query('SELECT pg_advisory_lock(72707371)');
    await expect(startServer({ environment: { ...settingsOf(url, 1), ...invitation } })).rejects.toThrow(/another server is running on this database/);
    await old.end();
  });
});
