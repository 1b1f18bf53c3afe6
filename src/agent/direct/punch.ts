import type { Duplex } from 'node:stream';
import type { Endpoint } from '../../wire/stun.ts';
import type { DirectRole, PathKey } from './path-key.ts';
import type { Signal } from './signal.ts';

/** Where a sender learns its public address. */
interface StunServer {
  readonly host: string;
  /** 4 or 6: of `host`, and so of every candidate. */
  readonly family: number;
  readonly ports: readonly number[];
}

/** Options for punching a hole. */
export interface PunchOptions {
  readonly role: DirectRole;
  readonly key: PathKey;
  readonly stun: StunServer;
  readonly signal: Signal;
  /** Timeout, in ms. */
  readonly timeoutMs: number;
}

/** A connection to the peer, not yet encrypted. */
export interface Punched {
  readonly raw: Duplex;
  readonly peer: Endpoint;
}

/** No direct path could be opened; the message gives the reason, as far as this side can tell. */
export class NoPathError extends Error {
  override readonly name = 'NoPathError';
}
