import { type Parameters, openTunnel, startAgent, startServer, write } from '../../test/support/processes.ts';
import type { Side } from './side.ts';

/** This program: server and agent, a tunnel to each target. */
export const adit = variant('Adit', {});

/** The same with what a client can be given, and with sockets read by events. */
export const aditVariants: readonly Side[] = [
  variant('Adit on net', {}, { ADIT_SOCKETS: 'net' }),
  variant('Adit compressed', { compress: 1 }),
  variant('Adit over TLS', { crypt: 1 }),
  variant('Adit compressed over TLS', { compress: 1, crypt: 1 }),
];

function variant(name: string, client: Parameters, environment: Readonly<Record<string, string>> = {}): Side {
  return {
    name,
    programs: [],
    async start(targets) {
      const server = await startServer({ environment: { ADIT_LOG_LEVEL: 'warn', ...environment } });
      const id = await write(server, '/client/add/', { vkey: 'bench', remark: 'bench', ...client });
      const agent = await startAgent(server, 'bench', environment);
      return {
        name,
        ports: {
          http: (await openTunnel(server, id, `127.0.0.1:${targets.http}`)).port,
          echo: (await openTunnel(server, id, `127.0.0.1:${targets.echo}`)).port,
          udp: (await openTunnel(server, id, `127.0.0.1:${targets.udp}`, 'udp')).port,
        },
        pids: [server.child.pid, agent.pid],
        stop: async () => {
          await agent.end();
          await server.child.end();
        },
      };
    },
  };
}
