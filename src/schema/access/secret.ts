import { createHash, randomBytes } from 'node:crypto';

/** A secret that is shown once: 256 random bits in 43 characters that need no escaping anywhere. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * What is stored of such a secret. It is long and random, so a quick hash is safe, and looking it up in an index tells
 * nobody how much of a guess was right.
 */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
