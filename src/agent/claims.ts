import { transportOf } from '../rules/tunnel-mode.ts';
import type { DeclaredEntry } from '../wire/declaration.ts';

/**
 * The values of an entry that must be unique: its port, its password, its name. Two entries conflict when they have a text in common.
 * @param given the port that the entry got when it requested any free port
 */
export function claimsOf(entry: DeclaredEntry, given = 0): string[] {
  if (entry.kind === 'host') {
    const { host, location, platformDomainId, platformPrefix } = entry.host;
    return [host === '' ? `${platformPrefix} below ${platformDomainId} ${location}` : `host ${host} ${location}`];
  }
  const { mode, password } = entry.tunnel;
  const port = entry.tunnel.port || given;
  // Ignores the bind address: an unnecessary order does no harm.
  const ports = port === 0 ? [] : [`${transportOf(mode)} port ${port}`];
  return password === '' ? ports : [...ports, `password ${password}`];
}

/** The change of an entry: its current unique values and its new ones. */
export interface Change {
  readonly holds: readonly string[];
  readonly claims: readonly string[];
}

/** @returns the changes, each after those that release its new values; and the entries to withdraw first, because they wait for each other */
export function takingOrder(changes: ReadonlyMap<string, Change>): { readonly withdrawn: ReadonlySet<string>; readonly order: readonly string[] } {
  const givenUp = new Map<string, string>();
  for (const [key, { holds, claims }] of changes) {
    for (const claim of holds) if (!claims.includes(claim)) givenUp.set(claim, key);
  }
  const withdrawn = new Set<string>();
  const order = new Set<string>();
  const waiting = new Set<string>();
  const take = (key: string): void => {
    if (order.has(key)) return;
    waiting.add(key);
    for (const claim of changes.get(key)?.claims ?? []) {
      const holder = givenUp.get(claim);
      if (holder === undefined) continue;
      if (waiting.has(holder)) withdrawn.add(holder);
      else take(holder);
    }
    waiting.delete(key);
    order.add(key);
  };
  for (const key of changes.keys()) take(key);
  return { withdrawn, order: [...order] };
}
