import { startOwnPostgresql } from '../../test/support/postgresql.ts';
import { openTunnel, startAgent, write } from '../../test/support/processes.ts';
import { everywhere, startServers } from '../../test/support/several-servers.ts';
import type { NodeLinkKind } from '../../src/wire/node-messages.ts';
import type { Side } from './side.ts';

/** Two servers of one installation, with links over TLS. */
export const nodes = twoServers('Adit on two servers', 'tls');
/** The same with links in the clear. */
export const plainNodes = twoServers('Adit on two servers (plain links)', 'plain');

/** One agent is connected to the server that the visitors come to, and one to the other server. */
function twoServers(name: string, links: NodeLinkKind): Side {
  return {
    name,
    programs: ['initdb'],
    async start(targets) {
      const postgresql = await startOwnPostgresql();
      const servers = await startServers(await postgresql.createDatabase(), 2, { ADIT_LOG_LEVEL: 'info', ADIT_NODE_LINKS: links });
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
        name,
        ports: { sameServer: here.port, [links === 'tls' ? 'otherServer' : 'otherServerPlain']: there.port },
        // The goals are for the servers: agents do the same on both ways.
        pids: servers.map(({ child }) => child.pid),
        stop: async () => {
          for (const child of [here.agent, there.agent, ...servers.map((server) => server.child)]) await child.end();
          await postgresql.stop();
        },
      };
    },
  };
}
