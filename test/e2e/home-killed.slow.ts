import process from 'node:process';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { type Child, endChildren } from '../support/child.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { openTunnel, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { everywhere, graphql, settingsOf, startServers, type TogetherServer } from '../support/several-servers.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { type Visited, Visitors } from '../support/visitors.ts';

// Short form: test/engine/nodes/homes.test.ts

afterAll(removeScratchDirectories);

/** Visitors are served again within this time after their home was killed or frozen, in ms; a busy machine takes longer. */
const SERVED_MS = { killed: sized(5000, 300), frozen: sized(8000, 2000) } as const;
/** How often the home is killed, and frozen. */
const TIMES = { killed: sized(2, 20), frozen: sized(1, 20) } as const;

const TEXT_BYTES = 5;

const totals = z.object({ tunnel: z.object({ runtime: z.object({ connections: z.number(), inletBytes: z.number(), exportBytes: z.number() }) }) });

/** What visitors at the other servers saw of the faults of their home. */
class Figures {
  /** The time until visitors were served, at each server, in ms. */
  readonly served: number[] = [];
  readonly failed: string[] = [];
  all = 0;
  /** Those that were served by a home that did not fail afterwards: its counters cannot be lost. */
  counted = 0;
  /** Visitors whose connections led through the home, or were on their way to it. */
  lost = 0;

  /** @param at when the home failed @param known when this server knew of it: visitors who come later must not fail @returns how long it took until visitors were served, in ms */
  add(visits: readonly Visited[], at: number, known: number): number {
    const failed = visits.filter(({ problem }) => problem !== '');
    this.all += visits.length;
    this.counted += visits.filter(({ began, problem }) => began >= known && problem === '').length;
    this.lost += failed.filter(({ began }) => began < known).length;
    this.failed.push(...failed.flatMap(({ began, problem }) => began < known ? [] : [`${problem} after ${Math.round(began - at)} ms`]));
    const served = Math.min(...visits.flatMap((visit) => visit.began > at && visit.problem === '' ? [visit.ended - at] : []));
    this.served.push(served);
    return served;
  }

  /** Of which p% are at most as long. */
  percentile(p: number): number {
    const sorted = this.served.toSorted((one, other) => one - other);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p / 100))] ?? Number.NaN;
  }
}

describeWith('initdb', 'the server that an agent is connected to fails', () => {
  let postgresql: PostgresqlServer;
  let servers: TogetherServer[];
  let url: string;
  let tunnel: { readonly id: number; readonly port: number };
  let agent: Child;
  let clientId: number;
  let running: string;

  beforeAll(async () => {
    postgresql = await startPostgresql();
    url = await postgresql.createDatabase();
    servers = await startServers(url, 3);
    const last = servers.at(-1);
    if (!last) throw new Error('there are three servers');
    clientId = await write(last, '/client/add/', { vkey: 'the key of the agent' });
    agent = await startAgent(last, 'the key of the agent');
  });
  beforeEach(async () => {
    const [server] = servers;
    if (!server) throw new Error('there are servers');
    tunnel = await openTunnel(server, clientId, (await startEcho()).address);
    running = `{ tunnel(id: ${tunnel.id}) { runtime { running } } client(id: ${clientId}) { runtime { connected } } }`;
  });
  afterAll(async () => {
    await endChildren();
    await postgresql.stop();
  });

  /** The server that the agent is connected to, when all servers know that. */
  async function home(): Promise<TogetherServer> {
    await everywhere(servers, running, (data) => !JSON.stringify(data).includes('false'));
    const port = [...agent.output.matchAll(/connected to 127\.0\.0\.1:(\d+) as/g)].at(-1)?.[1];
    const found = servers.find(({ bridgePort }) => String(bridgePort) === port);
    if (!found) throw new Error('the agent is connected');
    return found;
  }

  /** Waits until the agent has its session in reserve, as it has unless servers fail one right after another. @returns the servers other than its own */
  async function inReserve(own: TogetherServer): Promise<readonly TogetherServer[]> {
    const others = servers.filter((server) => server !== own);
    await eventually(
      () => others.map(({ child }) => count(child, 'standby connected') - count(child, 'standby disconnected')),
      (open) => Math.max(...open) === 1,
    );
    return others;
  }

  /** Lets a server fail while visitors come to all others. @param fail resolves when it has @param known resolves when one of the others must know of it */
  async function without(
    failing: TogetherServer,
    how: keyof typeof SERVED_MS,
    figures: Figures,
    fail: () => Promise<unknown>,
    known: (server: TogetherServer) => Promise<unknown>,
  ): Promise<void> {
    const visitors = servers.filter((server) => server !== failing).map((server) => ({ server, crowd: Visitors.start(tunnel.port, () => server.tunnelHost) }));
    await eventually(() => visitors.every(({ crowd }) => crowd.done.length > 5), Boolean);
    const [at, from] = [performance.now(), agent.output.length];
    await fail();
    await Promise.all(visitors.map(async ({ server, crowd }) => {
      await known(server);
      const knew = performance.now();
      await eventually(() => crowd.done.some((visit) => visit.began > at && visit.problem === ''), Boolean);
      const served = figures.add(await crowd.stop(), at, knew);
      if (served > SERVED_MS[how]) process.stdout.write(`${server.name}: ${served.toFixed(0)} ms, in which the agent said:\n${agent.output.slice(from)}`);
    }));
  }

  function expectServed(figures: Figures, how: keyof typeof SERVED_MS): void {
    const [median, p99] = [figures.percentile(50), figures.percentile(99)];
    if (endurance) {
      process.stdout.write(
        `${TIMES[how]} times ${how}, ms until visitors were served: median ${median.toFixed(0)}, p99 ${
          p99.toFixed(0)
        }; of ${figures.all} visitors, ${figures.failed.length} failed; ${figures.lost} ended with their server\n`,
      );
    }
    expect(figures.failed).toEqual([]);
    expect(p99).toBeLessThan(SERVED_MS[how]);
  }

  /** Each visitor is counted once, but for those that a home has served before it failed: what it has not stored may be lost. All servers say the same, and the store soon does. */
  async function expectCounted({ all, counted }: Figures): Promise<void> {
    const query = `{ tunnel(id: ${tunnel.id}) { runtime { connections inletBytes exportBytes } } }`;
    const bytes = async () => (await Promise.all(servers.map(async (server) => totals.parse(await graphql(server, query)).tunnel.runtime)));
    const [first] = await eventuallyAsync(
      bytes,
      (each) => each.every(({ connections, ...rest }) => connections === 0 && rest.exportBytes === each[0]?.exportBytes),
    );
    for (const total of [first?.inletBytes, first?.exportBytes]) {
      expect(total).toBeGreaterThanOrEqual(counted * TEXT_BYTES);
      expect(total).toBeLessThanOrEqual(all * TEXT_BYTES);
    }
    if (!endurance) return;
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    const stored = async () => {
      const { rows } = await database.query('SELECT "exportBytes"::float8 AS bytes FROM "Counter" WHERE kind = \'tunnel\' AND id = $1', [tunnel.id]);
      return z.array(z.object({ bytes: z.number() })).parse(rows)[0]?.bytes;
    };
    await eventuallyAsync(stored, (total) => total === first?.exportBytes).finally(() => database.end());
    process.stdout.write(`stored ${first?.exportBytes} bytes to visitors; at least ${counted * TEXT_BYTES} and at most ${all * TEXT_BYTES} are right\n`);
  }

  test('frozen: the agent, which keeps a session with another server in reserve, leaves it; visitors at the others wait for that', async () => {
    const figures = new Figures();
    for (let round = 0; round < TIMES.frozen; round++) {
      const frozen = await home();
      const others = await inReserve(frozen);
      let before: number[] = [];
      await without(frozen, 'frozen', figures, async () => {
        frozen.child.kill('SIGSTOP');
        before = others.map(({ child }) => count(child, 'another node does not answer'));
      }, (server) => {
        const index = others.indexOf(server);
        return eventually(() => count(server.child, 'another node does not answer') > (before[index] ?? 0), Boolean);
      });
      frozen.child.kill('SIGCONT');
      // It is not the home any more, and takes visitors for the new one.
      await eventuallyAsync(async () => {
        figures.all++;
        const visitor = await visit(tunnel.port, frozen.tunnelHost);
        return await roundTrip(visitor, 'hello').catch(String).finally(() => visitor.destroy());
      }, (answer) => answer === 'hello');
      figures.counted++;
      // Once stored, nothing of it can be lost in the next round.
      await expectCounted(figures);
    }
    expectServed(figures, 'frozen');
  }, 900_000);

  test('killed: the agent, which was given one server, goes to another one at once; visitors at the others wait for it, and none fails', async () => {
    const figures = new Figures();
    for (let round = 0; round < TIMES.killed; round++) {
      const killed = await home();
      await inReserve(killed);
      const before = new Map(servers.map(({ child }) => [child, child.output.length]));
      await without(killed, 'killed', figures, () => {
        killed.child.kill('SIGKILL');
        return killed.child.exited;
      }, ({ child }) => child.says(new RegExp(`the session with another node was lost node=${killed.name}\\b`), before.get(child)));
      servers.splice(servers.indexOf(killed), 1);
      if (!endurance) continue;
      const { dataDir, httpPort, bridgePort, tlsPort, name, tunnelHost } = killed;
      const number = Number(name.slice('node'.length));
      const again = { ...await startServer({ dataDir, httpPort, bridgePort, tlsPort, environment: settingsOf(url, number) }), name, tunnelHost };
      for (const { name: other } of servers) await again.child.says(new RegExp(`connected to another node node=${other}\\b`));
      servers.push(again);
    }
    expectServed(figures, 'killed');
  }, 900_000);
});

/** How often a program has said something. */
function count({ output }: Child, text: string): number {
  return output.split(text).length - 1;
}
