import type { Logger } from 'pino';
import type { Login } from '../../rules/login.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { Opener } from '../../wire/stream.ts';
import type { DirectBytes } from '../bridge/agent-session.ts';
import type { RefusalCause, WantedTunnel } from '../face.ts';
import type { Account } from '../limits/account.ts';
import type { VisitorTrace } from '../limits/visitor-trace.ts';
import type { UdpPort } from '../ports/udp-port.ts';
import type { Connections } from './connections.ts';
import type { ProxyTiming } from './proxy-timing.ts';

/** Who carries a new connection and for whom it counts. */
export interface Carrier {
  readonly session: Opener;
  readonly client: Account;
}

/** What a running tunnel sees of the engine. */
export interface TunnelContext {
  readonly log: Logger;
  /** How the tunnel is called in what it asks of agents (wire/open.ts). */
  readonly by: string;
  readonly connections: Connections;
  /** How long a visitor's UDP session may be idle, in ms. */
  readonly udpIdleMs: number;
  /**
   * Asked for every new connection. undefined = refuse it: the agent is offline, the client may not serve, or a limit is reached. That
   * is counted already.
   * @param address the visitor's, IPv4-mapped ones as IPv4
   * @param visitor the connection, for the trace
   */
  admit(address: string, visitor: object): Carrier | undefined;
  /** The server's ports that tell a sender its public address, opened by now; [] = they can't be. */
  stunPorts(): Promise<readonly number[]>;
  /** Counts a connection that was refused for another cause. @param visitor as for `admit` */
  refused(cause: RefusalCause, visitor: object): void;
  /** Follows connections; undefined = nobody reads it. */
  readonly trace: VisitorTrace | undefined;
  /** Whether the client's proxies ask for user name and password. */
  asksForLogin(): boolean;
  /** Whether what a visitor gives are the client's. Wrong ones make his address wait. */
  acceptsLogin(given: Login, address: string): boolean;
  /** Whether a host (rules/host-name.ts) is this server, or one of its hosts. */
  isOwn(host: string): boolean;
  readonly timing: ProxyTiming;
  /** Binds a UDP port for one visitor on an address of the server, "" = all. @throws {PortUnavailableError} */
  bindVisitorPort(serverIp: string): Promise<UdpPort>;
}

/** One running tunnel: serves what arrives at its port, or what visitors' programs bring. */
export interface TunnelServer {
  /** Datagrams that were dropped since the server started. */
  readonly dropped?: number;
  /** Takes over a visitor's connection: one that the TCP listener accepted, or that a visitor's program brought. */
  onSocket?(socket: ByteSocket): void;
  /** Brings a visitor's program together with the agent, for a direct path: `socket` leads to the program. */
  onDirect?(socket: ByteSocket): Promise<void>;
  /** What of an agent's report on direct paths is to be counted; absent = it has none. */
  believable?(reported: DirectBytes): DirectBytes;
  /** Takes the UDP port over, whenever it was opened. */
  onPort?(port: UdpPort): void;
  /** Settings that need no new listener have changed; they hold from the next connection on. */
  configure(wanted: WantedTunnel): void;
  /** New connections go to these targets from now on, open ones stay where they are: others are in health. */
  useTargets?(targets: readonly string[]): void;
  /** No new connections come, and those that are open should end soon: ends those that carry nothing at the moment. */
  drain?(): void;
  /** The tunnel was closed: ends what is none of the `connections`. It may be opened again. */
  close?(): void;
}

/** A kind of tunnel: one file each, one line in the registry. */
export interface TunnelMode {
  readonly name: string;
  serve(context: TunnelContext, wanted: WantedTunnel): TunnelServer;
}
