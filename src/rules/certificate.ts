import { createPrivateKey, X509Certificate } from 'node:crypto';

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
