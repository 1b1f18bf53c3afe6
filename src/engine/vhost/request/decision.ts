import { requestedHost } from '../../../rules/host-name.ts';
import type { RequestHead } from '../../http/head.ts';
import { challengeToken } from '../response/challenge.ts';
import type { HostEntry } from '../host-entry.ts';
import { isPasswordRequest } from '../response/password-form.ts';
import type { Refusal } from '../../../rules/visitor-refusals.ts';
import { type Origin, visitorOf } from '../target/request-fields.ts';
import { placeOf, type RequestPlace } from './request-place.ts';
import type { VhostContext } from '../vhost-context.ts';

/** What is known of a request besides its head. */
export interface Arrival {
  readonly scheme: 'http' | 'https';
  /** The address at the other end of the connection. */
  readonly peer: string;
  /** Whether the connection may request a host; undefined = any host. */
  readonly covers?: ((host: string) => boolean) | undefined;
  /** Whether a visitor already has a connection to the host's target. */
  readonly isKept: (entry: HostEntry, address: string) => boolean;
  /** Whether it may be the challenge of a certificate authority. */
  readonly mayBeChallenge: boolean;
}

/** What is done with a request. */
export type Decision =
  & {
    readonly place: RequestPlace;
    /** The visitor's address; behind a proxy, not the peer's. */
    readonly address: string;
  }
  & (
    | { readonly kind: 'refuse'; readonly refusal: Refusal; readonly reason: string; readonly entry?: HostEntry }
    | { readonly kind: 'redirect' }
    /** A certificate authority validates a challenge; a promise that resolves to undefined = it does not. */
    | { readonly kind: 'challenge'; readonly answer: string | Promise<string | undefined> }
    /** The visitor sends the password that allows its address. */
    | { readonly kind: 'password'; readonly entry: HostEntry }
    | { readonly kind: 'forward'; readonly entry: HostEntry; readonly origin: Origin }
  );

/** Finds a request's host, and decides whether the request is admitted. @throws {HttpSyntaxError} */
export function decide(context: VhostContext, head: RequestHead, { scheme, peer, covers, isKept, mayBeChallenge }: Arrival): Decision {
  const place = placeOf(head);
  const trusted = context.policy.trusts(peer);
  const address = trusted ? visitorOf(head.fields, peer, (other) => context.policy.trusts(other)) : peer;
  const host = requestedHost(place.host);
  if (host !== undefined && covers?.(host) === false) {
    return { kind: 'refuse', place, address, refusal: 'misdirected', reason: `the certificate of the connection is not for ${host}` };
  }
  const token = mayBeChallenge && scheme === 'http' && head.method === 'GET' ? challengeToken(place.path) : undefined;
  const answer = token === undefined || host === undefined ? undefined : context.policy.challenge(host, token);
  if (answer !== undefined) return { kind: 'challenge', place, address, answer };
  const entry = host === undefined ? undefined : context.match({ host, path: place.path, scheme });
  if (!entry) return { kind: 'refuse', place, address, refusal: 'noRoute', reason: `no host takes ${place.host}` };
  if (scheme === 'http' && entry.wanted.autoHttps) return { kind: 'redirect', place, address };
  const refused = context.gate(entry, { address, kept: isKept(entry, address), head });
  const turnedAway = refused?.refusal === 'notListed';
  if ((turnedAway || !refused) && isPasswordRequest(head, place, turnedAway) && context.policy.acceptsPassword(entry)) {
    return { kind: 'password', place, address, entry };
  }
  if (refused) return { kind: 'refuse', place, address, entry, ...refused };
  return { kind: 'forward', place, address, entry, origin: { address: peer, scheme, host: place.host, trusted } };
}
