import argon2 from '@node-rs/argon2';
import { isFastHash, verifyFastHash } from './fast-hash.ts';
import { AditError } from '../errors.ts';
import { lineLength, textOf } from '../values/input.ts';

/** Minimum length of a password (contract D18). */
const fewest = 6;

/** Hashes a password for storage: argon2id; the text contains the salt and parameters. Takes tens of ms. */
export function hashPassword(password: string): Promise<string> {
  return argon2.hash(password);
}

/** A hash that no password matches, with the usual parameters. */
let nobodys: Promise<string> | undefined;

/**
 * Whether a password matches a hash, also one of an import. Without a hash it takes the same time and returns false, so that the time does not reveal
 * whether an account exists.
 */
export async function verifyPassword(password: string, passwordHash: string | undefined): Promise<boolean> {
  const known = passwordHash !== undefined && passwordHash.startsWith('$argon2');
  const imported = passwordHash !== undefined && isFastHash(passwordHash) && verifyFastHash(password, passwordHash);
  const right = await argon2.verify(known ? passwordHash : await (nobodys ??= argon2.hash(`${Math.random()}`)), password);
  return imported || (known && right);
}

/**
 * Validates a new password before it is hashed.
 * @throws {AditError} PASSWORD_TOO_SHORT; INVALID_INPUT if it is too long
 */
export function checkedPassword(field: string, password: string): string {
  textOf(field, password, lineLength);
  if (Array.from(password).length < fewest) throw new AditError('PASSWORD_TOO_SHORT', { field });
  return password;
}
