import { isBelow, patternsOverlap } from '../../rules/host-overlap.ts';
import { coversPublicSuffix } from '../../rules/public-suffix.ts';
import type { Host, PlatformDomain } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { AditError } from '../errors.ts';
import { invalidDomain, type PlatformEntry } from './input.ts';

/** A host whose certificate changed with that of its platform domain. */
export interface RecertifiedHost {
  readonly before: Host;
  readonly after: Host;
}

/**
 * Replaces all platform domains (contract 2.6, 4.7); the certificates were checked before.
 * @returns the hosts with a new certificate
 * @throws {AditError} PLATFORM_DOMAIN_INVALID, PLATFORM_DOMAIN_IN_USE, INVALID_INPUT
 */
export async function savePlatformDomains(tx: Transaction, entries: readonly PlatformEntry[]): Promise<RecertifiedHost[]> {
  const stored = await tx.platformDomain.findMany({ include: { _count: { select: { hosts: true } } } });
  const next = new Map(entries.map((entry) => [entry.id, entry]));
  for (const { id, wildcard, _count: { hosts } } of stored) {
    if (hosts === 0) continue;
    const entry = next.get(id);
    if (entry === undefined) throw inUse(wildcard, `platform domain ${wildcard} in use: cannot delete`);
    if (entry.wildcard !== wildcard) throw inUse(wildcard, `platform domain ${wildcard} in use: cannot rename`);
    if (entry.certFilePath === '') await checkHttpOnly(tx, entry);
  }
  const before = new Map(stored.map((domain) => [domain.id, domain]));
  await checkWildcardHosts(tx, entries.filter(({ id, wildcard }) => before.get(id)?.wildcard !== wildcard));
  return store(tx, entries, before);
}

async function store(tx: Transaction, entries: readonly PlatformEntry[], before: ReadonlyMap<string, PlatformDomain>): Promise<RecertifiedHost[]> {
  const kept = entries.filter(({ id, wildcard }) => before.get(id)?.wildcard === wildcard);
  // A renamed domain has no hosts, so it can be deleted and created again; this also allows domains to exchange names.
  await tx.platformDomain.deleteMany({ where: { id: { notIn: kept.map(({ id }) => id) } } });
  await tx.platformDomain.createMany({ data: entries.filter((entry) => !kept.includes(entry)) });
  const recertified: RecertifiedHost[] = [];
  for (const { id, certFilePath, keyFilePath } of kept) {
    const data = { certFilePath, keyFilePath };
    await tx.platformDomain.update({ where: { id }, data });
    const hosts = await tx.host.findMany({ where: { platformDomainId: id, NOT: data } });
    await tx.host.updateMany({ where: { platformDomainId: id }, data });
    recertified.push(...hosts.map((host) => ({ before: host, after: { ...host, ...data } })));
  }
  return recertified;
}

async function checkHttpOnly(tx: Transaction, { id, wildcard }: PlatformEntry): Promise<void> {
  const host = await tx.host.findFirst({ where: { platformDomainId: id, scheme: { not: 'http' } }, orderBy: { id: 'asc' }, select: { id: true } });
  if (host !== null) {
    throw inUse(wildcard, `platform domain ${wildcard} is used by https host ${host.id}: change it to http before the certificate is removed`);
  }
}

async function checkWildcardHosts(tx: Transaction, added: readonly PlatformEntry[]): Promise<void> {
  if (added.length === 0) return;
  const hosts = await tx.host.findMany({ where: { platformDomainId: null, host: { startsWith: '*.' } }, select: { host: true } });
  for (const { wildcard } of added) {
    const rule = hosts.find(({ host }) => patternsOverlap(host, wildcard) && !(isBelow(wildcard, host) && coversPublicSuffix(host)));
    if (rule !== undefined) throw invalidDomain(`platform domain ${wildcard} conflicts with existing wildcard host ${rule.host}`, wildcard);
  }
}

function inUse(wildcard: string, reason: string): AditError {
  return new AditError('PLATFORM_DOMAIN_IN_USE', { reason, wildcard });
}
