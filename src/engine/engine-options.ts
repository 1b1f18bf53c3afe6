import type { Logger } from 'pino';
import type { Attempts } from '../rules/attempts.ts';
import type { ShareLimits } from '../rules/connection-shares.ts';
import type { PortRange } from '../rules/port-range.ts';
import type { SharedPorts } from '../wire/shared-ports.ts';
import type { SocketBackend } from '../wire/socket.ts';
import type { AcmeOptions } from './acme/acme.ts';
import type { BridgePlaces, BridgeTiming } from './bridge/bridge.ts';
import type { WantedClient, WantedHost, WantedTunnel } from './face.ts';
import type { HeadLimits } from './http/head.ts';
import type { StoredBytes } from './limits/meter.ts';
import type { NodeOptions } from './other-nodes.ts';
import type { ProxyTiming } from './tunnels/proxy-timing.ts';
import type { VhostTiming } from './vhost/slow-visitors.ts';

/** What the engine depends on. */
export interface EngineOptions {
  readonly bridgeHost: string;
  /** 0 = ephemeral. */
  readonly bridgePort: number;
  /** The bridge's second port, for TLS; 0 = ephemeral. */
  readonly bridgeTls: BridgePlaces['tls'];
  /** The TLS port on which the other nodes reach this one, if `shared` is given; 0 = ephemeral. */
  readonly link?: { readonly host: string; readonly port: number };
  /** The STUN port of p2p tunnels: UDP and TCP, plus UDP on the next port; 0 = ephemeral. Opened on demand. */
  readonly p2pPort: number;
  /** The address on which tunnels listen that request none; absent or "" = all addresses. */
  readonly tunnelHost?: string;
  /** Ports that tunnels may use; empty = all. */
  readonly allowPorts: readonly PortRange[];
  readonly log: Logger;
  /** The log for agents and visitor programs; default: `log`. */
  readonly bridgeLog?: Logger;
  /** Traces every visitor's connection at level debug; default: no tracing. */
  readonly visitorLog?: Logger;
  readonly sockets?: SocketBackend;
  /** The ports that other processes on this machine listen on, too; absent = there are no others. */
  readonly shared?: SharedPorts | undefined;
  /** Maximum concurrent visitor connections, all tunnels and hosts together. */
  readonly visitorShares?: ShareLimits | undefined;
  /** How long a visitor's UDP session may be idle, in ms. */
  readonly udpIdleMs?: number;
  /** Half-close timeout: how long a visitor's connection may be idle after one direction has ended, in ms. */
  readonly halfClosedMs?: number;
  /** The server may dial the targets of tunnels that ask for it (contract D15). Off unless given. */
  readonly allowLocalProxy?: boolean;
  readonly bridgeTiming?: Partial<BridgeTiming>;
  readonly proxyTiming?: Partial<ProxyTiming>;
  readonly vhostTiming?: Partial<VhostTiming>;
  /** Limits of the heads of requests to hosts. */
  readonly vhostHead?: HeadLimits;
  /** ACME settings for hosts that request it; undefined = no ACME. */
  readonly acme?: AcmeOptions;
  /** Addresses and networks of trusted proxies in front of the hosts: their information about visitors is used. */
  readonly trustedProxies?: readonly string[];
  /** The URL at which the API is reached from outside: one of the server's own names. */
  readonly publicUrl?: string;
  /** This server among others; absent = it is the only one. */
  readonly node?: NodeOptions;
  /** Slows down guessing; share it with everything else that takes credentials, so that all attempts are listed in one place. */
  readonly attempts?: Attempts;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/** A stored record: what the engine has to serve, and its totals. */
interface StoredRecord<Wanted> {
  readonly wanted: Wanted;
  readonly stored: StoredBytes;
}

/** A stored client. */
export interface StoredClientRecord extends StoredRecord<WantedClient> {
  /** The address at which its agent was last seen; "" or absent = never seen. */
  readonly lastAddress?: string;
}

/** Records by pages, which may be read while they are used. */
type Records<Each> = Iterable<Iterable<Each>> | AsyncIterable<Iterable<Each>>;

/** Everything the store holds that the engine serves. */
export interface StoredState {
  readonly clients: Records<StoredClientRecord>;
  readonly tunnels: Records<StoredRecord<WantedTunnel>>;
  readonly hosts: Records<StoredRecord<WantedHost>>;
  /** Addresses and networks that are refused everywhere. */
  readonly blackIpList: readonly string[];
  /** The server's own name or address; "" = unknown. */
  readonly serverName: string;
}
