import process from 'node:process';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { type PostgresqlRelay, relayToPostgresql } from '../support/postgresql-relay.ts';
import { openTunnel, signedNow, startAgent, type ServerProcess, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { everywhere, graphql, joinServers, startServers, type TogetherServer } from '../support/several-servers.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';

// Short form: test/store/busy-database.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** Everything works again within this time after the database is back, in ms. */
const BACK_MS = 5000;
/** A server has noticed within this time that the database does not answer, in ms. */
const SILENT_MS = 8000;
/** A call is refused within this time while the database is away, in ms: other suites use the processors, too. */
const REFUSED_MS = 3000;

/** A call's status, code or message, and duration in ms. */
async function callOf({ httpPort }: ServerProcess, route: string, parameters: Readonly<Record<string, string>> = {}) {
  const { auth_key: key, timestamp } = signedNow();
  const body = new URLSearchParams({ auth_key: key, timestamp: String(timestamp), ...parameters });
  const began = performance.now();
  const response = await fetch(`http://127.0.0.1:${httpPort}${route}`, { method: 'POST', body, headers: { connection: 'close' } });
  const answer: unknown = await response.json();
  return { status: response.status, answer, ms: performance.now() - began };
}

async function readiness({ httpPort }: ServerProcess): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${httpPort}/readyz`, { headers: { connection: 'close' } });
  return [response.status, await response.json()];
}

const traffic = z.object({ client: z.object({ runtime: z.object({ connected: z.boolean(), exportBytes: z.number() }) }) });

describeWith('initdb', 'several servers whose database goes away', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  let relay: PostgresqlRelay | undefined;
  afterEach(() => relay?.close());
  afterAll(() => postgresql.stop());

  test('go on serving visitors and agents, refuse calls at once, and have lost nothing when it is back', async () => {
    relay = await relayToPostgresql(await postgresql.createDatabase());
    const servers = await startServers(relay.url, 2);
    const [one, two] = servers;
    if (!one || !two) throw new Error('there are two servers');
    const clientId = await write(one, '/client/add/', { vkey: 'the key of the agent' });
    const tunnel = await openTunnel(one, clientId, (await startEcho()).address);
    const agent = await startAgent(one, 'the key of the agent');
    const running = `{ tunnel(id: ${tunnel.id}) { runtime { running } } client(id: ${clientId}) { runtime { connected } } }`;
    await everywhere(servers, running, (data) => !JSON.stringify(data).includes('false'));
    let bytes = 0;
    const traverse = async (through: readonly TogetherServer[]): Promise<void> => {
      for (const { tunnelHost } of through) {
        const socket = await visit(tunnel.port, tunnelHost);
        expect(await roundTrip(socket, 'x'.repeat(1000))).toBe('x'.repeat(1000));
        socket.end();
        bytes += 1000;
      }
    };
    await traverse(servers);

    relay.goAway();
    await traverse(servers);
    for (const server of servers) {
      for (const [route, parameters] of [['/client/list/', {}], ['/client/add/', { remark: 'meanwhile' }]] as const) {
        const { status, answer, ms } = await callOf(server, route, parameters);
        expect([route, status, answer]).toEqual([route, 503, expect.objectContaining({ msg: 'the database can not be reached' })]);
        expect(ms).toBeLessThan(REFUSED_MS);
      }
      await expect(graphql(server, '{ clients { total } }')).rejects.toThrow(/DATABASE_UNAVAILABLE/);
      expect(await readiness(server)).toEqual([503, { status: 'not ready', failed: ['database'], codes: { database: 'DATABASE_UNAVAILABLE' } }]);
    }
    // The agent goes to the other server, which becomes its home without the database.
    await agent.end();
    await startAgent(two, 'the key of the agent');
    await traverse(servers);

    relay.comeBack();
    const back = performance.now();
    await Promise.all(servers.map((server) => eventuallyAsync(() => readiness(server), (answer) => JSON.stringify(answer) === '[200,{"status":"ready"}]')));
    await write(one, '/client/add/', { remark: 'afterwards' });
    await eventuallyAsync(() => graphql(two, '{ clients { total } }'), (data) => JSON.stringify(data) === '{"clients":{"total":2}}');
    expect(performance.now() - back).toBeLessThan(BACK_MS);
    const exported = async (server: TogetherServer) =>
      traffic.parse(await graphql(server, `{ client(id: ${clientId}) { runtime { connected exportBytes } } }`)).client.runtime;
    await Promise.all(servers.map((server) => eventuallyAsync(() => exported(server), (state) => state.connected && state.exportBytes === bytes)));
    await traverse(servers);
  });

  test(
    'one of several servers, for which alone the database is silent, refuses calls, and neither keeps what others took over nor takes over what they serve',
    async () => {
      const url = await postgresql.createDatabase();
      relay = await relayToPostgresql(url);
      const one = await joinServers(url, 1, undefined);
      const two = await joinServers(relay.url, 2, one);
      const servers = [one, two];
      await one.child.says(/connected to another node node=node2\b/);
      /** A client, its agent and a tunnel. */
      const clientOf = async (home: TogetherServer, vkey: string) => {
        const id = await write(one, '/client/add/', { vkey });
        const agent = await startAgent(home, vkey);
        return { id, agent, tunnel: await openTunnel(one, id, (await startEcho()).address) };
      };
      const [first, second] = [await clientOf(one, 'the first agent'), await clientOf(two, 'the second agent')];
      const exported = async (server: TogetherServer, id: number) =>
        traffic.parse(await graphql(server, `{ client(id: ${id}) { runtime { connected exportBytes } } }`)).client.runtime;
      const running = (id: number, tunnelId: number) => `{ tunnel(id: ${tunnelId}) { runtime { running } } client(id: ${id}) { runtime { connected } } }`;
      for (const { id, tunnel } of [first, second]) await everywhere(servers, running(id, tunnel.id), (data) => !JSON.stringify(data).includes('false'));
      const bytes = new Map([[first.id, 0], [second.id, 0]]);
      const text = 'x'.repeat(1000);
      /** @param moved an agent has just come to another server: until all have heard of it, visitors are refused */
      const traverse = async ({ moved = false } = {}): Promise<void> => {
        for (const { id, tunnel } of [first, second]) {
          for (const { tunnelHost } of servers) {
            const trip = async (): Promise<string> => {
              const socket = await visit(tunnel.port, tunnelHost);
              const answer = await roundTrip(socket, text);
              socket.end();
              return answer;
            };
            expect(await (moved ? eventuallyAsync(() => trip().catch(() => ''), (answer) => answer !== '') : trip())).toBe(text);
            bytes.set(id, (bytes.get(id) ?? 0) + 1000);
          }
        }
      };
      await traverse();

      relay.freeze(true);
      const began = performance.now();
      await traverse();
      // Nobody knows yet: those who call first wait until it is noticed. Later ones are refused at once.
      expect(await callOf(two, '/client/list/')).toMatchObject({ status: 503, answer: { msg: 'the database can not be reached' } });
      const noticed = performance.now() - began;
      expect(noticed).toBeLessThan(SILENT_MS);
      for (const route of ['/client/list/', '/client/add/']) {
        const { status, answer, ms } = await callOf(two, route, { remark: 'meanwhile' });
        expect([status, answer]).toEqual([503, expect.objectContaining({ msg: 'the database can not be reached' })]);
        expect(ms).toBeLessThan(REFUSED_MS);
      }
      expect(await readiness(two)).toEqual([503, { status: 'not ready', failed: ['database'], codes: { database: 'DATABASE_UNAVAILABLE' } }]);
      expect(await readiness(one)).toEqual([200, { status: 'ready' }]);
      // What the other one took over is counted there; what the server cut off serves, it goes on to serve.
      await eventuallyAsync(() => graphql(one, '{ nodes { alive } }'), (data) => JSON.stringify(data).includes('false'));
      await second.agent.end();
      await startAgent(one, 'the second agent');
      await traverse({ moved: true });
      await first.agent.end();
      await startAgent(two, 'the first agent');
      await traverse({ moved: true });
      await write(one, '/client/add/', { remark: 'meanwhile' });

      relay.freeze(false);
      const back = performance.now();
      await eventuallyAsync(() => readiness(two), (answer) => JSON.stringify(answer) === '[200,{"status":"ready"}]');
      await eventuallyAsync(() => graphql(two, '{ clients { total } }'), (data) => JSON.stringify(data) === '{"clients":{"total":3}}');
      const recovered = performance.now() - back;
      expect(recovered).toBeLessThan(BACK_MS);
      await traverse();
      for (const { id } of [first, second]) {
        await Promise.all(
          servers.map((server) => eventuallyAsync(() => exported(server, id), (state) => state.connected && state.exportBytes === bytes.get(id))),
        );
      }
      process.stdout.write(`one server lost the database: noticed after ${noticed.toFixed(0)} ms, back after ${recovered.toFixed(0)} ms\n`);
    },
  );
});
