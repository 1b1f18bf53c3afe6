import type { HostRequest } from '../../rules/host-route.ts';
import type { PairOrigin } from '../../wire/socket-pair.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { UnreadLedger } from '../../wire/unread-budget.ts';
import type { HeadLimits, RequestHead } from '../http/head.ts';
import type { VisitorTrace } from '../limits/visitor-trace.ts';
import type { HostEntry } from './host-entry.ts';
import type { Refusal } from '../../rules/visitor-refusals.ts';
import type { RefusalLog } from './response/refusal-log.ts';

/** The client of a request. */
export interface Visit {
  /** The visitor's address, as reported by the trusted proxies in front. */
  readonly address: string;
  /** The connection to the target already exists. */
  readonly kept: boolean;
  readonly head: RequestHead;
}

/** Why a request may not go on. `reason` is for the log. */
export interface GateRefusal {
  readonly refusal: Refusal;
  readonly reason: string;
}

/** Decisions that are made outside the connections of visitors. */
export interface VhostPolicy {
  /** The limits of the heads of requests. */
  readonly headLimits: HeadLimits;
  /** The response to a challenge of a certificate authority for a token, if the host has an order under way. A promise, which does not reject, if another server may have the order. */
  challenge(host: string, token: string): string | undefined | Promise<string | undefined>;
  /** Whether the address is that of a trusted proxy. */
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
  /** Like `dial`, to a target that terminates TLS itself: without the result byte. */
  dialSecure(entry: HostEntry, visitor: PairOrigin): ByteSocket | undefined;
}

/** The part of the vhost server that a visitor's connection uses. */
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
