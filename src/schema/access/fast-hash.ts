import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/*
 * A hash for passwords of an import, which may be thousands: argon2 would take minutes. The first login replaces it with an argon2 hash. Until then, a copy
 * of the database protects weak passwords less; the other server stored them in clear text.
 */

const prefix = '$sha256$';

/** A salted hash that takes microseconds. */
export function fastHash(password: string, salt: string = randomBytes(16).toString('base64url')): string {
  return `${prefix}${salt}$${hash('sha256', `${salt}${password}`, 'base64url')}`;
}

/** Whether a stored hash is one of {@link fastHash}. */
export function isFastHash(stored: string): boolean {
  return stored.startsWith(prefix);
}

/** Whether a password matches a hash of {@link fastHash}. */
export function verifyFastHash(password: string, stored: string): boolean {
  const [, , salt = ''] = stored.split('$');
  const [one, other] = [Buffer.from(fastHash(password, salt)), Buffer.from(stored)];
  return one.length === other.length && timingSafeEqual(one, other);
}
