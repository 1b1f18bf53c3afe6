import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isWildcard } from './host-name.ts';

/** A problem with a certificate or its key. The message is for administrators. */
export class CertificateFault extends Error {
  override readonly name = 'CertificateFault';
}

/** A certificate that was checked against its key. */
export interface CertificateFacts {
  readonly x509: X509Certificate;
  readonly validFrom: Date;
  readonly validTo: Date;
}

/** Whether a certificate or key is given as PEM text instead of the path of a file (contract 4.7). */
export function isPem(given: string): boolean {
  return given.includes('-----BEGIN');
}

/**
 * Checks that a certificate and a key are a pair (contract 4.7), and that the key is not so large that handshakes would block the server.
 * @param certificate PEM: the certificate first, then its chain
 * @throws {CertificateFault} `empty`, `cannot parse`, `unusable pair`, or why the key is not accepted
 */
export function certificatePair(certificate: string, privateKey: string): CertificateFacts {
  if (certificate.trim() === '' || privateKey.trim() === '') throw new CertificateFault('empty');
  const facts = certificateFacts(certificate);
  const fault = keyFault(facts.x509.publicKey);
  if (fault !== '') throw new CertificateFault(fault);
  if (!belongTogether(facts.x509, privateKey)) throw new CertificateFault('unusable pair');
  return facts;
}

/** Reads a certificate, without a key. @throws {CertificateFault} `cannot parse` */
export function certificateFacts(certificate: string): CertificateFacts {
  try {
    const x509 = new X509Certificate(certificate);
    // Reading the key may fail, too.
    if (x509.publicKey.type !== 'public') throw new CertificateFault('cannot parse');
    // Node 20 provides the dates only as text.
    return { x509, validFrom: new Date(x509.validFrom), validTo: new Date(x509.validTo) };
  } catch {
    throw new CertificateFault('cannot parse');
  }
}

/** Maximum size of an RSA key in bits: a signature by twice as large a key takes six times as long, and each TLS handshake needs one. */
const MOST_RSA_BITS = 4096;
/** Elliptic curves whose signatures take about a millisecond at most, by OpenSSL's names. */
const curves: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** Why the key of a certificate is not accepted; "" = it is. */
export function keyFault({ asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength = 0, namedCurve = '' } = {} }: KeyObject): string {
  switch (type) {
    case 'rsa':
    case 'rsa-pss':
      return modulusLength > MOST_RSA_BITS ? `the RSA key has ${modulusLength} bits, the maximum is ${MOST_RSA_BITS}` : '';
    case 'ec':
      return curves.has(namedCurve) ? '' : `the curve ${namedCurve || 'of the key'} is not supported; use P-256, P-384 or P-521`;
    case 'ed25519':
      return '';
    default:
      return 'the type of the key is not supported; use RSA, ECDSA or Ed25519';
  }
}

/** Whether a private key, as PEM text, is that of a certificate. */
export function belongTogether(x509: X509Certificate, key: string): boolean {
  try {
    return x509.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false; // not a key, or an encrypted one
  }
}

/** The public properties of a certificate. */
export interface CertificateDescription {
  /** The names and addresses that it covers, at most 100. */
  readonly names: readonly string[];
  /** The issuer: its common name, or else its whole name. */
  readonly issuer: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** SHA-256 fingerprint, 64 hex digits. */
  readonly fingerprint: string;
}

/** @see CertificateDescription */
export function describeCertificate({ x509, validFrom, validTo }: CertificateFacts): CertificateDescription {
  const names = [...(x509.subjectAltName ?? '').matchAll(/(?:DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, name = '']) => name);
  const issuer = /^CN=(.*)$/m.exec(x509.issuer)?.[1] ?? x509.issuer.replaceAll('\n', ', ');
  return { names: names.slice(0, 100), issuer: issuer.slice(0, 255), validFrom, validTo, fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase() };
}

/** Whether a certificate covers a host, by the rules of browsers, which ignore the common name. @param host a name, an address or a wildcard */
export function coversHost(x509: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) return x509.checkIP(host) !== undefined;
  // Stands for all names below the wildcard (contract 4.7).
  return x509.checkHost(isWildcard(host) ? `probe${host.slice(1)}` : host, { subject: 'never' }) !== undefined;
}

/** A certificate with fewer days left than this is about to expire (contract 1.5). */
export const EXPIRING_DAYS = 15;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Whole days until a certificate expires; 0 = less than a day, or expired. */
export function daysLeft(validTo: Date, now: number): number {
  return Math.max(0, Math.floor((validTo.getTime() - now) / DAY_MS));
}

/** The statuses of a certificate, worst first. */
const certificateStatuses = ['missing', 'expired', 'notYetValid', 'notCovered', 'refused', 'expiring', 'valid'] as const;
/** @see certificateStatuses */
export type CertificateStatus = typeof certificateStatuses[number];

/**
 * The status of a certificate.
 * @param facts the certificate in use; undefined = none
 * @param problem why a replacement is not used; "" = there is no refused replacement
 * @param host the name that it must cover; undefined = any
 */
export function certificateStatusOf(facts: CertificateFacts | undefined, problem: string, now: number, host?: string): CertificateStatus {
  if (!facts) return 'missing';
  if (facts.validTo.getTime() <= now) return 'expired';
  if (facts.validFrom.getTime() > now) return 'notYetValid';
  if (host !== undefined && !coversHost(facts.x509, host)) return 'notCovered';
  if (problem !== '') return 'refused';
  return daysLeft(facts.validTo, now) < EXPIRING_DAYS ? 'expiring' : 'valid';
}
