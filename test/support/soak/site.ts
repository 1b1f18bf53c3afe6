import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { covering } from '../certificates.ts';
import type { Child } from '../child.ts';
import { freePortRange } from '../free-port.ts';
import { observed } from '../observe.ts';
import { openTunnel, type Parameters, type ServerProcess, startAgent, startVisitorProcess, type VisitorProcess, write } from '../processes.ts';
import { datagrams, socksDatagrams } from './datagrams.ts';
import { connectStreams, socksStreams, streams } from './streams.ts';
import type { Targets } from './targets.ts';
import type { Traffic } from './transfer.ts';
import { fileRequests, hostRequests, proxyRequests, secureHostRequests, webSockets } from './web.ts';

/** Of programs that never find a direct path: that is tried elsewhere. */
const relayed = { NODE_OPTIONS: `${observed.NODE_OPTIONS} --import ${pathToFileURL(path.join(import.meta.dirname, '../relay-only.mjs')).href}` };

/** The types of tunnels that have a port; and those that a visitor program leads to. */
const listening = ['tcp', 'udp', 'httpProxy', 'socks5', 'file'] as const;
const visited = ['secret', 'p2p'] as const;

/** A client with a tunnel of every type, two hosts, its agent and two visitor programs, all of them processes of their own. */
export class Site {
  readonly name: string;
  readonly clientId: number;
  readonly traffic: readonly Traffic[];
  readonly tunnels: readonly number[];
  readonly hosts: readonly number[];
  readonly #server: ServerProcess;
  readonly #vkey: string;
  readonly #directory: string;
  readonly #visitors: VisitorProcess[];
  #agent: Child;

  private constructor(
    fixed: Pick<Site, 'name' | 'clientId' | 'traffic' | 'tunnels' | 'hosts'>,
    server: ServerProcess,
    vkey: string,
    directory: string,
    agent: Child,
    visitors: VisitorProcess[],
  ) {
    ({ name: this.name, clientId: this.clientId, traffic: this.traffic, tunnels: this.tunnels, hosts: this.hosts } = fixed);
    this.#server = server;
    this.#vkey = vkey;
    this.#directory = directory;
    this.#agent = agent;
    this.#visitors = visitors;
  }

  /** Makes the records through the legacy API and starts the programs. @param settings of the client */
  static async start(server: ServerProcess, name: string, targets: Targets, settings: Parameters): Promise<Site> {
    const vkey = `the key of ${name}`;
    const clientId = await write(server, '/client/add/', { vkey, remark: name, ...settings });
    const agent = await startAgent(server, vkey, relayed, 'plain', ['--allow-files', targets.directory]);
    // They are freed and taken again all the time.
    const firstPort = await freePortRange(listening.length + visited.length);
    const ports = new Map<string, number>([...listening, ...visited].map((type, index) => [type, firstPort + index]));
    const port = (type: string): number => ports.get(type) ?? 0;
    const tunnels: number[] = [];
    for (const type of listening) {
      const more: Parameters = { port: port(type), ...(type === 'file' ? { local_path: targets.directory } : {}) };
      tunnels.push((await openTunnel(server, clientId, type === 'udp' ? targets.udp : targets.tcp, type, more)).id);
    }
    const visitors: VisitorProcess[] = [];
    for (const type of visited) {
      const password = `${type} of ${name}`;
      tunnels.push(await write(server, '/index/add/', { client_id: clientId, type, password, target: targets.tcp }));
      visitors.push(await startVisitorProcess(server, type, password, relayed, port(type)));
    }
    const host = `${name}.p.example.com`;
    const files = { cert_file_path: covering.certificate, key_file_path: covering.key };
    const hosts = [await write(server, '/index/addhost/', { client_id: clientId, host, scheme: 'all', target: targets.http, ...files })];
    const traffic = [
      streams('tcp', port('tcp')),
      datagrams(port('udp')),
      connectStreams(port('httpProxy'), targets.tcp),
      proxyRequests(port('httpProxy'), targets.http),
      socksStreams(port('socks5'), targets.tcp),
      socksDatagrams(port('socks5'), targets.udp),
      fileRequests(port('file'), targets.files),
      ...visitors.map((visitor, index) => streams(visited[index] ?? '', visitor.port)),
      hostRequests(server.hostsPort, host),
      secureHostRequests(server.secureHostsPort, host),
      webSockets(server.hostsPort, host),
    ];
    return new Site({ name, clientId, traffic, tunnels, hosts }, server, vkey, targets.directory, agent, visitors);
  }

  get agent(): Child {
    return this.#agent;
  }

  /** The visitor programs. */
  get visitors(): readonly Child[] {
    return this.#visitors.map(({ child }) => child);
  }

  /** Ends the agent by a signal and starts another one. */
  async restartAgent(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#agent.kill(signal);
    await this.#agent.exited;
    this.#agent = await startAgent(this.#server, this.#vkey, relayed, 'plain', ['--allow-files', this.#directory]);
  }

  /** Ends a visitor program by a signal and starts it again on the same port. */
  async restartVisitor(index: 0 | 1, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { child, port } = this.#visitors[index] ?? { child: undefined, port: 0 };
    child?.kill(signal);
    await child?.exited;
    this.#visitors[index] = await startVisitorProcess(this.#server, visited[index], `${visited[index]} of ${this.name}`, relayed, port);
  }

  /** Changes the client. */
  async edit(settings: Parameters): Promise<void> {
    await write(this.#server, '/client/edit/', { id: this.clientId, ...settings });
  }

  /** Stops every tunnel and host, and starts them again. */
  async stopAndStart(): Promise<void> {
    for (const way of ['stop', 'start']) {
      for (const id of this.tunnels) await write(this.#server, `/index/${way}/`, { id });
      for (const id of this.hosts) await write(this.#server, `/index/host${way}/`, { id });
    }
  }
}
