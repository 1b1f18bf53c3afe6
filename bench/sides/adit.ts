import { covering } from '../../test/support/certificates.ts';
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
      await write(server, '/index/addhost/', { client_id: id, host: 'localhost', scheme: 'all', target: `127.0.0.1:${targets.http}`, cert_file_path: covering.certificate, key_file_path: covering.key });
      return {
        name,
        ports: {
          http: (await openTunnel(server, id, `127.0.0.1:${targets.http}`)).port,
          echo: (await openTunnel(server, id, `127.0.0.1:${targets.echo}`)).port,
          hosts: server.hostsPort,
          secureHosts: server.secureHostsPort,
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
