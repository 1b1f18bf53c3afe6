import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { covering } from './certificates.ts';
import { openTunnel, type Reached, startVisitorProcess, write } from './processes.ts';
import { datagrams, socksDatagrams } from './soak/datagrams.ts';
import { connectStreams, socksStreams, streams } from './soak/streams.ts';
import type { Targets } from './soak/targets.ts';
import type { Traffic } from './soak/transfer.ts';
import { fileRequests, hostRequests, proxyRequests, secureHostRequests, webSockets } from './soak/web.ts';

const listening = ['tcp', 'udp', 'httpProxy', 'socks5', 'file'] as const;
const visited = ['secret', 'p2p'] as const;

/** For programs that never find a direct path, so that everything goes through the servers. */
export const relayed = { NODE_OPTIONS: `--import ${pathToFileURL(path.join(import.meta.dirname, 'relay-only.mjs')).href}` };

/** The records of a client with a tunnel of every type and a host. */
export interface EveryType {
  readonly ports: Readonly<Record<(typeof listening)[number], number>>;
  readonly domain: string;
  readonly targets: Targets;
  readonly passwordOf: (type: (typeof visited)[number]) => string;
}

/** Where the ports of a server are. */
export interface Entrance {
  readonly tunnelHost: string;
  readonly hostsPort: number;
  readonly secureHostsPort: number;
}

/** Makes a tunnel of every type, and a host over HTTP and HTTPS, for a client. */
export async function openEveryType(api: { readonly httpPort: number }, clientId: number, name: string, targets: Targets): Promise<EveryType> {
  const ports = { tcp: 0, udp: 0, httpProxy: 0, socks5: 0, file: 0 };
  for (const type of listening) {
    const more = { ...type === 'file' && { local_path: targets.directory } };
    ports[type] = (await openTunnel(api, clientId, type === 'udp' ? targets.udp : targets.tcp, type, more)).port;
  }
  const passwordOf = (type: string) => `${type} of ${name}`;
  for (const type of visited) await write(api, '/index/add/', { client_id: clientId, type, password: passwordOf(type), target: targets.tcp });
  const domain = `${name}.p.example.com`;
  const files = { cert_file_path: covering.certificate, key_file_path: covering.key };
  await write(api, '/index/addhost/', { client_id: clientId, host: domain, scheme: 'all', target: targets.http, ...files });
  return { ports, domain, targets, passwordOf };
}

/** Traffic of every kind through the ports of one server. */
export function everyKindAt({ tunnelHost, hostsPort, secureHostsPort }: Entrance, { ports, domain, targets }: EveryType): Traffic[] {
  return [
    streams('tcp', ports.tcp, tunnelHost),
    datagrams(ports.udp, tunnelHost),
    connectStreams(ports.httpProxy, targets.tcp, tunnelHost),
    proxyRequests(ports.httpProxy, targets.http, tunnelHost),
    socksStreams(ports.socks5, targets.tcp, tunnelHost),
    socksDatagrams(ports.socks5, targets.udp, tunnelHost),
    fileRequests(ports.file, targets.files, tunnelHost),
    hostRequests(hostsPort, domain),
    secureHostRequests(secureHostsPort, domain),
    webSockets(hostsPort, domain),
  ];
}

/** Traffic through a visitor program of each type that needs one, connected to one server. */
export async function visitorsAt(server: Pick<Reached, 'bridgePort'>, { passwordOf }: EveryType): Promise<Traffic[]> {
  return Promise.all(visited.map(async (type) => streams(type, (await startVisitorProcess(server, type, passwordOf(type), relayed)).port)));
}
