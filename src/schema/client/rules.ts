import type { Transaction } from '../../store/transaction.ts';
import type { Client, User } from '../../store/generated/sqlite/client.ts';
import { effectiveExpiry, expiresAfterOwner, isPast } from '../../rules/expiry.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { hashPassword } from '../access/password.ts';
import { secretOf } from '../values/input.ts';
import type { Problems } from '../values/problems.ts';
import { uniqueOr } from '../writes/unique.ts';
import { columnsOfClient } from './columns.ts';
import type { ClientValues } from './input.ts';

/** The input fields that users may set for their own clients. */
const ownFields: ReadonlySet<string> = new Set(Object.values(columnsOfClient).flatMap(({ input, ownerSets }) => ownerSets ? [input] : []));

/**
 * The part of an input that an ordinary user, or the web login of a client, may set (contract 2.2).
 * Other fields are ignored.
 */
export function ownSettings(input: ClientValues): ClientValues {
  return Object.fromEntries(Object.entries(input).filter(([field]) => ownFields.has(field)));
}

/** Runs a write that may violate the unique index of verification keys. @throws {AditError} VKEY_DUPLICATE */
export function uniqueVkey<T>(write: () => Promise<T>): Promise<T> {
  return uniqueOr(new AditError('VKEY_DUPLICATE', { field: 'verifyKey' }), write);
}

/** The new owner of a client; null = none. @throws {AditError} OWNER_NOT_FOUND */
export async function ownerById(tx: Transaction, ownerId: number | null): Promise<User | null> {
  if (ownerId === null) return null;
  const owner = await tx.user.findUnique({ where: { id: ownerId } });
  if (owner === null) throw new AditError('OWNER_NOT_FOUND', { field: 'ownerId' });
  return owner;
}

/** Whether the time of a client, or of its owner, has passed. @param own the client's own expiry */
export function hasExpired(context: Context, own: Date | null, owner: User | null): boolean {
  return isPast(effectiveExpiry(own, owner?.expiresAt), context.now());
}

type Credentials = WebLogin & Pick<Client, 'vkey'>;

/** Whether the credentials of a client change. */
export function hasOtherCredentials(before: Credentials, after: Credentials): boolean {
  return before.webUsername !== after.webUsername || before.webPasswordHash !== after.webPasswordHash || before.vkey !== after.vkey;
}

/** Checks that a client expires no later than its owner. @throws {AditError} CLIENT_EXPIRES_AFTER_OWNER */
export function checkExpiry(own: Date | null, owner: User | null): void {
  if (expiresAfterOwner(own, owner?.expiresAt ?? null)) throw new AditError('CLIENT_EXPIRES_AFTER_OWNER', { field: 'expiresAt' });
}

/** The columns of a client's web login. */
export type WebLogin = Pick<Client, 'webUsername' | 'webPasswordHash'>;

/** A client without a web login. */
export const noWebLogin: WebLogin = { webUsername: '', webPasswordHash: '' };

/**
 * Prepares the change of a web login. Hashing takes time, so it is done before anything is read or locked.
 * @param problems collects errors
 * @returns a function that computes the new login from the current one (contract 2.2: a blank half is kept, null removes both);
 *   it throws AditError WEB_LOGIN_INCOMPLETE if only one half would be set
 */
export async function nextWebLogin(problems: Problems, input: ClientValues): Promise<(present: WebLogin) => WebLogin> {
  const username = problems.check(() => secretOf('webUsername', input.webUsername));
  const password = problems.check(() => secretOf('webPassword', input.webPassword));
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  return (present) => {
    const kept = input.clearWebLogin === true ? noWebLogin : present;
    const next = { webUsername: username ?? kept.webUsername, webPasswordHash: passwordHash ?? kept.webPasswordHash };
    if ((next.webUsername === '') !== (next.webPasswordHash === '')) {
      throw new AditError('WEB_LOGIN_INCOMPLETE', { field: next.webUsername === '' ? 'webUsername' : 'webPassword' });
    }
    return next;
  };
}
