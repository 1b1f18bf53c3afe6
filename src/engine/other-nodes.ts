import type { HealthMessage } from '../wire/health.ts';
import type { NodeLinkKind } from '../wire/node-messages.ts';
import type { Opener } from '../wire/stream.ts';
import type { CountedBytes } from './face.ts';

/** The totals of a client, its tunnels and its hosts. */
export interface ClientTotals {
  readonly client: CountedBytes;
  readonly tunnels: ReadonlyArray<{ readonly id: number } & CountedBytes>;
  readonly hosts: ReadonlyArray<{ readonly id: number } & CountedBytes>;
}

/** Who this server is among the others. */
export interface NodeOptions {
  readonly name: string;
  readonly version: string;
  /** The secret that all nodes of the installation have, and nobody else. */
  readonly key: string;
  /** How links carry bytes; absent = `tls`. */
  readonly links?: NodeLinkKind;
  /** The other nodes that are processes on the same machine and the same ports; absent = there are none. */
  readonly siblings?: ReadonlySet<string>;
  /** ms since the epoch by a clock that all nodes have in common; absent = that of this machine. */
  readonly clock?: () => number;
  /** A hash of each setting that must be the same on all nodes, by its name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Other nodes are running already, which may have newer counters than those that were loaded. */
  readonly amongOthers?: boolean;
  /** Another node has added to the log of changes. */
  readonly onCommitted?: () => void;
  /** The stored totals of a client; absent = nothing is stored. */
  readonly storedTotals?: (clientId: number) => Promise<ClientTotals | undefined>;
}

/** The other servers of the installation, as the engine sees them (nodes/nodes.ts). */
export interface OtherNodes {
  /** Whether the client's agent is connected to another node that can be reached. */
  reaches(clientId: number): boolean;
  /** Carries connections to the client's home; undefined = that is this node. @param localProxy the server dials the targets, so no agent is needed */
  openerTo(clientId: number, localProxy: boolean): Opener | undefined;
  /** Whether this node is the client's home: only then it knows its counters. */
  isHome(clientId: number): boolean;
  /** Resolves when this node knows what others have taken over if it was frozen a moment ago. @returns whether that is so within `ms`; if not, it stores nothing */
  upToDate(ms: number): Promise<boolean>;
  /** Whether this node stores the counters of a client: it is the home, and knows what was counted before. */
  counts(clientId: number): boolean;
  /** A client's agent has connected to this node, which is its home from now on. */
  agentConnected(clientId: number): void;
  /** It has disconnected; it may be at another node already. @param ended it said that it ends */
  agentDisconnected(clientId: number, ended: boolean): void;
  /** A client's agent, which is connected here, reports on the health of its targets. */
  health(clientId: number, report: HealthMessage): void;
  /** A visitor's address was allowed by the password of a client. */
  allowed(clientId: number, address: string): void;
  /** The client was deleted. */
  forget(clientId: number): void;
}
