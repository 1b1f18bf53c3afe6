import { hash, randomBytes } from 'node:crypto';

/** A new verification key: 24 characters a-z, 2-7, 120 random bits (contract 4.9: at least 20 characters). */
export function newVerifyKey(): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  return Array.from(randomBytes(24), (byte) => alphabet[byte & 31]).join('');
}

/** The digest of a verification key with which a visitor names the client when it submits a password (contract 3.2): MD5, 32 lower-case hex digits. */
export function visitorKeyOf(vkey: string): string {
  return hash('md5', vkey);
}
