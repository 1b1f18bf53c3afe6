import { requestedHost } from '../../rules/host-name.ts';
import { HostTable, patternsFor, routeFault, ruleSchemes, type HostRule, type RouteFault } from '../../rules/host-route.ts';
import { octets } from '../../rules/octets.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import { resolvedPath } from '../../rules/request-path.ts';
import type { Host } from '../../store/generated/sqlite/client.ts';
import type { ClientWithOwner } from '../writes/changes.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { ownNames } from '../host/name-rules.ts';
import { stored } from '../values/stored.ts';

/** The request to diagnose. */
export interface RouteQuestion {
  /** Without port, in canonical spelling; a text that is not a host stays unchanged. */
  readonly host: string;
  /** With dot segments resolved, as for requests. */
  readonly path: string;
  readonly scheme: 'http' | 'https';
}

/** A stored rule with its owner. */
export interface StoredRule extends HostRule {
  readonly row: Host;
  readonly client: ClientWithOwner;
}

/** The route of a request, or why there is none; `other` = it matches a rule that the caller may not see. */
export type Route = { readonly rule: StoredRule; readonly fault?: undefined } | { readonly rule?: undefined; readonly fault: RouteFault | 'other' };

/** Parses the request to diagnose (contract 4.8). @throws {AditError} DIAGNOSIS_REQUEST_INVALID */
export function routeQuestion(host: string, path: string, scheme: 'http' | 'https'): RouteQuestion {
  if (host.trim() === '') throw invalidRequest('host', 'host empty');
  const wanted = path.trim() === '' ? '/' : path.trim();
  if (!wanted.startsWith('/')) throw invalidRequest('path', 'path must start with /');
  // oxlint-disable-next-line no-control-regex
  if (/[\s\0-\x1f\x7f]|%(?![0-9a-f]{2})/i.test(wanted)) throw invalidRequest('path', 'bad path');
  const resolved = resolvedPath(wanted);
  if (resolved === undefined) throw invalidRequest('path', 'bad path');
  return { host: requestedHost(host) ?? host.trim(), path: resolved, scheme };
}

function invalidRequest(field: string, reason: string): AditError {
  return new AditError('DIAGNOSIS_REQUEST_INVALID', { field, reason });
}

/**
 * Finds the rule with the router's own table, among the rules that could match. If the caller may not see the matching rule, the result
 * is based on the caller's own rules only (contract 4.8).
 */
export async function findRoute(context: Context, question: RouteQuestion): Promise<Route> {
  const { caller, store } = context;
  if (requestedHost(question.host) === undefined) return { fault: 'host' };
  const names = await ownNames(context, store.db);
  const rows = await store.db.host.findMany({ where: { host: { in: patternsFor(question.host) } }, include: { client: { include: { user: true } } } });
  const rules = rows.map(({ client, ...row }): StoredRule => ({
    id: row.id,
    host: row.host,
    location: row.location,
    scheme: stored(ruleSchemes, row.scheme),
    enabled: row.enabled,
    namedByAdmin: row.namedByAdmin,
    row,
    client,
  }));
  const asked = { ...question, path: octets(question.path) };
  const rule = new HostTable(rules, names).match(asked);
  if (rule !== undefined && mayUseClient(caller, rule.client)) return { rule };
  const own = rules.filter(({ client }) => mayUseClient(caller, client));
  return { fault: new HostTable(own, names).match(asked) === undefined ? routeFault(own, question, names) : 'other' };
}
