import process from 'node:process';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { openTunnel, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { everywhere, graphql, settingsOf, startServers, type TogetherServer } from '../support/several-servers.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { Visitors } from '../support/visitors.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

const AGENTS = sized(3, 50);
/** Ports stay open for this long after SIGTERM, in s; the load balancer needs less. */
const LEAVE_S = 2;

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

describeWith('initdb', 'servers that are restarted one after another', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  }, 120_000);
  afterAll(() => postgresql.stop());

  test('fail no new connection and no call; open connections at the others go on', async () => {
    const url = await postgresql.createDatabase();
    const environment = { ADIT_LEAVE_SECONDS: String(LEAVE_S), ADIT_DRAIN_SECONDS: '5' };
    const servers = await startServers(url, sized(2, 3), environment);
    const balancer = new Balancer(servers);
    await eventually(() => balancer.ready, (count) => count === servers.length);
    const echo = await startEcho();
    const tunnels = [];
    for (let number = 0; number < AGENTS; number++) {
      const vkey = `the key of agent ${number}`;
      const clientId = await write(balancer.next(), '/client/add/', { vkey });
      tunnels.push(await openTunnel(balancer.next(), clientId, echo.address));
      await startAgent(balancer.next(), vkey);
    }
    const running = '{ clients { rows { runtime { connected } } } tunnels { rows { runtime { running } } } }';
    await everywhere(servers, running, (data) => !JSON.stringify(data).includes('false'));
    const crowds = tunnels.map(({ port }) => Visitors.start(port, () => balancer.next().tunnelHost, sized(50, 200)));
    const calls = { made: 0, failed: new Array<string>() };
    const enough = new AbortController();
    const caller = (async () => {
      while (!enough.signal.aborted) {
        calls.made++;
        await graphql(balancer.next(), '{ clients { total } }').catch(async (error: unknown) => {
          // A call that is retried once must succeed.
          await graphql(balancer.next(), '{ clients { total } }').catch((again: unknown) => calls.failed.push(`${String(error)}, then ${String(again)}`));
        });
      }
    })();
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
      await eventuallyAsync(() => graphql(again, running), (data) => !JSON.stringify(data).includes('false'));
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
  }, sized(120_000, 600_000));
});
