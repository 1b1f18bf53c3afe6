import { openTunnel, startAgent, startServer, write } from '../../test/support/processes.ts';
import type { Side } from './side.ts';

/** This program: server and agent, a tunnel to each target. */
export const adit: Side = {
  name: 'Adit',
  programs: [],
  async start(targets) {
    const server = await startServer({ environment: { ADIT_LOG_LEVEL: 'warn' } });
    const client = await write(server, '/client/add/', { vkey: 'bench', remark: 'bench' });
    const agent = await startAgent(server, 'bench');
    return {
      name: 'Adit',
      ports: {
        http: (await openTunnel(server, client, `127.0.0.1:${targets.http}`)).port,
        echo: (await openTunnel(server, client, `127.0.0.1:${targets.echo}`)).port,
        udp: (await openTunnel(server, client, `127.0.0.1:${targets.udp}`, 'udp')).port,
      },
      pids: [server.child.pid, agent.pid],
      stop: async () => {
        await agent.end();
        await server.child.end();
      },
    };
  },
};
