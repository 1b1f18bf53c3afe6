import http from 'node:http';
import path from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { covering } from './certificates.ts';
import { type Parameters, type ServerProcess, startAgent, write } from './processes.ts';

/** The keys of the two clients whose agents run. */
export const AGENT_KEYS = ['the key of the office agent', 'the key of the home agent'] as const;
/** The password of every user. */
export const USER_PASSWORD = 'development';

/** Where the targets listen, as HOST:PORT. */
export interface DevelopmentTargets {
  readonly web: string;
  readonly tcpEcho: string;
  readonly udpEcho: string;
  /** Speaks TLS itself. */
  readonly https: string;
  /** Nothing listens there. */
  readonly silent: string;
  /** A directory with files to serve. */
  readonly files: string;
}

/** What is wrong with a tunnel or host, by the gate of the diagnosis that stops it. */
interface Fault {
  readonly gate: 'ROUTE' | 'CERTIFICATE' | 'ENABLED' | 'OWNER' | 'QUOTA' | 'ACCESS' | 'AGENT' | 'TARGET';
  readonly tunnel?: number;
  readonly host?: string;
}

/** What a server was given. */
export interface DevelopmentData {
  /** Tunnels that work, by type. */
  readonly tunnels: Readonly<Record<'tcp' | 'udp' | 'httpProxy' | 'socks5' | 'file' | 'secret' | 'p2p', number>>;
  /** Hosts that work. */
  readonly hosts: readonly string[];
  /** One for each gate of the diagnosis. */
  readonly faults: readonly Fault[];
}

/** An address of the documentation's networks, which no visitor has. */
const NOBODY = '192.0.2.1';

/**
 * Gives an empty server users, clients, a tunnel of every type, hosts, and one fault of each kind that the diagnosis knows: through its API, as an operator does.
 * @param firstPort of the tunnels, which get this one and those after it; 0 = free ones
 */
export async function seedDevelopment(server: ServerProcess, targets: DevelopmentTargets, firstPort: number): Promise<DevelopmentData> {
  let ports = 0;
  const port = () => firstPort === 0 ? 0 : firstPort + ports++;
  const user = (username: string, more: Parameters = {}) =>
    write(server, '/user/add/', { username, password: USER_PASSWORD, remark: `${username}'s team`, ...more });
  const client = (remark: string, vkey: string, more: Parameters = {}) => write(server, '/client/add/', { remark, vkey, ...more });
  const tunnel = (clientId: number, type: string, remark: string, more: Parameters = {}) =>
    write(server, '/index/add/', { client_id: clientId, type, remark, port: port(), target: targets.tcpEcho, ...more });
  const addHost = (clientId: number, name: string, more: Parameters = {}) =>
    write(server, '/index/addhost/', { client_id: clientId, host: name, target: targets.web, remark: name, scheme: 'all', ...more });
  const host = async (clientId: number, name: string, more: Parameters = {}): Promise<string> => {
    await addHost(clientId, name, more);
    return name;
  };

  const stoppedHost = async (name: string): Promise<string> => {
    await write(server, '/index/hoststop/', { id: await addHost(office, name) });
    return name;
  };

  const [alice, bob] = [await user('alice', { max_client: 10, max_tunnel: 100 }), await user('bob')];
  const [office, home] = [
    await client('office', AGENT_KEYS[0], { user_id: alice, config_conn_allow: 1 }),
    await client('home', AGENT_KEYS[1], { user_id: bob, rate_limit: 20_480, compress: 1 }),
  ];
  const tunnels = {
    tcp: await tunnel(office, 'tcp', 'echo'),
    udp: await tunnel(office, 'udp', 'datagrams', { target: targets.udpEcho }),
    httpProxy: await tunnel(office, 'httpProxy', 'proxy into the office', { target: '' }),
    socks5: await tunnel(office, 'socks5', 'SOCKS into the office', { target: '' }),
    file: await tunnel(office, 'file', 'shared files', { target: '', local_path: targets.files }),
    secret: await tunnel(home, 'secret', 'with a password', { password: 'the password of the secret tunnel' }),
    p2p: await tunnel(home, 'p2p', 'past the server', { password: 'the password of the p2p tunnel' }),
  };
  const hosts = [
    await host(office, 'web.localhost.example'),
    await host(home, '*.p.example.com', { cert_file_path: covering.certificate, key_file_path: covering.key }),
    await host(office, 'tls.localhost.example', { target: targets.https, scheme: 'https' }),
  ];

  const stopped = await tunnel(office, 'tcp', 'stopped');
  await write(server, '/index/stop/', { id: stopped });
  const expired = await client('expired', 'the key of the expired client', { expire_time: '2020-01-01 00:00:00' });
  const picky = await client('picky', 'the key of the picky client', { ipwhite: 1, ipwhitelist: NOBODY });
  const faults: Fault[] = [
    { gate: 'ROUTE', host: await stoppedHost('stopped.localhost.example') },
    { gate: 'CERTIFICATE', host: await host(office, 'badcert.localhost.example', { cert_file_path: covering.certificate, key_file_path: covering.key }) },
    { gate: 'ENABLED', tunnel: stopped },
    { gate: 'OWNER', tunnel: await tunnel(expired, 'tcp', 'of an expired client') },
    { gate: 'QUOTA', tunnel: await exhausted(server, targets, port()) },
    { gate: 'ACCESS', tunnel: await tunnel(picky, 'tcp', 'for one address only') },
    { gate: 'AGENT', tunnel: await tunnel(await client('offline', 'the key of the offline client'), 'tcp', 'without an agent') },
    { gate: 'TARGET', tunnel: await tunnel(office, 'tcp', 'to a target that does not answer', { target: targets.silent }) },
  ];
  return { tunnels, hosts, faults };
}

/** A tunnel of a client that has used its traffic: its agent runs as long as that takes. @returns its id */
async function exhausted(server: ServerProcess, { web }: DevelopmentTargets, port: number): Promise<number> {
  const vkey = 'the key of the exhausted client';
  const clientId = await write(server, '/client/add/', { remark: 'exhausted', vkey, flow_limit: 1 });
  const id = await write(server, '/index/add/', { client_id: clientId, type: 'tcp', remark: 'beyond its traffic', port, target: web });
  const agent = await startAgent(server, vkey);
  const name = 'exhausted.localhost.example';
  await write(server, '/index/addhost/', { client_id: clientId, host: name, target: web });
  const request = http.get({ host: '127.0.0.1', port: server.hostsPort, path: '/large', headers: { host: name }, agent: false });
  request.on('response', (response) => response.resume());
  request.on('error', () => undefined); // it is cut off at the limit
  await new Promise((resolve) => {
    request.on('close', resolve);
  });
  await agent.end();
  return id;
}

/** Writes the files that the `file` tunnel serves. @returns the directory */
export function writeSharedFiles(dataDir: string): string {
  const directory = path.join(dataDir, 'shared');
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'hello.txt'), 'Hello from a file tunnel\n');
  return directory;
}
