import type { CertificateFacts } from '../../rules/certificate.ts';
import type { AcmeAttempt } from './files.ts';

/** A name that needs a certificate. */
export interface Wanted {
  readonly name: string;
  /** Its orders count for this client. */
  readonly clientId: number;
  /** Aborted when the name no longer needs a certificate, or the server stops. */
  readonly over: AbortController;
  facts: CertificateFacts | undefined;
  failures: number;
  /** Why the last order failed; "" = it did not. */
  problem: string;
  /** When the last order began, ms since the epoch; undefined = it is not known. */
  lastAt: number | undefined;
  /** When the next order is due, ms since the epoch; undefined = what is kept was not read yet. */
  nextAt: number | undefined;
  ordering: boolean;
  /** Another server orders: what was so before. */
  elsewhere: AcmeAttempt['ordering'];
  /** Counts what changes the state: what is read meanwhile may be older. */
  turn: number;
  /** What is kept is being read. */
  recalling: Promise<void> | undefined;
  /** The key authorizations of open challenges, by token. */
  readonly answers: Map<string, string>;
}

/** A name of which nothing is known yet. @param clientId its orders count for this client; 0 = the server itself */
export function newlyWanted(name: string, clientId: number): Wanted {
  return {
    name,
    clientId,
    over: new AbortController(),
    facts: undefined,
    failures: 0,
    problem: '',
    lastAt: undefined,
    nextAt: undefined,
    ordering: false,
    elsewhere: undefined,
    turn: 0,
    recalling: undefined,
    answers: new Map(),
  };
}

/** When the next order of a name is due, ms since the epoch. @param longestMs the longest delay after a failure: if the clock was wrong then, the order must not be delayed for years */
export function dueAt(facts: CertificateFacts | undefined, attempt: AcmeAttempt | undefined, now: number, longestMs: number): number {
  return attempt ? Math.min(attempt.nextAt, now + longestMs) : renewalOf(facts, now);
}

/** When to order a certificate: at two thirds of the lifetime; immediately if there is none. */
export function renewalOf(facts: CertificateFacts | undefined, now: number): number {
  if (!facts) return now;
  const from = facts.validFrom.getTime();
  return from + (facts.validTo.getTime() - from) * 2 / 3;
}
