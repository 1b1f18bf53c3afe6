import { expireTimeText } from '../../rules/expire-time.ts';
import type { GetGlobalQuery, PlatformCertificateStatus } from '../generated/graphql.ts';
import { answered } from '../answered.ts';
import type { Shaped } from '../shapes.ts';

/**
 * Builds the record of the global settings (contract 1.6): under the parameter names for saving, and again in `data` under the
 * names that NPS uses in its storage.
 */
export function globalRecord({ globalSettings }: GetGlobalQuery): Shaped<'GlobalSettings'> {
  const { blocklist: lines, serverUrl, platformDomains } = answered(globalSettings);
  const blocklist = Array.from<string>(lines);
  const domains = platformDomains.map((domain) => domainRecord(domain));
  return {
    status: 1,
    msg: 'success',
    globalBlackIpList: blocklist.join('\r\n'),
    serverUrl: serverUrl ?? '',
    platform_domains: domains,
    data: { BlackIpList: blocklist, ServerUrl: serverUrl ?? '', PlatformDomains: domains },
  };
}

/** The texts of the status of a certificate (contract 1.5). */
const statuses: Readonly<Record<PlatformCertificateStatus, string>> = {
  NONE: 'no certificate, HTTP only',
  CANNOT_LOAD: 'cannot load',
  EMPTY: 'empty',
  CANNOT_PARSE: 'cannot parse',
  NOT_COVERED: 'does not cover wildcard',
  EXPIRED: 'expired',
  NOT_YET_VALID: 'not yet valid',
  EXPIRING: 'fewer than 15 days left',
  VALID: 'valid',
};

type Domain = NonNullable<GetGlobalQuery['globalSettings']>['platformDomains'][number];

function domainRecord({ id, wildcard, certificatePath, privateKeyPath, referenceCount, certificate: restricted }: Domain) {
  const certificate = answered(restricted);
  return {
    ID: id,
    Wildcard: wildcard,
    CertFilePath: certificatePath ?? '',
    KeyFilePath: privateKeyPath ?? '',
    Status: statuses[certificate.status],
    ExpiresAt: certificate.expiresAt === null ? '' : expireTimeText(new Date(certificate.expiresAt)),
    DaysRemaining: certificate.daysRemaining ?? 0,
    ReferenceCount: answered(referenceCount),
    Readable: certificate.readable,
  };
}
