import { generateKeyPairSync } from 'node:crypto';
import process from 'node:process';
import { expect, test } from '@jest/globals';
import { CertificateFault, certificatePair } from '../../src/rules/certificate.ts';
import { privateKeyOf } from '../../src/rules/private-key.ts';
import { covering } from '../support/certificates.ts';

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const curve = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

test.each(
  [
    ['RSA, PKCS #8', rsa, 'pkcs8'],
    ['RSA, PKCS #1', rsa, 'pkcs1'],
    ['RSA-PSS', () => generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey, 'pkcs8'],
    ['an elliptic curve, PKCS #8', curve, 'pkcs8'],
    ['an elliptic curve, SEC 1', curve, 'sec1'],
    ['Ed25519', () => generateKeyPairSync('ed25519').privateKey, 'pkcs8'],
  ] as const,
)('%s: read, also behind a certificate and with other line ends', (_name, generate, type) => {
  const key = generate();
  const pem = key.export({ type, format: 'pem' }).toString();
  expect(privateKeyOf(pem)?.equals(key)).toBe(true);
  expect(privateKeyOf(`${covering.certificate}a comment\r\n${pem.replaceAll('\n', '\r\n')}`)?.equals(key)).toBe(true);
});

test('a key whose lengths are written in a longer form than they need is read', () => {
  const key = element(0x30, number(8, 0), element(0x30, Buffer.from('06032b6570', 'hex')), element(0x04, element(0x04, Buffer.alloc(32, 7))));
  expect(privateKeyOf(pemOf(key))?.asymmetricKeyType).toBe('ed25519');
});

test('a key has 4,096 bytes at most', () => {
  const ed25519 = (more: number) =>
    element(0x30, number(8, 0), element(0x30, Buffer.from('06032b6570', 'hex')), element(0x04, element(0x04, Buffer.alloc(32, 7)), Buffer.alloc(more)));
  const rest = 4096 - ed25519(0).length;
  // OpenSSL ignores what follows the key in its element.
  expect([rest, rest + 1].map((more) => privateKeyOf(pemOf(ed25519(more)))?.asymmetricKeyType)).toEqual(['ed25519', undefined]);
});

test.each([
  ['none', covering.certificate],
  ['an encrypted one', rsa().export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString()],
  ['an encrypted one in the old form', rsa().export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString()],
  ['one that ends early', pemOf(Buffer.from('30820100', 'hex'))],
  ['one of another type', generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
  ['one with a length of unknown form', pemOf(Buffer.from('3080020100', 'hex'))],
  ['an RSA key that is too long', rsaOf(8 * 4096)],
])('not read: %s', (_name, pem) => {
  expect(privateKeyOf(pem)).toBeUndefined();
});

test('a DSA key is refused without computing its public part, which takes OpenSSL a second for 16,384 bits', () => {
  const before = process.cpuUsage();
  expect(() => certificatePair(covering.certificate, dsaOf(16_384))).toThrow(new CertificateFault('unusable pair'));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(500);
});

/** A DSA key whose numbers have this many bits. */
function dsaOf(bits: number): string {
  const parameters = element(0x30, number(bits), number(256), number(8));
  return pemOf(element(0x30, number(8, 0), element(0x30, Buffer.from('06072a8648ce380401', 'hex'), parameters), element(0x04, number(bits - 8))));
}

/** An RSA key whose modulus has this many bits. */
function rsaOf(bits: number): string {
  const rsaKey = element(0x30, number(8, 0), number(bits), ...Array.from({ length: 7 }, () => number(16)));
  return pemOf(element(0x30, number(8, 0), element(0x30, Buffer.from('06092a864886f70d0101010500', 'hex')), element(0x04, rsaKey)));
}

/** A positive INTEGER of odd bytes. */
function number(bits: number, byte = 0x7f): Buffer {
  return element(0x02, Buffer.alloc(bits / 8, byte));
}

function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([Buffer.of(tag, 0x84), length, content]);
}

function pemOf(der: Buffer): string {
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
}
