import { isWildcard } from '../../rules/host-name.ts';
import { isBelow, patternsOverlap, routesOverlap, sameRoute } from '../../rules/host-overlap.ts';
import { patternsFor, ruleSchemes } from '../../rules/host-route.ts';
import { allowsPort } from '../../rules/port-range.ts';
import { coversPublicSuffix } from '../../rules/public-suffix.ts';
import { OwnNames } from '../../rules/own-names.ts';
import { keyedModes, transportOf } from '../../rules/tunnel-mode.ts';
import type { Host, PlatformDomain, Tunnel } from '../../store/generated/sqlite/client.ts';
import type { SchemaSettings } from '../services.ts';
import { stored } from '../values/stored.ts';

/** The columns of a tunnel that must not conflict with those of others. */
export type TunnelClaims = Pick<Tunnel, 'id' | 'mode' | 'port' | 'serverIp' | 'enabled' | 'password'>;
/** The columns of a host that must not conflict with those of others. */
export type HostClaims = Pick<Host, 'id' | 'host' | 'location' | 'scheme' | 'clientId' | 'namedByAdmin' | 'platformDomainId'>;

/** Values that only one record may have. */
class Unique {
  readonly #owners = new Map<string, string>();

  /** Claims a value. @param owner its name in messages @returns who has it already; undefined = nobody had */
  claim(value: string, owner: string): string | undefined {
    const before = this.#owners.get(value);
    if (before === undefined) this.#owners.set(value, owner);
    return before;
  }
}

/** A conflict, and the field that causes it. */
export interface Conflict {
  readonly field: string;
  readonly text: string;
}

/** What records of a kind must not have in common. */
export interface Claims<Row> {
  /** Adds a record. @param owner its name in messages @returns why it can't be stored beside those that were added before */
  add(row: Row, owner: string): Conflict | undefined;
}

/** Records whose field must be unique. @param what the field is, for messages */
export function uniqueField<Field extends string>(field: Field, column: string, what: string): Claims<Readonly<Record<Field, string>>> {
  const values = new Unique();
  return {
    add(row, owner) {
      const other = values.claim(row[field], owner);
      return other === undefined ? undefined : { field: column, text: `is the ${what} of ${other}, too` };
    },
  };
}

/** Platform domains, which must not overlap. */
export class DomainConflicts implements Claims<Pick<PlatformDomain, 'id' | 'wildcard'>> {
  readonly #ids = new Unique();
  readonly #taken: Array<{ readonly wildcard: string; readonly owner: string }> = [];

  add({ id, wildcard }: Pick<PlatformDomain, 'id' | 'wildcard'>, owner: string): Conflict | undefined {
    const other = this.#taken.find((taken) => patternsOverlap(taken.wildcard, wildcard));
    if (other !== undefined) return { field: 'wildcard', text: `${wildcard} overlaps ${other.wildcard} (${other.owner})` };
    if (this.#ids.claim(id, owner) !== undefined) return { field: 'id', text: 'occurs twice' };
    this.#taken.push({ wildcard, owner });
    return undefined;
  }
}

/** The ports and passwords of all tunnels. */
export class TunnelConflicts implements Claims<TunnelClaims> {
  readonly #settings: SchemaSettings;
  readonly #ports = new Map<string, Array<{ readonly serverIp: string; readonly owner: string }>>();
  readonly #passwords = new Unique();

  constructor(settings: SchemaSettings) {
    this.#settings = settings;
    const { bridge, hostPorts } = settings;
    const own = [bridge.port, bridge.tls.port, hostPorts.httpPort, hostPorts.httpsPort].filter((port) => port > 0);
    for (const port of own) this.#ports.set(`tcp ${port}`, [{ serverIp: '', owner: 'the server itself' }]);
  }

  /** Adds a tunnel. @returns why it can't be served beside those that were added before */
  add({ mode, port, serverIp, enabled, password }: TunnelClaims, owner: string): Conflict | undefined {
    if (keyedModes.includes(mode)) {
      const other = this.#passwords.claim(password, owner);
      return other === undefined ? undefined : { field: 'password', text: `is the password of ${other}, too: it must be unique among secret and p2p tunnels` };
    }
    // Stopped tunnels may share a port; the first one that is started gets it.
    if (port === 0 || !enabled) return undefined;
    if (!allowsPort(this.#settings.allowPorts, port)) return { field: 'port', text: `port ${port} is not among the ports that allow_ports names` };
    const key = `${transportOf(mode)} ${port}`;
    const others = this.#ports.get(key) ?? [];
    const other = others.find((taken) => taken.serverIp === serverIp || taken.serverIp === '' || serverIp === '');
    if (other !== undefined) return { field: 'port', text: `port ${port} is in use by ${other.owner}: give it another port, or stop one of the two` };
    this.#ports.set(key, [...others, { serverIp, owner }]);
    return undefined;
  }
}

/** The routes of all hosts (contract 4.7). */
export class HostConflicts implements Claims<HostClaims> {
  readonly #byName = new Map<string, Array<{ readonly claims: HostClaims; readonly owner: string }>>();
  /** Exact names and wildcards below each wildcard suffix. */
  readonly #below = new Map<string, Array<{ readonly claims: HostClaims; readonly owner: string }>>();
  readonly #domains: readonly PlatformDomain[];
  readonly #ownNames: OwnNames;
  readonly #ownerOf: (clientId: number) => string;

  /** @param ownerOf the key of a client's owner: hosts of different owners must not overlap */
  constructor(domains: readonly PlatformDomain[], ownUrls: readonly string[], ownerOf: (clientId: number) => string) {
    this.#domains = domains;
    this.#ownNames = new OwnNames(ownUrls);
    this.#ownerOf = ownerOf;
  }

  /** Adds a host. @returns why it conflicts with those that were added before */
  add(claims: HostClaims, owner: string): Conflict | undefined {
    const conflict = this.#inNamespace(claims) ?? this.#conflict(claims);
    if (conflict !== undefined) return { field: 'host', text: conflict };
    const entry = { claims, owner };
    push(this.#byName, claims.host, entry);
    for (const wildcard of above(claims.host)) push(this.#below, wildcard, entry);
    return undefined;
  }

  #inNamespace({ host, platformDomainId, namedByAdmin }: HostClaims): string | undefined {
    if (platformDomainId !== null) return undefined;
    const domain = this.#domains.find(({ wildcard }) =>
      patternsOverlap(host, wildcard) && !(namedByAdmin && isBelow(host, wildcard) && coversPublicSuffix(wildcard))
    );
    return domain && `lies in the platform domain ${domain.wildcard}: make it a host of that domain`;
  }

  #conflict(route: HostClaims): string | undefined {
    const own = route.namedByAdmin && this.#ownNames.has(route.host);
    const neighbors = [route.host, ...above(route.host)].flatMap((pattern) => this.#byName.get(pattern) ?? []);
    if (isWildcard(route.host)) neighbors.push(...this.#below.get(route.host) ?? []);
    const [space, owner] = [spaceOf(route), this.#ownerOf(route.clientId)];
    for (const { claims: other, owner: name } of neighbors) {
      if (exempt(route, other, own) || exempt(other, route, other.namedByAdmin && this.#ownNames.has(other.host))) continue;
      if (route.platformDomainId !== null && other.host === route.host) return `is the name of ${name}, too`;
      const otherSpace = spaceOf(other);
      if (sameRoute(otherSpace, space)) return `has the same host and location as ${name}, for the same scheme`;
      if (owner !== this.#ownerOf(other.clientId) && routesOverlap(otherSpace, space)) {
        return `overlaps ${name} (${other.host}${other.location}) of another owner: give both clients the same user, or change one of the hosts`;
      }
    }
    return undefined;
  }
}

/** Whether a name that an administrator chose may be below a wildcard (schema/host/route-rules.ts). */
function exempt(inner: HostClaims, outer: HostClaims, own: boolean): boolean {
  return inner.namedByAdmin && isBelow(inner.host, outer.host) && (own || coversPublicSuffix(outer.host));
}

function spaceOf({ host, location, scheme }: HostClaims) {
  return { host, location, scheme: stored(ruleSchemes, scheme) };
}

/** The wildcards above a pattern. */
function above(pattern: string): string[] {
  return isWildcard(pattern) ? patternsFor(pattern.slice(2)).slice(1) : patternsFor(pattern).slice(1);
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}
