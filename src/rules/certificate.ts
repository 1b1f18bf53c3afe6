import { type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isWildcard } from './host-name.ts';
import { privateKeyOf } from './private-key.ts';

/** A problem with a certificate or its key. The message is for administrators. */
export class CertificateFault extends Error {
  override readonly name = 'CertificateFault';
}

/** A certificate that was read. */
export interface CertificateFacts {
  readonly x509: X509Certificate;
  readonly validFrom: Date;
  readonly validTo: Date;
  readonly description: CertificateDescription;
}

/** A certificate that was checked against its key. */
export interface CertificatePair extends CertificateFacts {
  /** The key that was checked, as PEM text. */
  readonly privateKey: string;
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
export function certificatePair(certificate: string, privateKey: string): CertificatePair {
  if (certificate.trim() === '' || privateKey.trim() === '') throw new CertificateFault('empty');
  const facts = certificateFacts(certificate);
  const fault = keyFault(facts.x509.publicKey);
  if (fault !== '') throw new CertificateFault(fault);
  const key = keyOf(facts.x509, privateKey);
  if (key === undefined) throw new CertificateFault('unusable pair');
  return { ...facts, privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** The largest certificate: each check of a host's name compares it with all names of its certificate. Authorities issue certificates for a hundred names, some for several hundred. */
const MOST = { bytes: 32 * 1024, names: 1000 } as const;

/** Reads a certificate, without a key. @throws {CertificateFault} `cannot parse`, or that it is too large */
export function certificateFacts(certificate: string): CertificateFacts {
  try {
    const x509 = new X509Certificate(certificate);
    // Reading the key may fail, too.
    if (x509.publicKey.type !== 'public') throw new CertificateFault('cannot parse');
    const names = x509.raw.length > MOST.bytes ? undefined : x509.subjectAltName ?? '';
    if (names === undefined || names.split(', ').length > MOST.names) {
      throw new CertificateFault(`the certificate has more than ${MOST.names} names or ${MOST.bytes} bytes`);
    }
    // Node 20 provides the dates only as text.
    const [validFrom, validTo] = [new Date(x509.validFrom), new Date(x509.validTo)];
    return { x509, validFrom, validTo, description: { ...described(x509, names), validFrom, validTo } };
  } catch (error) {
    throw error instanceof CertificateFault ? error : new CertificateFault('cannot parse');
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
  return keyOf(x509, key) !== undefined;
}

function keyOf(x509: X509Certificate, pem: string): KeyObject | undefined {
  const key = privateKeyOf(pem);
  return key && x509.checkPrivateKey(key) ? key : undefined;
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

function described(x509: X509Certificate, subjectAltName: string): Omit<CertificateDescription, 'validFrom' | 'validTo'> {
  const names = [...subjectAltName.matchAll(/(?:DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, name = '']) => name);
  const issuer = /^CN=(.*)$/m.exec(x509.issuer)?.[1] ?? x509.issuer.replaceAll('\n', ', ');
  return { names: names.slice(0, 100), issuer: issuer.slice(0, 255), fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase() };
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
export type CertificateStatus = 'missing' | 'expired' | 'notYetValid' | 'notCovered' | 'refused' | 'expiring' | 'valid';

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
