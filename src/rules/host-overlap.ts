import { covers } from './host-location.ts';
import { isWildcard } from './host-name.ts';
import type { HostRule, RuleScheme } from './host-route.ts';
import { routedLocation } from './request-path.ts';

/** The part of a rule that is compared. */
export type RouteSpace = Pick<HostRule, 'host' | 'location' | 'scheme'>;

/** Whether both rules serve exactly the same addresses. A domain may have one rule for http and one for https (contract 4.7). */
export function sameRoute(a: RouteSpace, b: RouteSpace): boolean {
  return a.host === b.host && routedLocation(a.location) === routedLocation(b.location) && schemesMeet(a.scheme, b.scheme);
}

/** Whether some request could match both rules. Rules of different owners must not overlap (contract 4.7). */
export function routesOverlap(a: RouteSpace, b: RouteSpace): boolean {
  if (!patternsOverlap(a.host, b.host) || !schemesMeet(a.scheme, b.scheme)) return false;
  const [one, other] = [routedLocation(a.location), routedLocation(b.location)];
  return covers(one, other) || covers(other, one);
}

/** Whether any host matches both patterns. */
export function patternsOverlap(a: string, b: string): boolean {
  return a === b || isBelow(a, b) || isBelow(b, a);
}

/** Whether everything that `inner` matches is below the suffix of the wildcard `outer`, at any depth. */
export function isBelow(inner: string, outer: string): boolean {
  return isWildcard(outer) && inner.length > outer.length - 1 && inner.endsWith(outer.slice(1));
}

function schemesMeet(a: RuleScheme, b: RuleScheme): boolean {
  return a === b || a === 'all' || b === 'all';
}
