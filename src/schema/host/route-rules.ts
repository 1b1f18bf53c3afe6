import { coversPublicSuffix } from '../../rules/public-suffix.ts';
import { isWildcard } from '../../rules/host-name.ts';
import { isBelow, patternsOverlap, routesOverlap, sameRoute, type RouteSpace } from '../../rules/host-overlap.ts';
import { patternsFor, ruleSchemes } from '../../rules/host-route.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import type { Host } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { stored } from '../values/stored.ts';
import type { HostName } from './name-rules.ts';
import { ownNames } from './name-rules.ts';

/** The owner of a rule: the owner of its client, or the client itself if it has no owner (contract 4.7). */
export interface RuleOwner {
  readonly id: number;
  readonly userId: number | null;
}

/** A rule to be compared with the stored ones. */
export interface NewRoute extends RouteSpace {
  /** Whether an administrator chose the name. */
  readonly namedByAdmin: boolean;
}

/** The part of a stored host that is compared. */
export function routeSpace(row: Pick<Host, 'host' | 'location' | 'scheme'>): RouteSpace {
  return { host: row.host, location: row.location, scheme: stored(ruleSchemes, row.scheme) };
}

/**
 * Checks whether a rule conflicts with others (contract 4.7). A name that an administrator chose does not conflict with a wildcard above it
 * that covers a public suffix, or that does not serve the name because the name is one of the server's own.
 * @param ownId the id of the rule itself, if it is already stored
 * @throws {AditError} HOST_EXISTS, HOST_OVERLAP, PLATFORM_PREFIX_USED, PLATFORM_HOST_USED
 */
export async function checkRoute(context: Context, tx: Transaction, route: NewRoute, name: HostName, owner: RuleOwner, ownId?: number): Promise<void> {
  const own = route.namedByAdmin && (await ownNames(context, tx)).has(route.host);
  for (const other of await neighbors(tx, route.host)) {
    if (other.id === ownId || (route.namedByAdmin && isBelow(route.host, other.host) && (own || coversPublicSuffix(other.host)))) continue;
    const space = routeSpace(other);
    if (name.domain !== null && other.host === name.host) {
      throw new AditError(other.platformDomainId === name.domain.id ? 'PLATFORM_PREFIX_USED' : 'PLATFORM_HOST_USED');
    }
    if (sameRoute(space, route)) throw new AditError('HOST_EXISTS', mayUseClient(context.caller, other.client) ? { hostId: other.id } : {});
    if (ownerKey(other.client) !== ownerKey(owner) && routesOverlap(space, route)) throw new AditError('HOST_OVERLAP');
  }
}

/**
 * Checks whether a client may change its owner: its hosts must not overlap hosts of the former owner.
 * @param client before the change
 * @throws {AditError} HOST_OVERLAP
 */
export async function checkMovedRoutes(tx: Transaction, client: RuleOwner, userId: number | null): Promise<void> {
  const after = { id: client.id, userId };
  for (const host of await tx.host.findMany({ where: { clientId: client.id } })) {
    for (const other of await neighbors(tx, host.host)) {
      const parted = other.client.id !== client.id && ownerKey(other.client) === ownerKey(client) && ownerKey(other.client) !== ownerKey(after);
      if (parted && routesOverlap(routeSpace(host), routeSpace(other))) throw new AditError('HOST_OVERLAP');
    }
  }
}

/** All rules whose pattern can match a host of this pattern, including the rule itself. */
function neighbors(tx: Transaction, pattern: string) {
  return tx.host.findMany({ where: { OR: meeting(pattern) }, include: { client: { select: { id: true, userId: true } } } });
}

/**
 * Checks that a custom host is not below a platform domain, nor above it as a wildcard. If the platform domain is a public suffix, administrators
 * may use names below it.
 * @throws {AditError} PLATFORM_NAMESPACE
 */
export async function checkNamespace(tx: Transaction, host: string, namedByAdmin: boolean): Promise<void> {
  const domains = await tx.platformDomain.findMany({ select: { wildcard: true } });
  const domain = domains.find(({ wildcard }) => patternsOverlap(host, wildcard) && !(namedByAdmin && isBelow(host, wildcard) && coversPublicSuffix(wildcard)));
  if (domain !== undefined) throw new AditError('PLATFORM_NAMESPACE', { wildcard: domain.wildcard });
}

/** A condition that every rule with an overlapping pattern meets; other rules may meet it, too. */
function meeting(pattern: string) {
  if (!isWildcard(pattern)) return [{ host: { in: patternsFor(pattern) } }];
  const [, ...wildcards] = patternsFor(pattern.slice(2));
  return [{ host: { in: [pattern, ...wildcards] } }, { host: { endsWith: pattern.slice(1) } }];
}

function ownerKey({ id, userId }: RuleOwner): string {
  return userId === null ? `client ${id}` : `user ${userId}`;
}
