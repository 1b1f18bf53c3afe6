import { createHash, randomBytes } from 'node:crypto';

/** A new secret, to be shown once: 256 random bits in 43 characters that need no escaping. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * The stored digest of such a secret. The secret is long and random, so a fast hash is safe, and looking it up in an index reveals
 * nothing about how much of a guess was right.
 */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
