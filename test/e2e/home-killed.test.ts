import process from 'node:process';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventually } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { openTunnel, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { everywhere, settingsOf, startServers, type TogetherServer } from '../support/several-servers.ts';
import { startEcho } from '../support/target.ts';
import { Visitors } from '../support/visitors.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** Visitors are served again within this time after a kill, in ms; a busy machine takes longer. */
const SERVED_MS = sized(5000, 300);

describeWith('initdb', 'the server that an agent is connected to is killed', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  }, 120_000);
  afterAll(() => postgresql.stop());

  test('the agent, which was given one server, goes to another one at once; visitors at the others wait for it, and none fails', async () => {
    const url = await postgresql.createDatabase();
    const servers = await startServers(url, 3);
    const last = servers.at(-1);
    if (!last) throw new Error('there are three servers');
    const clientId = await write(last, '/client/add/', { vkey: 'the key of the agent' });
    const tunnel = await openTunnel(last, clientId, (await startEcho()).address);
    const agent = await startAgent(last, 'the key of the agent');
    /** The server that the agent is connected to now. */
    const home = (): TogetherServer | undefined => {
      const port = [...agent.output.matchAll(/connected to 127\.0\.0\.1:(\d+) as/g)].at(-1)?.[1];
      return servers.find(({ bridgePort }) => String(bridgePort) === port);
    };
    const running = `{ tunnel(id: ${tunnel.id}) { runtime { running } } client(id: ${clientId}) { runtime { connected } } }`;
    const served: number[] = [];
    const visits = { all: 0, lost: 0, failed: new Array<string>() };
    for (let round = 0; round < sized(2, 20); round++) {
      await everywhere(servers, running, (data) => !JSON.stringify(data).includes('false'));
      const killed = home();
      if (!killed) throw new Error('the agent is connected');
      const others = servers.filter((server) => server !== killed);
      const visitors = others.map(({ tunnelHost }) => Visitors.start(tunnel.port, () => tunnelHost));
      await eventually(() => visitors.every(({ done }) => done.length > 5), Boolean);
      killed.child.kill('SIGKILL');
      const at = performance.now();
      await killed.child.exited;
      const ended = performance.now();
      await eventually(() => visitors.every(({ done }) => done.some((visit) => visit.began > at && visit.problem === '')), Boolean);
      for (const crowd of visitors) {
        const all = await crowd.stop();
        visits.all += all.length;
        const failed = all.filter(({ problem }) => problem !== '');
        // Connections that lead through the server end with it.
        visits.lost += failed.filter(({ began }) => began < ended).length;
        visits.failed.push(...failed.flatMap(({ began, problem }) => began < ended ? [] : [`${problem} after ${Math.round(began - ended)} ms`]));
        served.push(Math.min(...all.flatMap((visit) => visit.began > at && visit.problem === '' ? [visit.ended - at] : [])));
      }
      servers.splice(servers.indexOf(killed), 1);
      if (!endurance) continue;
      const { dataDir, httpPort, bridgePort, tlsPort, name, tunnelHost } = killed;
      const number = Number(name.slice('node'.length));
      const again = { ...await startServer({ dataDir, httpPort, bridgePort, tlsPort, environment: settingsOf(url, number) }), name, tunnelHost };
      for (const { name: other } of servers) await again.child.says(new RegExp(`connected to another node node=${other}\\b`));
      servers.push(again);
    }
    served.sort((one, other) => one - other);
    const figures = `${served.length} times, ms until visitors were served: median ${served[served.length >> 1]?.toFixed(0)}, most ${
      served.at(-1)?.toFixed(0)
    }`;
    if (endurance) process.stdout.write(`${figures}; of ${visits.all} visitors, ${visits.failed.length} failed; ${visits.lost} ended with their server\n`);
    expect(visits.failed).toEqual([]);
    expect(served.at(-1)).toBeLessThan(SERVED_MS);
  }, sized(120_000, 900_000));
});
