import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { metrics, openTunnel, type ServerProcess, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { aditNodes, everywhere, graphql, settingsOf, startServers, type TogetherServer } from '../support/several-servers.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { Visitors } from '../support/visitors.ts';

// Short form: test/engine/nodes/leaving.test.ts

/** What a test has started, and stops when it fails, too. */
const running = new Set<{ stop(): unknown }>();

afterEach(async () => {
  await endChildren();
  for (const each of running) await each.stop();
  running.clear();
});
afterAll(removeScratchDirectories);

const AGENTS = sized(2, 50);
/** Ports stay open for this long after SIGTERM, in s. The load balancer needs less; 50 agents have taken up to 2 s to move, beside their own 50 processes. At full length, it is the default. */
const LEAVE_S = sized(2, 5);

/** Distributes visitors and calls over the servers that are ready, as a load balancer does: it asks each for /readyz again and again. */
class Balancer {
  readonly #ready = new Set<TogetherServer>();
  readonly #timer: NodeJS.Timeout;
  #turn = 0;

  constructor(servers: readonly TogetherServer[]) {
    this.#timer = setInterval(() => servers.forEach((server) => void this.#check(server)), 200);
  }

  async #check(server: TogetherServer): Promise<void> {
    const ok = await fetch(`http://127.0.0.1:${server.httpPort}/readyz`, { headers: { connection: 'close' } }).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (ok) this.#ready.add(server);
    else this.#ready.delete(server);
  }

  get ready(): number {
    return this.#ready.size;
  }

  /** The next server, in round-robin order. */
  next(): TogetherServer {
    const server = [...this.#ready][this.#turn++ % this.#ready.size];
    if (!server) throw new Error('no server is ready');
    return server;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** What `/readyz` of a server says. */
async function readiness({ httpPort }: ServerProcess): Promise<unknown> {
  return (await fetch(`http://127.0.0.1:${httpPort}/readyz`, { headers: { connection: 'close' } })).json();
}

/** Drains a server by the command, at another one. */
async function drain(server: TogetherServer, other: TogetherServer, port: number): Promise<void> {
  expect(await aditNodes(other, ['drain', server.name])).toEqual({ code: 0, output: expect.stringMatching(new RegExp(`^${server.name} drains: `)) });
  await eventuallyAsync(
    () => readiness(server),
    (said) => JSON.stringify(said) === '{"status":"not ready","failed":["server"],"codes":{"server":"NODE_DRAINING"}}',
  );
  const nodes = await eventuallyAsync(
    () => graphql(other, '{ nodes { name draining agents } clients { rows { runtime { connected home } } } }'),
    (data) => JSON.stringify(data).includes(`"name":"${server.name}","draining":true,"agents":0}`) && !JSON.stringify(data).includes(`"home":"${server.name}"`),
  );
  expect(JSON.stringify(nodes)).not.toContain('"connected":false');
  expect(await metrics(server)).toMatch(/^adit_draining 1$/m);
  // It goes on forwarding.
  expect(await roundTrip(await visit(port, server.tunnelHost), 'through the one that drains')).toBe('through the one that drains');
}

describeWith('initdb', 'servers that are restarted one after another', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(() => postgresql.stop());

  test('fail no new connection and no call; open connections at the others go on', async () => {
    const url = await postgresql.createDatabase();
    const environment = { ADIT_LEAVE_SECONDS: String(LEAVE_S), ADIT_DRAIN_SECONDS: '5' };
    const servers = await startServers(url, sized(2, 3), environment);
    const balancer = new Balancer(servers);
    running.add(balancer);
    await eventually(() => balancer.ready, (count) => count === servers.length);
    const echo = await startEcho();
    const tunnels = [];
    for (let number = 0; number < AGENTS; number++) {
      const vkey = `the key of agent ${number}`;
      const clientId = await write(balancer.next(), '/client/add/', { vkey });
      tunnels.push(await openTunnel(balancer.next(), clientId, echo.address));
      await startAgent(balancer.next(), vkey);
    }
    const runs = '{ clients { rows { runtime { connected } } } tunnels { rows { runtime { running } } } }';
    await everywhere(servers, runs, (data) => !JSON.stringify(data).includes('false'));
    const crowds = tunnels.map(({ port }) => Visitors.start(port, () => balancer.next().tunnelHost, sized(100, 200)));
    for (const crowd of crowds) running.add(crowd);
    const calls = { made: 0, failed: new Array<string>() };
    const enough = new AbortController();
    running.add({ stop: () => enough.abort() });
    const caller = (async () => {
      while (!enough.signal.aborted) {
        calls.made++;
        await delay(sized(60, 20)); // without a pause, the calls would use all processors
        await graphql(balancer.next(), '{ clients { total } }').catch(async (error: unknown) => {
          // A call that is retried once must succeed.
          await graphql(balancer.next(), '{ clients { total } }').catch((again: unknown) => calls.failed.push(`${String(error)}, then ${String(again)}`));
        });
      }
    })();
    const [first, second] = servers;
    if (!first || !second) throw new Error('there are two servers');
    await drain(first, second, tunnels[0]?.port ?? 0);
    expect(await aditNodes(first, ['undrain', first.name])).toEqual({ code: 0, output: `${first.name} no longer drains: it accepts agents again.\n` });
    await eventuallyAsync(() => readiness(first), (said) => JSON.stringify(said) === '{"status":"ready"}');
    await drain(first, second, tunnels[0]?.port ?? 0);
    if (servers.length === 2) {
      expect(await aditNodes(first, ['drain', second.name])).toEqual({ code: 1, output: expect.stringContaining('no other server could take over') });
    }
    expect(JSON.stringify(await graphql(second, '{ auditEntries(filter: { resource: NODE }) { rows { resourceId callerKind before after } } }'))).toBe(
      JSON.stringify({
        auditEntries: {
          rows: [true, false, true].map((draining) => ({
            resourceId: first.name,
            callerKind: 'ADMINISTRATOR',
            before: { name: first.name, draining: !draining },
            after: { name: first.name, draining },
          })),
        },
      }),
    );
    // It is restarted as it is, and drains no longer.
    for (const [index, server] of servers.entries()) {
      const before = crowds.map(({ done }) => done.length);
      const staying = servers.find((other) => other !== server);
      const held = await visit(tunnels[0]?.port ?? 0, staying?.tunnelHost);
      server.child.kill('SIGTERM');
      expect(await roundTrip(held, 'still here')).toBe('still here');
      held.end();
      expect(await server.child.exited).toEqual({ code: 0, signal: null });
      const { dataDir, httpPort, bridgePort, tlsPort, name, tunnelHost } = server;
      const again = await startServer({ dataDir, httpPort, bridgePort, tlsPort, environment: { ...settingsOf(url, index + 1), ...environment } });
      servers[index] = Object.assign(server, again, { name, tunnelHost });
      await eventuallyAsync(() => graphql(again, runs), (data) => !JSON.stringify(data).includes('false'));
      await eventually(() => balancer.ready, (count) => count === servers.length);
      await eventually(() => crowds.map(({ done }, at) => done.length - (before[at] ?? 0)), (more) => more.every((count) => count > 5));
    }
    enough.abort();
    await caller;
    const visits = (await Promise.all(crowds.map((crowd) => crowd.stop()))).flat();
    balancer.stop();
    const failed = visits.filter(({ problem }) => problem !== '');
    if (endurance) {
      process.stdout.write(
        `${servers.length} servers, ${AGENTS} agents: of ${visits.length} connections ${failed.length} failed, of ${calls.made} calls ${calls.failed.length}\n`,
      );
    }
    expect(failed).toEqual([]);
    expect(calls.failed).toEqual([]);
  }, 600_000);
});
