import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { type EveryType, everyKindAt, openEveryType, relayed, visitorsAt } from '../support/every-type.ts';
import { freePort } from '../support/free-port.ts';
import { type Front, startHaproxy } from '../support/haproxy.ts';
import { otherBuild } from '../support/other-build.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { openTunnel, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { aditNodes, everywhere, graphql, settingsOf, startServers, type TogetherServer } from '../support/several-servers.ts';
import { startTargets, type Targets } from '../support/soak/targets.ts';
import { streams } from '../support/soak/streams.ts';
import { hostRequests } from '../support/soak/web.ts';
import { type Visited, Visitors } from '../support/visitors.ts';

const AGENTS = 50;
const SIZES = [1, 1000, 70_000, 1_500_000];
/** Where haproxy has the ports of the tunnels. */
const BALANCER = '127.0.0.100';
/** haproxy needs two failed checks, one second apart. */
const SETTINGS = { ADIT_LEAVE_SECONDS: '5', ADIT_DRAIN_SECONDS: '5' };
/** A compiled checkout of an earlier commit with the same migrations, or only fewer that add: one of its servers runs beside the others. Absent = one of this program does. */
const FORMER = process.env['ADIT_FORMER_CHECKOUT'];
/** What {@link underLoad} returns if nothing has failed. */
const NOTHING = { connections: [], hosts: [], calls: [] };
const RUNNING = '{ clients(limit: 100) { rows { runtime { connected } } } tunnels(limit: 100) { rows { runtime { running } } } }';
const allRun = (data: object): boolean => !JSON.stringify(data).includes('false');

describeWith(['initdb', 'haproxy'], 'three servers behind haproxy, with 50 agents', () => {
  let postgresql: PostgresqlServer;
  let url: string;
  let servers: TogetherServer[];
  let targets: Targets;
  let all: EveryType;
  const others: Array<{ readonly port: number; readonly domain: string }> = [];
  let front: { readonly httpPort: number; readonly bridgePort: number; readonly hostsPort: number; readonly secureHostsPort: number };

  beforeAll(async () => {
    postgresql = await startPostgresql();
    url = await postgresql.createDatabase();
    servers = await startServers(url, 3, SETTINGS);
    targets = await startTargets();
    const [first] = servers;
    if (!first) throw new Error('there are three servers');
    const keys = Array.from({ length: AGENTS }, (_, number) => `the key of agent ${number}`);
    for (const [number, vkey] of keys.entries()) {
      const clientId = await write(first, '/client/add/', { vkey });
      if (number === 0) all = await openEveryType(first, clientId, 'all', targets);
      else {
        const domain = `a${number}.p.example.com`;
        const { port } = await openTunnel(first, clientId, targets.tcp);
        await write(first, '/index/addhost/', { client_id: clientId, host: domain, scheme: 'all', target: targets.http });
        others.push({ port, domain });
      }
    }
    front = { httpPort: await freePort(), bridgePort: await freePort(), hostsPort: await freePort(), secureHostsPort: await freePort() };
    const tcp = [all.ports.tcp, all.ports.httpProxy, all.ports.socks5, all.ports.file, ...others.map(({ port }) => port)];
    await startHaproxy([
      ...([['api', 'httpPort'], ['agents', 'bridgePort'], ['hosts', 'hostsPort'], ['secure-hosts', 'secureHostsPort']] as const).map(([name, port]): Front => ({
        name,
        bind: `127.0.0.1:${front[port]}`,
        servers: servers.map((server) => ({ name: server.name, address: `127.0.0.1:${server[port]}`, httpPort: server.httpPort })),
      })),
      ...tcp.map((port): Front => ({
        name: `tunnel-${port}`,
        bind: `${BALANCER}:${port}`,
        servers: servers.map(({ name, tunnelHost, httpPort }) => ({ name, address: `${tunnelHost}:${port}`, httpPort })),
      })),
    ]);
    for (const [number, vkey] of keys.entries()) {
      await (number === 0 ? startAgent(front, vkey, relayed, 'plain', ['--allow-files', targets.directory]) : startAgent(front, vkey));
    }
    await everywhere(servers, RUNNING, allRun);
  }, 600_000);
  afterAll(async () => {
    await endChildren();
    await postgresql.stop();
    removeScratchDirectories();
  }, 60_000);

  test('every type of tunnel and every host pass everything on through every server and through haproxy, for every agent', async () => {
    let transfers = 0;
    for (const entrance of [...servers, { name: 'haproxy', tunnelHost: BALANCER, ...front }]) {
      const visitors = await visitorsAt(entrance, all);
      const kinds = [...everyKindAt(entrance, all), ...visitors].filter(({ name }) => entrance.name !== 'haproxy' || !/udp/i.test(name));
      for (const bytes of SIZES) {
        await Promise.all(kinds.map((kind) => kind.run(bytes, ++transfers)));
        for (const { port, domain } of others) {
          const ways = [streams('tcp', port, entrance.tunnelHost), hostRequests(entrance.hostsPort, domain)];
          await Promise.all(ways.map((way) => way.run(Math.min(bytes, 100_000), ++transfers)));
        }
      }
    }
    process.stdout.write(`${transfers} transfers through 3 servers and haproxy, hashes checked\n`);
    expect(transfers).toBe(SIZES.length * (3 * (12 + 2 * others.length) + 10 + 2 * others.length));
  }, 900_000);

  /** Starts a server again, on its ports. @param root of the build, absent = this one */
  async function restart(server: TogetherServer, root?: string): Promise<void> {
    server.child.kill('SIGTERM');
    expect(await server.child.exited).toEqual({ code: 0, signal: null });
    const { dataDir, httpPort, bridgePort, tlsPort, hostsPort, secureHostsPort, name, tunnelHost } = server;
    const hosts = { ADIT_VHOST_HTTP_PORT: String(hostsPort), ADIT_VHOST_HTTPS_PORT: String(secureHostsPort) };
    const environment = { ...settingsOf(url, Number(name.slice('node'.length))), ...SETTINGS, ...hosts };
    Object.assign(server, await startServer({ dataDir, httpPort, bridgePort, tlsPort, environment, ...root !== undefined && { root } }), { name, tunnelHost });
    await eventuallyAsync(() => graphql(server, RUNNING), allRun, 60_000);
  }

  /** Does something while visitors of all agents, requests to hosts and calls come through haproxy: none of them may fail, if calls are repeated once. */
  async function underLoad(what: string, work: (served: () => Promise<void>) => Promise<void>): Promise<object> {
    const crowds = [all.ports.tcp, ...others.map(({ port }) => port)].map((port) => Visitors.start(port, () => BALANCER, 1000));
    const ended = new AbortController();
    const failed = { hosts: new Array<string>(), calls: new Array<string>() };
    const made = { hosts: 0, calls: 0, repeated: 0 };
    const until = async (step: () => Promise<void>) => {
      while (!ended.signal.aborted) await step();
    };
    const hosts = until(async () => {
      const domain = others[made.hosts++ % others.length]?.domain ?? '';
      await hostRequests(front.hostsPort, domain).run(1000, made.hosts).catch((error: unknown) => failed.hosts.push(String(error)));
    });
    const calls = until(async () => {
      const call = () => graphql(front, `mutation { updateClient(id: 1, input: { remark: "${++made.calls}" }) { remark } }`);
      await call().catch(async (error: unknown) => {
        made.repeated++;
        await call().catch((again: unknown) => failed.calls.push(`${String(error)}, then ${String(again)}`));
      });
    });
    let visits: readonly Visited[] = [];
    try {
      await work(async () => {
        const before = crowds.map(({ done }) => done.length);
        await eventually(() => crowds.every(({ done }, index) => done.length > (before[index] ?? 0) + 2), Boolean, 60_000);
      });
    } finally {
      ended.abort();
      await Promise.all([hosts, calls]);
      visits = (await Promise.all(crowds.map((crowd) => crowd.stop()))).flat();
    }
    const lost = visits.filter(({ problem }) => problem !== '');
    process.stdout.write(
      `${what}: of ${visits.length} connections ${lost.length} failed, of ${made.hosts} requests to hosts ${failed.hosts.length}, of ${made.calls} calls ${failed.calls.length} (${made.repeated} were repeated)\n`,
    );
    return { connections: lost, ...failed };
  }

  test('a restart of one after another fails nothing', async () => {
    const failed = await underLoad('restart of three servers', async (served) => {
      for (const server of servers) {
        await served();
        await restart(server);
      }
      await served();
    });
    expect(failed).toEqual(NOTHING);
  }, 900_000);

  test('servers of two versions serve side by side while one after another is upgraded; a version that changes more waits until they are stopped', async () => {
    const [first, second, third] = servers;
    if (!first || !second || !third) throw new Error('there are three servers');
    const added = { '9998_add_fake': 'CREATE TABLE "Fake" (id INTEGER PRIMARY KEY);' };
    const next = otherBuild('99.1.0', added);
    const later = otherBuild('99.2.0', { ...added, '9999_fake_more': 'ALTER TABLE "Fake" RENAME TO "Faker";' });
    const failed = await underLoad('upgrade of three servers', async (served) => {
      await restart(first, next);
      await served();
      // Of the older version: it starts on the database that the newer one has migrated.
      await restart(second, FORMER);
      await served();
      expect(JSON.stringify(await graphql(third, '{ nodes { name version } }'))).toContain('{"name":"node1","version":"99.1.0"},{"name":"node2","version":"0.');
      const refused = startServer({ root: later, dataDir: first.dataDir, environment: { ...settingsOf(url, 4) } });
      await expect(refused).rejects.toThrow(
        /migration 9999_fake_more changes what the server node1 \(version 99\.1\.0\) uses, which is running on the database/,
      );
      await restart(second, next);
      await served();
      expect((await aditNodes(first, ['drain', third.name])).code).toBe(0);
      await restart(third, next);
      await served();
    });
    expect(failed).toEqual(NOTHING);
    expect(JSON.stringify(await graphql(third, '{ nodes { version draining alive } }'))).toBe(
      JSON.stringify({ nodes: servers.map(() => ({ version: '99.1.0', draining: false, alive: true })) }),
    );
  }, 900_000);
});
