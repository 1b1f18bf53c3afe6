import { isIP } from 'node:net';
import { IdTable } from './id-table.ts';
import { OwnNames } from './own-names.ts';
import { routedLocation, routedPath } from './request-path.ts';

/** The protocol a rule is for, or both. */
export type RuleScheme = 'all' | 'http' | 'https';

/** The schemes a rule can have. */
export const ruleSchemes = ['all', 'http', 'https'] as const satisfies readonly RuleScheme[];

/** The part of a host rule that routing uses. */
export interface HostRule {
  readonly id: number;
  /** In the spelling of `hostPattern`. */
  readonly host: string;
  /** In the spelling of `hostLocation`. */
  readonly location: string;
  readonly scheme: RuleScheme;
  /** Stopped rules match nothing. */
  readonly enabled: boolean;
  /** An administrator chose the name: it may be one of the server's own names. */
  readonly namedByAdmin: boolean;
}

/** The part of a request that routing uses. */
export interface HostRequest {
  /** In the spelling of `requestedHost`. */
  readonly host: string;
  /** As returned by `resolvedPath`; anything after `?` is ignored. */
  readonly path: string;
  readonly scheme: 'http' | 'https';
}

/** The rules with the same pattern, unless there is only one, for all paths. */
class Bucket<Rule> {
  /** By location (`routedLocation`), each list sorted by id. */
  readonly locations = new Map<string, Rule[]>();
  /** Length of the longest location: longer prefixes of a path need no lookup. */
  longest = 0;
  /** Cached result of `secure`: of all rules, and of those that an administrator named; undefined = not computed yet. */
  secure: { readonly anyOwner: Rule | undefined; readonly byAdmin: Rule | undefined } | undefined;
}

/**
 * The table of host rules. Determines which rule a request matches (contract 4.7): an exact host beats a wildcard, a longer suffix beats a
 * shorter one, then the longest location wins, then the lowest id. Stopped rules and rules for the other scheme are skipped. For the server's
 * own names, rules that no administrator named are skipped, too.
 * The cost of a lookup depends on the length of the name and path, not on the number of rules.
 */
export class HostTable<Rule extends HostRule> {
  /** The names of the server itself. */
  ownNames: OwnNames;
  /** By pattern: the only rule, for all paths, as of most hosts, or a bucket. */
  readonly #buckets = new Map<string, Rule | Bucket<Rule>>();
  readonly #rules = new IdTable<Rule>();
  readonly #rank: (rule: Rule) => number;

  /** @param rank among the rules of one pattern, the one with the lowest rank is chosen for TLS, see `secure` */
  constructor(rules: Iterable<Rule> = [], ownNames = new OwnNames(), rank: (rule: Rule) => number = () => 0) {
    this.ownNames = ownNames;
    this.#rank = rank;
    for (const rule of rules) this.set(rule);
  }

  /** Adds a rule, or replaces the rule with the same id. */
  set(rule: Rule): void {
    const before = this.#rules.get(rule.id);
    if (before !== undefined) this.#release(before);
    // In its place: somebody may be walking through all rules.
    this.#rules.set(rule.id, rule);
    const known = this.#buckets.get(rule.host);
    if (known instanceof Bucket) this.#add(known, rule);
    else if (known === undefined && rule.location === '/') this.#buckets.set(rule.host, rule);
    else {
      const bucket = new Bucket<Rule>();
      if (known !== undefined) this.#add(bucket, known);
      this.#add(bucket, rule);
      this.#buckets.set(rule.host, bucket);
    }
  }

  #add(bucket: Bucket<Rule>, rule: Rule): void {
    const location = routedLocation(rule.location);
    bucket.longest = Math.max(bucket.longest, location.length);
    bucket.secure = undefined;
    const rules = bucket.locations.get(location) ?? [];
    bucket.locations.set(location, [...rules, rule].toSorted((a, b) => a.id - b.id));
  }

  /** Removes a rule, if there is one with this id. */
  delete(id: number): void {
    const rule = this.#rules.get(id);
    if (rule === undefined) return;
    this.#rules.delete(id);
    this.#release(rule);
  }

  #release(rule: Rule): void {
    const bucket = this.#buckets.get(rule.host);
    if (!(bucket instanceof Bucket)) {
      if (bucket === rule) this.#buckets.delete(rule.host);
      return;
    }
    const location = routedLocation(rule.location);
    bucket.secure = undefined;
    const rest = bucket.locations.get(location)?.filter((other) => other.id !== rule.id) ?? [];
    if (rest.length > 0) bucket.locations.set(location, rest);
    else bucket.locations.delete(location);
    if (bucket.locations.size === 0) this.#buckets.delete(rule.host);
  }

  get(id: number): Rule | undefined {
    return this.#rules.get(id);
  }

  all(): Generator<Rule> {
    return this.#rules.values();
  }

  /** Whether there is a rule for a host, started or stopped. */
  knows(host: string): boolean {
    return patternsFor(host).some((pattern) => this.#buckets.has(pattern));
  }

  /** The started rules of the pattern that matches a host, for any path: all that is known of a TLS connection before its first request. */
  named(host: string, scheme: 'http' | 'https'): Rule[] {
    for (const pattern of patternsFor(host)) {
      const rules = rulesOf(this.#buckets.get(pattern)).filter((rule) => this.#serves(rule, host, scheme));
      if (rules.length > 0) return rules;
    }
    return [];
  }

  /** The started rule that determines the certificate for a name in TLS, before any path is known. The cost doesn't depend on the number of rules, unless one has changed. */
  secure(host: string): Rule | undefined {
    const own = this.ownNames.has(host);
    for (const pattern of patternsFor(host)) {
      const bucket = this.#buckets.get(pattern);
      if (bucket === undefined) continue;
      const { anyOwner, byAdmin } = bucket instanceof Bucket ? bucket.secure ??= this.#secureOf(bucket) : this.#secureOf(bucket);
      const rule = own ? byAdmin : anyOwner;
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  #secureOf(bucket: Rule | Bucket<Rule>): NonNullable<Bucket<Rule>['secure']> {
    const started = rulesOf(bucket).filter(({ enabled, scheme }) => enabled && scheme !== 'http');
    return { anyOwner: this.#best(started), byAdmin: this.#best(started.filter(({ namedByAdmin }) => namedByAdmin)) };
  }

  #best(rules: readonly Rule[]): Rule | undefined {
    let best: Rule | undefined;
    for (const rule of rules) if (best === undefined || this.#rank(rule) < this.#rank(best)) best = rule;
    return best;
  }

  /** The rule that a request matches. */
  match(request: HostRequest): Rule | undefined {
    const path = routedPath(request.path);
    const exact = this.#inBucket(this.#buckets.get(request.host), request, path);
    if (exact !== undefined) return exact;
    for (const pattern of wildcardsFor(request.host)) {
      const rule = this.#inBucket(this.#buckets.get(pattern), request, path);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  /** @param path in routed form */
  #inBucket(bucket: Rule | Bucket<Rule> | undefined, { host, scheme }: HostRequest, path: string): Rule | undefined {
    if (bucket === undefined) return undefined;
    if (!(bucket instanceof Bucket)) return this.#serves(bucket, host, scheme) ? bucket : undefined;
    const { locations, longest } = bucket;
    const serving = (rules: readonly Rule[] | undefined): Rule | undefined => rules?.find((rule) => this.#serves(rule, host, scheme));
    // Tries the longest prefix that can be a location first, then shortens it slash by slash.
    let end = path.length <= longest ? path.length : path.lastIndexOf('/', longest);
    while (end > 0) {
      const rule = serving(locations.get(path.slice(0, end)));
      if (rule !== undefined) return rule;
      end = path.lastIndexOf('/', end - 1);
    }
    return serving(locations.get('/'));
  }

  #serves(rule: Rule, host: string, scheme: 'http' | 'https'): boolean {
    return rule.enabled && (rule.scheme === 'all' || rule.scheme === scheme) && this.ownNames.mayAnswer(rule, host);
  }
}

function rulesOf<Rule>(bucket: Rule | Bucket<Rule> | undefined): Rule[] {
  if (bucket === undefined) return [];
  return bucket instanceof Bucket ? [...bucket.locations.values()].flat() : [bucket];
}

/**
 * The patterns that match a host, by precedence: the host itself, then the wildcards from the longest suffix
 * to the shortest. A wildcard matches at any depth, but not its own suffix.
 */
export function patternsFor(host: string): string[] {
  return [host, ...wildcardsFor(host)];
}

function wildcardsFor(host: string): string[] {
  const patterns: string[] = [];
  if (isIP(host) !== 0) return patterns;
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) patterns.push(`*${host.slice(dot)}`);
  return patterns;
}

/** Why a request matches no rule: the first of these that applies (contract 4.8). */
export type RouteFault = 'host' | 'ownName' | 'stopped' | 'scheme' | 'path';

/** @param rules the rules whose host matches, none of which matches the request */
export function routeFault(rules: readonly HostRule[], { host, scheme }: HostRequest, ownNames: OwnNames): RouteFault {
  if (rules.length === 0) return 'host';
  const allowed = rules.filter((rule) => ownNames.mayAnswer(rule, host));
  if (allowed.length === 0) return 'ownName';
  const started = allowed.filter((rule) => rule.enabled);
  if (started.length === 0) return 'stopped';
  return started.some((rule) => rule.scheme === 'all' || rule.scheme === scheme) ? 'path' : 'scheme';
}
