import { startOwnPostgresql } from '../../test/support/postgresql.ts';
import { openTunnel, startAgent, write } from '../../test/support/processes.ts';
import { everywhere, startServers } from '../../test/support/several-servers.ts';
import type { Side } from './side.ts';

/** Two servers of one installation. One agent is connected to the server that the visitors come to, and one to the other server. */
export const nodes: Side = {
  name: 'Adit on two servers',
  programs: ['initdb'],
  async start(targets) {
    const postgresql = await startOwnPostgresql();
    const servers = await startServers(await postgresql.createDatabase(), 2, { ADIT_LOG_LEVEL: 'info' });
    const [entry, other] = servers;
    if (!entry || !other) throw new Error('there are two servers');
    const tunnelTo = async (server: typeof entry, vkey: string) => {
      const id = await write(entry, '/client/add/', { vkey });
      const agent = await startAgent(server, vkey);
      const { id: tunnelId, port } = await openTunnel(entry, id, `127.0.0.1:${targets.http}`);
      await everywhere(
        servers,
        `{ tunnel(id: ${tunnelId}) { runtime { running } } client(id: ${id}) { runtime { connected } } }`,
        (data) => !JSON.stringify(data).includes('false'),
      );
      return { agent, port };
    };
    const [here, there] = [await tunnelTo(entry, 'bench'), await tunnelTo(other, 'bench elsewhere')];
    return {
      name: 'Adit on two servers',
      ports: { sameServer: here.port, otherServer: there.port },
      // The goals are for the servers: agents do the same on both ways.
      pids: servers.map(({ child }) => child.pid),
      stop: async () => {
        for (const child of [here.agent, there.agent, ...servers.map((server) => server.child)]) await child.end();
        await postgresql.stop();
      },
    };
  },
};
