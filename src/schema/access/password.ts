import argon2 from '@node-rs/argon2';
import { AditError } from '../errors.ts';
import { lineLength, textOf } from '../input.ts';

/** The fewest characters of a password (contract D18). */
const fewest = 6;

/** Turns a password into what is stored: argon2id, with the salt and parameters in the text. Takes tens of ms. */
export function hashPassword(password: string): Promise<string> {
  return argon2.hash(password);
}

/** A hash that nothing verifies against, made like the real ones. */
let nobodys: Promise<string> | undefined;

/**
 * Whether a password is the one that was hashed. Without a hash it takes as long and says no, so that the time tells nobody
 * whether there is such an account.
 */
export async function verifyPassword(password: string, passwordHash: string | undefined): Promise<boolean> {
  const known = passwordHash !== undefined && passwordHash.startsWith('$argon2');
  const right = await argon2.verify(known ? passwordHash : await (nobodys ??= argon2.hash(`${Math.random()}`)), password);
  return known && right;
}

/**
 * A new password, fit to be hashed.
 * @throws {AditError} PASSWORD_TOO_SHORT, INVALID_INPUT when it is too long
 */
export function checkedPassword(field: string, password: string): string {
  textOf(field, password, lineLength);
  if (Array.from(password).length < fewest) throw new AditError('PASSWORD_TOO_SHORT', { field });
  return password;
}
