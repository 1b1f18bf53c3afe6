import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { covering } from '../../test/support/certificates.ts';
import { type Parameters, openTunnel, startAgent, startServer, startVisitorProcess, write } from '../../test/support/processes.ts';
import type { Side } from './side.ts';

/** This program: server and agent, a tunnel to each target. */
export const adit = variant('Adit');

/** The same with what a client can be given, and with sockets of a certain kind. */
export const aditVariants: readonly Side[] = [
  variant('Adit on net', { sockets: 'net' }),
  variant('Adit on onread', { sockets: 'onread' }),
  variant('Adit compressed', { client: { compress: 1 } }),
  variant('Adit over TLS', { client: { crypt: 1 } }),
  variant('Adit compressed over TLS', { client: { compress: 1, crypt: 1 } }),
];

/** Another compiled checkout of this program, with its own agents, named after its version and commit. @throws when there is none */
export function aditOf(root: string): Side {
  return variant(nameOf(root), { root: path.resolve(root) });
}

/** A checkout by its version and, where git knows it, its commit: `0.1.0 (bbf6d55)`. @throws when the directory holds none */
export function nameOf(root: string): string {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')));
  try {
    return `${version} (${execFileSync('git', ['-C', root, 'describe', '--always', '--dirty', '--exclude=*'], { encoding: 'utf8', stdio: 'pipe' }).trim()})`;
  } catch {
    return `${version} (${path.basename(path.resolve(root))})`;
  }
}

/** What sets an Adit apart from the one that is measured first. */
interface Variation {
  /** Parameters of the client. */
  readonly client?: Parameters;
  /** The kind of sockets; left out = the one that the program chooses by itself. */
  readonly sockets?: string;
  /** A compiled checkout; left out = this one. */
  readonly root?: string;
}

const PASSWORD = 'bench secret';

function variant(name: string, { client = {}, sockets = 'auto', root }: Variation = {}): Side {
  return {
    name,
    programs: [],
    async start(targets) {
      const environment = { ADIT_SOCKETS: sockets };
      const server = await startServer({ environment: { ADIT_LOG_LEVEL: 'warn', ...environment }, root });
      const add = (vkey: string, more: Parameters): Promise<number> => write(server, '/client/add/', { vkey, remark: vkey, ...more });
      const [id, tlsId] = [await add('bench', client), await add('bench over TLS', { crypt: 1 })];
      const agents = [await startAgent(server, 'bench', environment), await startAgent(server, 'bench over TLS', environment)];
      const target = `127.0.0.1:${targets.http}`;
      await write(server, '/index/addhost/', {
        client_id: id,
        host: 'localhost',
        scheme: 'all',
        target,
        cert_file_path: covering.certificate,
        key_file_path: covering.key,
      });
      await write(server, '/index/add/', { client_id: id, type: 'secret', password: PASSWORD, target });
      const visitor = await startVisitorProcess(server, 'secret', PASSWORD, environment);
      const children = [server.child, ...agents, visitor.child];
      return {
        name,
        ports: {
          http: (await openTunnel(server, id, target)).port,
          echo: (await openTunnel(server, id, `127.0.0.1:${targets.echo}`)).port,
          udp: (await openTunnel(server, id, `127.0.0.1:${targets.udp}`, 'udp')).port,
          hosts: server.hostsPort,
          secureHosts: server.secureHostsPort,
          tls: (await openTunnel(server, tlsId, target)).port,
          secret: visitor.port,
          socks5: (await openTunnel(server, id, '', 'socks5')).port,
          httpProxy: (await openTunnel(server, id, '', 'httpProxy')).port,
        },
        pids: children.map(({ pid }) => pid),
        stop: async () => {
          for (const child of children.toReversed()) await child.end();
        },
      };
    },
  };
}
