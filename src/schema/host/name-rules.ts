import { hostPattern } from '../../rules/host-name.ts';
import { platformHost, platformPrefix } from '../../rules/platform-domain.ts';
import type { Host, PlatformDomain } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import { OwnNames } from '../../rules/own-names.ts';
import { coversPublicSuffix } from '../../rules/public-suffix.ts';
import { AditError } from '../errors.ts';
import { usableCertificate } from '../platform-domain/certificate-rules.ts';
import type { Context } from '../context.ts';
import type { HostValues } from './input.ts';

/** The name of a host, and its source. */
export interface HostName {
  readonly host: string;
  /** Its platform domain; null = a custom host. */
  readonly domain: PlatformDomain | null;
  readonly platformPrefix: string | null;
}

/**
 * The new name of a host (contract 2.5, 4.7). Parts that the input doesn't contain stay unchanged.
 * @param before undefined = a new host
 * @throws {AditError} HOST_INVALID, or an error of platform domains
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
 * Without a mode, the host keeps its mode unless the input contains another name: callers that don't know platform domains send no mode
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
  // PostgreSQL does not accept NUL.
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

/** Checks a platform domain's certificate; without one, only HTTP is allowed (contract 4.7). @throws {AditError} PLATFORM_HTTP_ONLY, or an error of the certificate */
export async function checkPlatform(domain: PlatformDomain | null | undefined, scheme: string): Promise<void> {
  if (!domain) return;
  if (domain.certFilePath !== '') await usableCertificate(domain, 'platformDomainId');
  else if (scheme !== 'http') throw new AditError('PLATFORM_HTTP_ONLY', { wildcard: domain.wildcard, field: 'scheme' });
}

/** The server's own names, from its settings and the current global settings. */
export async function ownNames({ settings }: Context, db: Reading): Promise<OwnNames> {
  const global = await db.globalSettings.findUnique({ where: { id: 1 }, select: { serverUrl: true } });
  return new OwnNames([settings.publicUrl, global?.serverUrl ?? '']);
}

/**
 * Checks whether the caller may give a name to a host, or order a certificate for it. Administrators may use any name.
 * @throws {AditError} HOST_OWN_NAME, HOST_PUBLIC_SUFFIX
 */
export async function checkNameAllowed(context: Context, db: Reading, name: string): Promise<void> {
  if (context.caller.kind === 'admin') return;
  if (coversPublicSuffix(name)) throw new AditError('HOST_PUBLIC_SUFFIX');
  if ((await ownNames(context, db)).has(name)) throw new AditError('HOST_OWN_NAME');
}
