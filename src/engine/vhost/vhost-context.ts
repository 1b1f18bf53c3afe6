import type { HostRequest } from '../../rules/host-route.ts';
import type { PairOrigin } from '../../wire/socket-pair.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { UnreadLedger } from '../../wire/unread-budget.ts';
import type { HeadLimits, RequestHead } from '../http/head.ts';
import type { VisitorTrace } from '../limits/visitor-trace.ts';
import type { HostEntry } from './hosts.ts';
import type { Refusal } from './response/refusal.ts';
import type { RefusalLog } from './response/refusal-log.ts';

/** The client of a request. */
export interface Visit {
  /** The visitor's, as the proxies in front that the operator named give it. */
  readonly address: string;
  /** The connection to the target is there already. */
  readonly kept: boolean;
  readonly head: RequestHead;
}

/** Why a request may not go on. `reason` is for the log. */
export interface GateRefusal {
  readonly refusal: Refusal;
  readonly reason: string;
}

/** What is decided outside the connections of visitors. */
export interface VhostPolicy {
  /** What the heads of requests are held to. */
  readonly headLimits: HeadLimits;
  /** The response to a challenge of a certificate authority for a token, if the host has an order under way. */
  challenge(host: string, token: string): string | undefined;
  /** Whether the address is a proxy's that the operator named. */
  trusts(address: string): boolean;
  /** Why a request may not go on; undefined = it may. */
  gate(entry: HostEntry, visit: Visit): GateRefusal | undefined;
  /** Whether visitors of a host who are not on its client's allowlist can get access by a password (contract 4.9). */
  acceptsPassword(entry: HostEntry): boolean;
  /** Allows a visitor's address if the password is right. */
  tryPassword(entry: HostEntry, address: string, password: string): 'right' | 'wrong' | 'wait';
  /**
   * Opens a connection to the next target of a host without waiting for the agent; undefined = it is not admitted. Its first byte is the
   * result of the dial (wire/dial-result.ts).
   * @param unread counts what waits for the visitor
   */
  dial(entry: HostEntry, visitor: PairOrigin, unread: UnreadLedger | undefined): ByteSocket | undefined;
  /** The same to a target that speaks TLS itself: without the byte of the result. */
  dialSecure(entry: HostEntry, visitor: PairOrigin): ByteSocket | undefined;
}

/** What a visitor's connection sees of the server of hosts. */
export interface VhostContext {
  readonly policy: VhostPolicy;
  readonly refusals: RefusalLog;
  /** Follows visitors' connections; undefined = tracing is off. */
  readonly trace: VisitorTrace | undefined;
  /** The public HTTPS port, for redirects. */
  readonly httpsPort: number;
  match(request: HostRequest): HostEntry | undefined;
  /** The policy's gate, while the server serves. */
  gate(entry: HostEntry, visit: Visit): GateRefusal | undefined;
}
