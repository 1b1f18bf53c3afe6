import { expireTimeText } from '../../rules/expire-time.ts';
import type { GetGlobalQuery } from '../generated/graphql.ts';
import type { Shaped } from '../shapes.ts';

/**
 * Builds the record of the global settings (contract 1.6): under the parameter names for saving, and again in `data` under the
 * names that NPS uses in its storage.
 */
export function globalRecord({ globalSettings: { blackIpList, serverUrl, platformDomains } }: GetGlobalQuery): Shaped<'GlobalSettings'> {
  const domains = platformDomains.map(({ id, wildcard, certFilePath, keyFilePath, referenceCount, certificate }) => ({
    ID: id,
    Wildcard: wildcard,
    CertFilePath: certFilePath ?? '',
    KeyFilePath: keyFilePath ?? '',
    Status: certificate.status,
    ExpiresAt: certificate.expiresAt === null ? '' : expireTimeText(new Date(certificate.expiresAt)),
    DaysRemaining: certificate.daysRemaining ?? 0,
    ReferenceCount: referenceCount,
    Readable: certificate.readable,
  }));
  return {
    status: 1,
    msg: 'success',
    globalBlackIpList: blackIpList.join('\r\n'),
    serverUrl: serverUrl ?? '',
    platform_domains: domains,
    data: { BlackIpList: blackIpList, ServerUrl: serverUrl ?? '', PlatformDomains: domains },
  };
}
