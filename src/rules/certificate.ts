import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isWildcard } from './host-name.ts';

/** What is wrong with a certificate or its key; the message is for administrators. */
export class CertificateFault extends Error {
  override readonly name = 'CertificateFault';
}

/** A certificate whose key was checked. */
export interface CertificateFacts {
  readonly x509: X509Certificate;
  readonly validFrom: Date;
  readonly validTo: Date;
}

/** Whether a certificate or key is given as its text, and not as the path of a file (contract 4.7). */
export function isPem(given: string): boolean {
  return given.includes('-----BEGIN');
}

/**
 * Checks that a certificate and a key are a pair (contract 4.7).
 * @param certificate PEM: the certificate first, then its chain
 * @throws {CertificateFault} `empty`, `cannot parse` or `unusable pair`
 */
export function certificatePair(certificate: string, key: string): CertificateFacts {
  if (certificate.trim() === '' || key.trim() === '') throw new CertificateFault('empty');
  let x509: X509Certificate;
  try {
    x509 = new X509Certificate(certificate);
  } catch {
    throw new CertificateFault('cannot parse');
  }
  if (!belongTogether(x509, key)) throw new CertificateFault('unusable pair');
  // Node 20 has the dates as text only.
  return { x509, validFrom: new Date(x509.validFrom), validTo: new Date(x509.validTo) };
}

function belongTogether(x509: X509Certificate, key: string): boolean {
  try {
    return x509.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false; // no key, or one that needs a password
  }
}

/** What is told of a certificate. */
export interface CertificateDescription {
  /** The names and addresses that it is for, at most 100 of them. */
  readonly names: readonly string[];
  /** Who made it: the common name, or all that is there. */
  readonly issuer: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** SHA-256 of it, 64 hex digits. */
  readonly fingerprint: string;
}

/** @see CertificateDescription */
export function describeCertificate({ x509, validFrom, validTo }: CertificateFacts): CertificateDescription {
  const names = [...(x509.subjectAltName ?? '').matchAll(/(?:DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, name = '']) => name);
  const issuer = /^CN=(.*)$/m.exec(x509.issuer)?.[1] ?? x509.issuer.replaceAll('\n', ', ');
  return { names: names.slice(0, 100), issuer: issuer.slice(0, 255), validFrom, validTo, fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase() };
}

/** Whether a certificate is for a host, asked as browsers ask: the old common name counts for nothing. @param host a name, an address or a wildcard */
export function coversHost(x509: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) return x509.checkIP(host) !== undefined;
  // A name that stands for all those below the wildcard (contract 4.7).
  return x509.checkHost(isWildcard(host) ? `probe${host.slice(1)}` : host, { subject: 'never' }) !== undefined;
}

/** A certificate that expires within this many days is about to (contract 1.5). */
export const EXPIRING_DAYS = 15;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Whole days until a certificate expires; 0 = none are left. */
export function daysLeft(validTo: Date, now: number): number {
  return Math.max(0, Math.floor((validTo.getTime() - now) / DAY_MS));
}

/** How a certificate can stand, the worst first. */
export const certificateStandings = ['missing', 'expired', 'notYetValid', 'notCovered', 'refused', 'expiring', 'valid'] as const;
/** @see certificateStandings */
export type CertificateStanding = typeof certificateStandings[number];

/**
 * How a certificate stands.
 * @param facts of the one in use; undefined = there is none
 * @param problem why what was put in its place is not in use; "" = nothing was
 * @param host the name that is to be covered; undefined = none in particular
 */
export function standingOf(facts: CertificateFacts | undefined, problem: string, now: number, host?: string): CertificateStanding {
  if (!facts) return 'missing';
  if (facts.validTo.getTime() <= now) return 'expired';
  if (facts.validFrom.getTime() > now) return 'notYetValid';
  if (host !== undefined && !coversHost(facts.x509, host)) return 'notCovered';
  if (problem !== '') return 'refused';
  return daysLeft(facts.validTo, now) < EXPIRING_DAYS ? 'expiring' : 'valid';
}
