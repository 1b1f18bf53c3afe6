import { randomBytes } from 'node:crypto';

/** A new verification key: 24 characters a-z, 2-7, 120 random bits (contract 4.9: at least 20 characters). */
export function newVerifyKey(): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  return Array.from(randomBytes(24), (byte) => alphabet[byte & 31]).join('');
}
