import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { CertificateFault, certificateFacts, certificatePair, certificateStatusOf, coversHost, daysLeft } from '../../src/rules/certificate.ts';
import { covering, makeCertificate, type TestCertificate } from '../support/certificates.ts';
import { ed25519, p521, secp256k1, slowest, tooLarge } from '../support/unusual-keys.ts';

test.each<[string, TestCertificate, string]>([
  ['ECDSA with P-256', covering, ''],
  ['ECDSA with P-521', p521, ''],
  ['Ed25519', ed25519, ''],
  ['RSA with 4,096 bits', slowest, ''],
  ['RSA with more bits', tooLarge, 'the RSA key has 4104 bits, the maximum is 4096'],
  ['another curve', secp256k1, 'the curve secp256k1 is not supported; use P-256, P-384 or P-521'],
])('keys that would make handshakes slow are not accepted: %s', (_name, { certificate, key }, fault) => {
  const check = () => certificatePair(certificate, key);
  if (fault === '') expect(check().validFrom.getTime()).toBeLessThan(Date.now());
  else expect(check).toThrow(new CertificateFault(fault));
});

test('a certificate whose key cannot be read is none, although it can be parsed', () => {
  const der = new X509Certificate(covering.certificate).raw.toString('hex');
  // Its curve is none that exists.
  const bytes = Buffer.from(der.replace('2a8648ce3d030107', '2a8648ce3d03017f'), 'hex');
  const pem = `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`;
  expect(() => new X509Certificate(pem)).not.toThrow();
  expect(() => certificateFacts(pem)).toThrow(new CertificateFault('cannot parse'));
});

test.each([999, 1000, 1001])('a certificate has 1,000 names at most, so that checking those of hosts stays cheap: %i', async (count) => {
  const { certificate, key } = await makeCertificate(Array.from({ length: count }, (_, index) => `${index}.x`));
  const check = () => certificatePair(certificate, key);
  if (count <= 1000) expect(check().description.names).toHaveLength(100);
  else expect(check).toThrow(new CertificateFault('the certificate has more than 1000 names or 32768 bytes'));
});

test('a certificate has 32 KB at most', async () => {
  const { certificate, key } = await makeCertificate(Array.from({ length: 900 }, (_, index) => `${index}${'x'.repeat(40)}.example`));
  expect(() => certificatePair(certificate, key)).toThrow(new CertificateFault('the certificate has more than 1000 names or 32768 bytes'));
});

test('a certificate covers its names and addresses, and no others', async () => {
  const { certificate } = await makeCertificate(['a.example', '*.b.example', '192.0.2.1', '2001:db8::1']);
  const { x509 } = certificateFacts(certificate);
  expect(['a.example', 'A.EXAMPLE', 'x.b.example', '*.b.example', '192.0.2.1', '2001:db8::1'].filter((host) => !coversHost(x509, host))).toEqual([]);
  const others = ['b.example', 'a.example.org', 'x.a.example', '*.example', 'x.y.b.example', '192.0.2.2', '2001:db8::2', '0.2.1'];
  expect(others.filter((host) => coversHost(x509, host))).toEqual([]);
});

test('the status of a certificate is the worst that is true of it', () => {
  const facts = certificateFacts(covering.certificate);
  const from = facts.validFrom.getTime();
  const to = facts.validTo.getTime();
  const statuses = (problem: string, host?: string) =>
    [from - 1, from, to - 15 * 86_400_000, to - 15 * 86_400_000 + 1, to - 1, to].map((now) => certificateStatusOf(facts, problem, now, host));
  expect(statuses('')).toEqual(['notYetValid', 'valid', 'valid', 'expiring', 'expiring', 'expired']);
  expect(statuses('cannot parse', 'a.p.example.com')).toEqual(['notYetValid', 'refused', 'refused', 'refused', 'refused', 'expired']);
  expect(statuses('cannot parse', 'a.example')).toEqual(['notYetValid', 'notCovered', 'notCovered', 'notCovered', 'notCovered', 'expired']);
  expect(certificateStatusOf(undefined, 'cannot parse', from)).toBe('missing');
});

test.each([[15 * 86_400_000, 15], [15 * 86_400_000 - 1, 14], [86_400_000 - 1, 0], [-1, 0]])(
  'a certificate that expires in %i ms has %i whole days left',
  (ms, days) => {
    expect(daysLeft(new Date(1_000_000 + ms), 1_000_000)).toBe(days);
  },
);
