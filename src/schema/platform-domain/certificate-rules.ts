import { readFile, stat } from 'node:fs/promises';
import { CertificateFault, type CertificateFacts, certificatePair, coversHost, daysLeft, EXPIRING_DAYS, isPem } from '../../rules/certificate.ts';
import type { PlatformDomain } from '../../store/generated/sqlite/client.ts';
import { AditError } from '../errors.ts';

/** The possible statuses of a platform domain's certificate; if more than one applies, the first counts. The legacy API has a text for each (contract 1.5). */
export type PlatformCertificateStatus = 'none' | 'cannotLoad' | 'empty' | 'cannotParse' | 'notCovered' | 'expired' | 'notYetValid' | 'expiring' | 'valid';

/** The status of a platform domain's certificate (contract 1.5). */
export interface CertificateState {
  readonly status: PlatformCertificateStatus;
  readonly expiresAt: Date | null;
  /** Whole days until it expires; 0 = less than a day, or there is no certificate. */
  readonly daysRemaining: number;
  /** Whether the files are readable and contain a certificate with its key. */
  readonly readable: boolean;
}

/** Maximum size of a certificate or key file in bytes (contract D32). */
const FILE_BYTES = 64 * 1024;

/** The columns that the check of a certificate uses. */
type CertifiedDomain = Pick<PlatformDomain, 'wildcard' | 'certFilePath' | 'keyFilePath'>;

/**
 * Checks that the certificate of a platform domain can serve its hosts now (contract 4.7).
 * @param field the domain's path in the input
 * @throws {AditError} PLATFORM_CERTIFICATE
 */
export async function usableCertificate(domain: CertifiedDomain, field: string, now: Date = new Date()): Promise<void> {
  try {
    const { x509, validFrom, validTo } = await loadPair(domain);
    if (validFrom > now || validTo <= now) throw new CertificateFault('not yet valid or expired');
    if (!coversHost(x509, domain.wildcard)) throw new CertificateFault('does not cover the wildcard');
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error;
    throw new AditError('PLATFORM_CERTIFICATE', { wildcard: domain.wildcard, reason: error.message, field });
  }
}

/** The certificate status for the administrator's list (contract 1.5). */
export async function certificateState(domain: CertifiedDomain, now: Date = new Date()): Promise<CertificateState> {
  const none = { expiresAt: null, daysRemaining: 0, readable: false };
  if (domain.certFilePath === '') return { ...none, status: 'none' };
  let certificate: CertificateFacts;
  try {
    certificate = await loadPair(domain);
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error;
    return { ...none, status: error.message === 'empty' ? 'empty' : error.message === 'cannot parse' ? 'cannotParse' : 'cannotLoad' };
  }
  const { x509, validFrom, validTo: expiresAt } = certificate;
  const daysRemaining = daysLeft(expiresAt, now.getTime());
  const known = { expiresAt, daysRemaining, readable: true };
  if (!coversHost(x509, domain.wildcard)) return { ...known, status: 'notCovered' };
  if (expiresAt <= now) return { ...known, status: 'expired' };
  if (validFrom > now) return { ...known, status: 'notYetValid' };
  return { ...known, status: daysRemaining < EXPIRING_DAYS ? 'expiring' : 'valid' };
}

/** @throws {CertificateFault} */
async function loadPair({ certFilePath, keyFilePath }: CertifiedDomain): Promise<CertificateFacts> {
  const [certText, keyText] = await Promise.all([readPem(certFilePath), readPem(keyFilePath)]);
  return certificatePair(certText, keyText);
}

/** Reads a file, or returns PEM text unchanged. @throws {CertificateFault} */
export async function readPem(pathOrText: string): Promise<string> {
  if (isPem(pathOrText)) return pathOrText;
  try {
    const file = await stat(pathOrText);
    if (file.isFile() && file.size <= FILE_BYTES) return await readFile(pathOrText, 'utf8');
  } catch {
    // missing or not readable
  }
  throw new CertificateFault('cannot load');
}
