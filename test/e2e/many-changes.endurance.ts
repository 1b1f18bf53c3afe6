import { once } from 'node:events';
import http from 'node:http';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { metrics, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { RandomChanges } from '../support/random-changes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { everywhere, firstPortOf, graphql, settingsOf, startServers, type TogetherServer } from '../support/several-servers.ts';
import { startTarget, visit } from '../support/target.ts';

const SECONDS = Number(process.env['ADIT_CHANGES_SECONDS'] ?? 300);
const PER_MINUTE = 1000;
/** Calls of a caller that a server has at once, at most: it accepts 56, and the frozen one answers none of its own meanwhile. */
const AT_ONCE = 30;
/** How long a server is frozen: longer than until it counts as dead. */
const FROZEN_MS = 15_000;
const WORDS = ['first', 'second'];
const NAMES = Array.from({ length: 100 }, (_, number) => `n${number}.example.test`);
const STATE = `{ tunnels(limit: 200) { rows { id port targets enabled runtime { running error } } }
  hosts(limit: 200) { rows { id host targets enabled runtime { running error } } } clients { rows { id remark } } }`;

/** What a connection to a tunnel gets: the word of its target, or "" if nothing listens. */
async function wordOf(port: number, host: string): Promise<string> {
  try {
    const socket = await visit(port, host);
    const [word]: unknown[] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => ['closed without a word'])]);
    socket.destroy();
    return String(word);
  } catch (error) {
    if (String(error).includes('ECONNREFUSED')) return '';
    throw error;
  }
}

/** What a request to a host gets: the word of its target, or "" if there is no such host. */
async function pageOf({ hostsPort }: TogetherServer, host: string): Promise<string> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get({ host: '127.0.0.1', port: hostsPort, headers: { host }, agent: false }, resolve).on('error', reject);
  });
  const body = String(Buffer.concat(await response.toArray()));
  return response.statusCode === 404 ? '' : response.statusCode === 200 ? body : `status ${response.statusCode}`;
}

async function positionOf(server: TogetherServer): Promise<number> {
  return Number(/^adit_change_log_position (\d+)$/m.exec(await metrics(server))?.[1]);
}

describeWith('initdb', `${PER_MINUTE} changes a minute through three servers for ${SECONDS} s, while one is killed and one is frozen`, () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  }, 120_000);
  afterAll(async () => {
    await endChildren();
    await postgresql.stop();
    removeScratchDirectories();
  }, 60_000);

  test('all servers and the database agree afterwards, listeners and routes included', async () => {
    const url = await postgresql.createDatabase();
    const servers = await startServers(url, 3);
    const [first, second, third] = servers;
    if (!first || !second || !third) throw new Error('there are three servers');
    const clientId = await write(first, '/client/add/', { vkey: 'the key of the agent' });
    await startAgent(first, 'the key of the agent');
    const tunnelTargets: string[] = [];
    const hostTargets: string[] = [];
    for (const word of WORDS) {
      tunnelTargets.push((await startTarget((socket) => socket.write(word))).address);
      const site = http.createServer((_request, response) => response.end(word)).listen(0, '127.0.0.1');
      await once(site, 'listening');
      const bound = site.address();
      if (bound === null || typeof bound === 'string') throw new Error('a TCP server has a port');
      hostTargets.push(`127.0.0.1:${bound.port}`);
      site.unref();
    }
    const ports = Array.from({ length: 100 }, (_, number) => firstPortOf(url) + number);

    /** When each server was last not running. */
    const disturbed = new Map<TogetherServer, number>();
    const away = new Set<TogetherServer>();
    const lags: number[] = [];
    const changes = new RandomChanges({
      clientId,
      ports,
      names: NAMES,
      tunnelTargets,
      hostTargets,
      // The time from the answer of one server until the listener is open at another.
      onListener: async (port, by) => {
        const answered = performance.now();
        await Promise.all(servers.map(async (server) => {
          if (server === by) return;
          while (!WORDS.includes(await wordOf(port, server.tunnelHost).catch(() => ''))) {
            if (away.has(server) || performance.now() - answered > 30_000) return;
            await delay(2);
          }
          if ((disturbed.get(server) ?? 0) < answered && !away.has(server)) lags.push(performance.now() - answered);
        }));
      },
    });
    const disturb = async (server: TogetherServer, work: () => Promise<void>): Promise<void> => {
      away.add(server);
      await work();
      away.delete(server);
      disturbed.set(server, performance.now());
    };

    const running = new Map<TogetherServer, number>();
    const open = new Set<Promise<void>>();
    const began = performance.now();
    let count = 0;
    const timer = setInterval(() => {
      // As many as are due: a busy machine delays timers.
      for (; count < (performance.now() - began) / 60_000 * PER_MINUTE; count++) {
        const possible = servers.filter((server) => !server.child.over && (running.get(server) ?? 0) < AT_ONCE);
        const by = possible[count % possible.length];
        if (!by) return; // made up for later
        running.set(by, (running.get(by) ?? 0) + 1);
        const one = changes.change(by).finally(() => {
          running.set(by, (running.get(by) ?? 0) - 1);
          open.delete(one);
        });
        open.add(one);
      }
    }, 20);
    const at = (share: number): Promise<void> => delay(Math.max(0, share * SECONDS * 1000 - (performance.now() - began)));
    await at(0.2);
    await disturb(second, async () => {
      second.child.kill('SIGKILL');
      await second.child.exited;
      await at(0.4);
      const { dataDir, httpPort, bridgePort, tlsPort, name, tunnelHost } = second;
      const start = () => startServer({ dataDir, httpPort, bridgePort, tlsPort, environment: settingsOf(url, 2) });
      // As a service manager does: on a busy machine the database may not respond in time.
      Object.assign(second, await start().catch(start).catch(start), { name, tunnelHost });
    });
    await at(0.6);
    let caughtUpMs = 0;
    await disturb(third, async () => {
      third.child.kill('SIGSTOP');
      await delay(FROZEN_MS);
      const position = await positionOf(first);
      third.child.kill('SIGCONT');
      const resumed = performance.now();
      await eventuallyAsync(() => positionOf(third), (seq) => seq >= position, 60_000);
      caughtUpMs = performance.now() - resumed;
    });
    await at(1);
    clearInterval(timer);
    const tookS = (performance.now() - began) / 1000;
    await Promise.all(open);

    lags.sort((one, other) => one - other);
    const quantile = (share: number) => lags[Math.min(lags.length - 1, Math.floor(lags.length * share))]?.toFixed(0);
    process.stdout.write(
      `${count} changes in ${tookS.toFixed(0)} s: ${changes.done} done, failed: ${
        JSON.stringify(Object.fromEntries(changes.failed))
      }; ms until a listener was open at another server (${lags.length}): `
        + `median ${quantile(0.5)}, p99 ${quantile(0.99)}, most ${quantile(1)}; ${
          caughtUpMs.toFixed(0)
        } ms until the frozen server had applied all it had missed\n`,
    );
    expect(lags.length).toBeGreaterThan(10);
    expect(changes.done).toBeGreaterThan(count * 0.7);

    await everywhere(servers, '{ client(id: 1) { runtime { connected } } }', (data) => JSON.stringify(data).includes('true'));
    const states = await eventuallyAsync(
      async () => (await Promise.all(servers.map((server) => graphql(server, STATE)))).map((state) => JSON.stringify(state)),
      ([one, ...others]) => others.every((other) => other === one),
      30_000,
    );
    const database = new pg.Client(url);
    await database.connect();
    const stored = async (query: string) => (await database.query<{ id: number; at: string; enabled: boolean; target: string }>(query)).rows;
    const tunnels = await stored('SELECT id, port::text AS at, enabled, target FROM "Tunnel"');
    const hosts = await stored('SELECT id, host AS at, enabled, target FROM "Host"');
    await database.end();
    for (const [kind, rows] of [['Tunnel', tunnels], ['Host', hosts]] as const) {
      // No acknowledged creation was lost.
      expect([...changes.kept[kind]].filter((id) => !rows.some((row) => String(row.id) === id))).toEqual([]);
      for (const { id } of rows) expect(states[0]).toContain(`"id":"${id}"`);
    }
    const wordFor = (rows: typeof tunnels, place: string, targets: readonly string[]): string => {
      const row = rows.find(({ at: where, enabled }) => where === place && enabled);
      return row ? WORDS[targets.indexOf(row.target)] ?? `the target ${row.target}` : '';
    };
    for (const server of servers) {
      for (const port of ports) {
        expect([server.name, port, await wordOf(port, server.tunnelHost)]).toEqual([server.name, port, wordFor(tunnels, String(port), tunnelTargets)]);
      }
      for (const name of NAMES) expect([server.name, name, await pageOf(server, name)]).toEqual([server.name, name, wordFor(hosts, name, hostTargets)]);
    }
    process.stdout.write(
      `${tunnels.length} tunnels and ${hosts.length} hosts are left; ${ports.length} ports and ${NAMES.length} names were tried at each server\n`,
    );
  }, (SECONDS + 300) * 1000);
});
