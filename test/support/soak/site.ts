import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { covering } from '../certificates.ts';
import type { Child } from '../child.ts';
import { eventuallyAsync } from '../eventually.ts';
import { freePortRange } from '../free-port.ts';
import { observed } from '../observe.ts';
import { getClient, openTunnel, type Parameters, type ServerProcess, startAgent, startVisitorProcess, type VisitorProcess, write } from '../processes.ts';
import { Relay } from '../relay.ts';
import { datagrams, socksDatagrams } from './datagrams.ts';
import { connect, connectStreams, socksStreams, streams } from './streams.ts';
import type { Targets } from './targets.ts';
import type { Traffic } from './transfer.ts';
import { fileRequests, hostRequests, proxyRequests, secureHostRequests, webSockets } from './web.ts';

/** Of programs that never find a direct path: that is tried elsewhere. */
const relayed = { NODE_OPTIONS: `${observed.NODE_OPTIONS} --import ${pathToFileURL(path.join(import.meta.dirname, '../relay-only.mjs')).href}` };

/** The types of tunnels that have a port; and those that a visitor program leads to. */
const listening = ['tcp', 'udp', 'httpProxy', 'socks5', 'file'] as const;
const visited = ['secret', 'p2p'] as const;

/** Where the relays of the agents' connections listen, on the server's own ports: an agent that has to use TLS gets only the port. */
const relayHosts = ['127.0.0.9', '127.0.0.10'];
/** The server notices within 15 s that an agent is silent, and the agent that the server is; then it connects again. */
const SILENCE_MS = 25_000;

/** A client with a tunnel of every type, two hosts, its agent and two visitor programs, all of them processes of their own; the agent's connections pass relays. */
export class Site {
  readonly name: string;
  readonly clientId: number;
  readonly traffic: readonly Traffic[];
  readonly tunnels: readonly number[];
  readonly hosts: readonly number[];
  readonly #server: ServerProcess;
  readonly #tcpPort: number;
  readonly #relays: readonly Relay[];
  readonly #startAgent: () => Promise<Child>;
  readonly #visitors: VisitorProcess[];
  #agent: Child;

  private constructor(
    fixed: Pick<Site, 'name' | 'clientId' | 'traffic' | 'tunnels' | 'hosts'>,
    server: ServerProcess,
    tcpPort: number,
    relays: readonly Relay[],
    startIt: () => Promise<Child>,
    agent: Child,
    visitors: VisitorProcess[],
  ) {
    ({ name: this.name, clientId: this.clientId, traffic: this.traffic, tunnels: this.tunnels, hosts: this.hosts } = fixed);
    this.#server = server;
    this.#tcpPort = tcpPort;
    this.#relays = relays;
    this.#startAgent = startIt;
    this.#agent = agent;
    this.#visitors = visitors;
  }

  /** Makes the records through the legacy API and starts the programs. @param settings of the client */
  static async start(server: ServerProcess, name: string, targets: Targets, settings: Parameters): Promise<Site> {
    const vkey = `the key of ${name}`;
    const clientId = await write(server, '/client/add/', { vkey, remark: name, ...settings });
    const host = relayHosts.shift() ?? '';
    const relays = await Promise.all([server.bridgePort, server.tlsPort].map((port) => Relay.start(port, { host, port })));
    const startIt = () => startAgent({ ...server, bridgeHost: host }, vkey, relayed, 'plain', ['--allow-files', targets.directory]);
    const agent = await startIt();
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
    const domain = `${name}.p.example.com`;
    const files = { cert_file_path: covering.certificate, key_file_path: covering.key };
    const hosts = [await write(server, '/index/addhost/', { client_id: clientId, host: domain, scheme: 'all', target: targets.http, ...files })];
    const traffic = [
      streams('tcp', port('tcp')),
      datagrams(port('udp')),
      connectStreams(port('httpProxy'), targets.tcp),
      proxyRequests(port('httpProxy'), targets.http),
      socksStreams(port('socks5'), targets.tcp),
      socksDatagrams(port('socks5'), targets.udp),
      fileRequests(port('file'), targets.files),
      ...visitors.map((visitor, index) => streams(visited[index] ?? '', visitor.port)),
      hostRequests(server.hostsPort, domain),
      secureHostRequests(server.secureHostsPort, domain),
      webSockets(server.hostsPort, domain),
    ];
    return new Site({ name, clientId, traffic, tunnels, hosts }, server, port('tcp'), relays, startIt, agent, visitors);
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
    this.#agent = await this.#startAgent();
  }

  /** Freezes the agent until the server has disconnected it, and waits until it is back. */
  async freezeAgent(): Promise<void> {
    const from = this.#agent.output.length;
    this.#agent.kill('SIGSTOP');
    await eventuallyAsync(() => getClient(this.#server, this.clientId), ({ IsConnect }) => !IsConnect, SILENCE_MS);
    this.#agent.kill('SIGCONT');
    await this.#agent.says(/connected to/, from);
  }

  /** Nothing passes on the agent's connections any more, and neither end is notified. Waits until it has noticed and is back on others. */
  async cutOff(): Promise<void> {
    const from = this.#agent.output.length;
    for (const relay of this.#relays) relay.freeze();
    await this.#agent.says(/connected to/, from);
  }

  /** So many connections to the tcp tunnel send something, and leave without an answer, every second one by a reset. */
  async visitAndLeave(count: number): Promise<void> {
    const sockets = await Promise.all(Array.from({ length: count }, () => connect(this.#tcpPort)));
    for (const socket of sockets) socket.write('nobody answers');
    await eventuallyAsync(() => getClient(this.#server, this.clientId), ({ NowConn }) => NowConn >= count);
    for (const [index, socket] of sockets.entries()) {
      if (index % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
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
