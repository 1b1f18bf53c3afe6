import { hash, randomBytes } from 'node:crypto';

/** A new secret, which is shown once: 256 random bits in 43 characters that need no escaping. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * The stored digest of such a secret. The secret is long and random, so a fast hash is safe, and the time of the index lookup does not
 * reveal how much of a guess was correct.
 */
export function secretDigest(secret: string): string {
  return hash('sha256', secret);
}
