import { hostPattern } from '../../rules/host-name.ts';
import { platformHost, platformPrefix } from '../../rules/platform-domain.ts';
import type { Host, PlatformDomain } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import { AditError } from '../errors.ts';
import type { HostValues } from './input.ts';

/** What a host is found by, and where it comes from. */
export interface HostName {
  readonly host: string;
  /** The platform domain it lies below; null = a custom host. */
  readonly domain: PlatformDomain | null;
  readonly platformPrefix: string | null;
}

/**
 * The name that a host is to have (contract 2.5, 4.7). What the input leaves out stays as it is.
 * @param before undefined = a new host
 * @throws {AditError} HOST_INVALID, or one of the platform domain's
 */
export async function nextName(tx: Reading, input: HostValues, before: Host | undefined): Promise<HostName> {
  if (!isPlatform(input, before)) {
    const host = before !== undefined && (input.host === null || input.host === undefined) ? before.host : hostPattern(input.host ?? '');
    if (host === undefined) throw new AditError('HOST_INVALID', { field: 'host' });
    return { host, domain: null, platformPrefix: null };
  }
  const domain = await platformDomain(tx, input.platformDomainId ?? before?.platformDomainId ?? '');
  return platformName(domain, input.platformPrefix ?? before?.platformPrefix ?? '');
}

/**
 * Without a mode the host stays what it is, unless another name is given: callers that don't know platform domains send none
 * (contract 2.5).
 */
function isPlatform(input: HostValues, before: Host | undefined): boolean {
  if (input.mode !== null && input.mode !== undefined) return input.mode === 'platform';
  if (before === undefined || before.platformDomainId === null) return false;
  return input.host === null || input.host === undefined || hostPattern(input.host) === before.host;
}

/** @throws {AditError} PLATFORM_DOMAIN_REQUIRED, PLATFORM_DOMAIN_UNKNOWN */
export async function platformDomain(tx: Reading, id: string): Promise<PlatformDomain> {
  const wanted = id.trim();
  if (wanted === '') throw new AditError('PLATFORM_DOMAIN_REQUIRED', { field: 'platformDomainId' });
  // PostgreSQL refuses to look for a NUL.
  const domain = wanted.includes('\0') ? null : await tx.platformDomain.findUnique({ where: { id: wanted } });
  if (domain === null) throw new AditError('PLATFORM_DOMAIN_UNKNOWN', { field: 'platformDomainId' });
  return domain;
}

/** @throws {AditError} PLATFORM_PREFIX_INVALID */
export function platformName(domain: PlatformDomain, text: string): HostName & { readonly domain: PlatformDomain } {
  const prefix = platformPrefix(text);
  const host = prefix === undefined ? undefined : platformHost(domain.wildcard, prefix);
  if (prefix === undefined || host === undefined) throw new AditError('PLATFORM_PREFIX_INVALID', { field: 'platformPrefix' });
  return { host, domain, platformPrefix: prefix };
}
