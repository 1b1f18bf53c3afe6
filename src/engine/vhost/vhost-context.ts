import type { HostRequest } from '../../rules/host-route.ts';
import type { PairOrigin } from '../../wire/socket-pair.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { UnreadLedger } from '../../wire/unread-budget.ts';
import type { HeadLimits, RequestHead } from '../http/head.ts';
import type { VisitorTrace } from '../limits/visitor-trace.ts';
import type { HostEntry } from './hosts.ts';
import type { Refusal } from './response/refusal.ts';
import type { RefusalLog } from './response/refusal-log.ts';

/** Who asks. */
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
  /** What a certificate authority is to be shown for a token, if the host has an order under way. */
  challenge(host: string, token: string): string | undefined;
  /** Whether the address is a proxy's that the operator named. */
  trusts(address: string): boolean;
  /** Why a request may not go on; undefined = it may. */
  gate(entry: HostEntry, visit: Visit): GateRefusal | undefined;
  /** Whether visitors of a host may let themselves in who are not on its client's whitelist (contract 4.9). */
  letsIn(entry: HostEntry): boolean;
  /** Lets a visitor in who says the right password. */
  letIn(entry: HostEntry, address: string, password: string): 'right' | 'wrong' | 'wait';
  /**
   * A connection to the next target of a host, opened at once; undefined = it can't be carried. The first byte that comes of it is the
   * result of the dial (wire/dial-result.ts).
   * @param unread what waits for the visitor counts there
   */
  dial(entry: HostEntry, visitor: PairOrigin, unread: UnreadLedger | undefined): ByteSocket | undefined;
  /** The same to a target that speaks TLS itself: no result is said. */
  dialSecure(entry: HostEntry, visitor: PairOrigin): ByteSocket | undefined;
}

/** What a visitor's connection sees of the server of hosts. */
export interface VhostContext {
  readonly policy: VhostPolicy;
  readonly refusals: RefusalLog;
  /** Follows visitors' connections; undefined = nobody reads it. */
  readonly trace: VisitorTrace | undefined;
  /** Where HTTPS is to be had, for redirects. */
  readonly httpsPort: number;
  match(request: HostRequest): HostEntry | undefined;
  /** The policy's gate, while the server serves. */
  gate(entry: HostEntry, visit: Visit): GateRefusal | undefined;
}
