import type { User } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import type { Transaction } from '../../store/transaction.ts';
import { verifyPassword } from '../access/password.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { uniqueOr } from '../writes/unique.ts';

/** @throws {AditError} NOT_FOUND */
export async function userById(tx: Reading, id: number): Promise<User> {
  const user = await tx.user.findUnique({ where: { id } });
  if (user === null) throw new AditError('NOT_FOUND', { resource: 'user' });
  return user;
}

/** Updates the column `expired` of the user's clients from the expiry of the client and the user. */
export async function expireClientsWith(tx: Transaction, userId: number, ownerExpired: boolean, now: number): Promise<void> {
  await tx.client.updateMany({ where: { userId }, data: { expired: ownerExpired } });
  if (!ownerExpired) await tx.client.updateMany({ where: { userId, expiresAt: { lte: new Date(now) } }, data: { expired: true } });
}

/** The clients whose state in the engine depends on the user. */
export function clientsOf(tx: Transaction, userId: number) {
  return tx.client.findMany({ where: { userId }, include: { user: true } });
}

/**
 * Checks whether a user may have this limit of clients. Only checked when the limit changes, so that a user with more clients can still be edited.
 * @throws {AditError} USER_CLIENTS_ABOVE_QUOTA
 */
export function checkClientQuota({ maxClients, clientCount }: User, next: number | undefined): void {
  if (next !== undefined && next !== maxClients && next > 0 && next < clientCount) throw new AditError('USER_CLIENTS_ABOVE_QUOTA', { field: 'maxClients' });
}

/** Checks that no client of the user expires later than the user. @throws {AditError} USER_EXPIRES_BEFORE_CLIENT */
export async function checkExpiry(tx: Transaction, userId: number, expiresAt: Date | null): Promise<void> {
  if (expiresAt === null) return;
  const client = await tx.client.findFirst({ where: { userId, expiresAt: { gt: expiresAt } }, orderBy: { id: 'asc' }, select: { id: true } });
  if (client !== null) throw new AditError('USER_EXPIRES_BEFORE_CLIENT', { id: client.id, field: 'expiresAt' });
}

/** Runs a write that may violate the unique index of user names. @throws {AditError} USERNAME_DUPLICATE */
export function uniqueName<T>(write: () => Promise<T>): Promise<T> {
  return uniqueOr(new AditError('USERNAME_DUPLICATE', { field: 'username' }), write);
}

/**
 * The user whose password a caller may change: administrators may change any password, users their own.
 * @throws {AditError} NOT_FOUND, NOT_OWN_USER, LEGACY_CLIENT_LOGIN, UNAUTHENTICATED
 */
export function userOfPassword({ caller }: Context, id: number | undefined): number {
  switch (caller.kind) {
    case 'admin':
      if (id === undefined) throw new AditError('NOT_FOUND', { resource: 'user' });
      return id;
    case 'user':
      if (id !== undefined && id !== caller.userId) throw new AditError('NOT_OWN_USER');
      return caller.userId;
    case 'client':
      throw new AditError('LEGACY_CLIENT_LOGIN');
    case 'anonymous':
      throw new AditError('UNAUTHENTICATED');
  }
}

/**
 * Checks the caller's current password. Guessing it in a session that was left open is throttled like logins.
 * @throws {AditError} CURRENT_PASSWORD_WRONG
 */
export async function checkCurrentPassword(context: Context, id: number, password: string, present: string): Promise<void> {
  const { caller, attempts } = context;
  const attempt = attempts.begin('password', caller.address ?? '', `user ${id}`, context.now());
  if (attempt.wait > 0) throw new AditError('CURRENT_PASSWORD_WRONG', { field: 'currentPassword' });
  if (!await verifyPassword(password, present)) {
    attempt.failed();
    throw new AditError('CURRENT_PASSWORD_WRONG', { field: 'currentPassword' });
  }
  attempt.succeeded();
}
