import process from 'node:process';
import { startOwnPostgresql } from '../../test/support/postgresql.ts';
import { startAgent, startServer, write } from '../../test/support/processes.ts';
import { everywhere, graphql, settingsOf } from '../../test/support/several-servers.ts';
import type { RunningSide, Side } from './side.ts';

/** How many tunnels there are, each with an agent of its own, on ports that follow each other: with two processes, each has some of the agents. */
export const TUNNELS = 8;

/** One server of two processes, and one of a single process. */
export const processes: Side = {
  name: 'Adit in two processes',
  programs: ['initdb'],
  async start(targets) {
    const postgresql = await startOwnPostgresql();
    const [two, one] = [await started(2), await started(1)];
    return {
      name: 'Adit in two processes',
      ports: { twoProcesses: two.port, oneProcess: one.port },
      pids: [two.pid, one.pid],
      stop: async () => {
        for (const child of [...two.children, ...one.children]) await child.end();
        await postgresql.stop();
      },
    } satisfies RunningSide;

    async function started(count: number) {
      const url = await postgresql.createDatabase();
      const settings = settingsOf(url, 1);
      const server = await startServer({ environment: { ...settings, ADIT_PROCESSES: String(count) } });
      const port = Number.parseInt(settings['ADIT_ALLOW_PORTS'] ?? '', 10);
      const agents = await Promise.all(Array.from({ length: TUNNELS }, async (_, number) => {
        const clientId = await write(server, '/client/add/', { vkey: `bench ${number}` });
        await write(server, '/index/add/', { client_id: clientId, type: 'tcp', port: port + number, target: `127.0.0.1:${targets.http}` });
        return startAgent(server, `bench ${number}`);
      }));
      await everywhere(
        [server],
        '{ nodes { agents } }',
        (data) => JSON.stringify(data).match(/\d+/g)?.reduce((sum, agents) => sum + Number(agents), 0) === TUNNELS,
      );
      process.stderr.write(`${count === 1 ? 'one process' : 'two processes'}: ${JSON.stringify(await graphql(server, '{ nodes { agents } }'))}\n`);
      return { port, pid: server.child.pid, children: [...agents, server.child] };
    }
  },
};
