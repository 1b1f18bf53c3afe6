import { isPast } from '../../rules/expiry.ts';
import { revokeTokensOf } from '../token/revoke-all.ts';
import type { User } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import type { Transaction } from '../../store/transaction.ts';
import { hashPassword } from '../access/password.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { Problems } from '../problems.ts';
import { uniqueOr } from '../unique.ts';
import { newPassword, userColumns, type UserValues } from './input.ts';

/** /user/add/ (contract 2.3). */
export async function createUser(context: Context, input: UserValues): Promise<User> {
  const problems = new Problems();
  const { username, ...columns } = userColumns(problems, input, context.settings);
  if (username === undefined) problems.note(new AditError('USERNAME_EMPTY', { field: 'username' }));
  const password = problems.check(() => newPassword(input));
  if (password === undefined) problems.note(new AditError('PASSWORD_EMPTY', { field: 'password' }));
  const named = { ...columns, username: problems.required(username), expired: isPast(columns.expiresAt ?? null, context.now()) };
  const passwordHash = await hashPassword(problems.required(password));
  return problems.during(() => context.write(async (tx, changed) => {
    const after = await uniqueName(() => tx.user.create({ data: { ...named, passwordHash } }));
    changed({ resource: 'user', action: 'create', after, clients: [] });
    return after;
  }));
}

/** /user/edit/ (contract 2.3, D23). */
export async function updateUser(context: Context, id: number, input: UserValues): Promise<User> {
  const problems = new Problems();
  const columns = userColumns(problems, input, context.settings);
  const password = problems.check(() => newPassword(input));
  if (input.password?.trim() === '') problems.note(new AditError('PASSWORD_EMPTY', { field: 'password' }));
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  return problems.during(() => context.write(async (tx, changed) => {
    const before = await userById(tx, id);
    problems.check(() => checkClientQuota(before, columns.maxClients));
    const expiryMoves = columns.expiresAt !== undefined && columns.expiresAt?.getTime() !== before.expiresAt?.getTime();
    if (expiryMoves) await problems.later(() => checkExpiry(tx, id, columns.expiresAt ?? null));
    problems.end();
    const expired = expiryMoves ? isPast(columns.expiresAt ?? null, context.now()) : undefined;
    const after = await uniqueName(() => tx.user.update({ where: { id }, data: { ...columns, passwordHash, expired } }));
    if (expired !== undefined) await expireClientsWith(tx, id, expired, context.now());
    if (passwordHash !== undefined) {
      await tx.session.deleteMany({ where: { userId: id } });
      await revokeTokensOf(tx, id, changed);
    }
    changed({ resource: 'user', action: 'update', before, after, clients: expiryMoves ? await clientsOf(tx, id) : [] });
    return after;
  }));
}

/** /user/changestatus/ (contract 2.3): the agents of a disabled user's clients are cut off. Nothing is deleted (contract D13). */
export function setUserEnabled(context: Context, id: number, enabled: boolean): Promise<User> {
  return context.write(async (tx, changed) => {
    const before = await userById(tx, id);
    const after = await tx.user.update({ where: { id }, data: { enabled } });
    if (!enabled) await tx.session.deleteMany({ where: { userId: id } });
    changed({ resource: 'user', action: 'update', before, after, clients: await clientsOf(tx, id) });
    return after;
  });
}

/** /user/del/ (contract 2.3): the clients stay, disabled and nobody's, until an administrator takes care of them. */
export function deleteUser(context: Context, id: number): Promise<number> {
  return context.write(async (tx, changed) => {
    const before = await userById(tx, id);
    const ids = (await tx.client.findMany({ where: { userId: id }, select: { id: true } })).map((client) => client.id);
    await expireClientsWith(tx, id, false, context.now());
    await tx.client.updateMany({ where: { userId: id }, data: { enabled: false, disabledByAdmin: true } });
    await tx.user.delete({ where: { id } });
    changed({ resource: 'user', action: 'delete', before, clients: await tx.client.findMany({ where: { id: { in: ids } }, include: { user: true } }) });
    return id;
  });
}

/** @throws {AditError} NOT_FOUND */
export async function userById(tx: Reading, id: number): Promise<User> {
  const user = await tx.user.findUnique({ where: { id } });
  if (user === null) throw new AditError('NOT_FOUND', { resource: 'user' });
  return user;
}

/** Brings the clients' `expired` in line with their owner's and their own time. */
async function expireClientsWith(tx: Transaction, userId: number, ownerExpired: boolean, now: number): Promise<void> {
  await tx.client.updateMany({ where: { userId }, data: { expired: ownerExpired } });
  if (!ownerExpired) await tx.client.updateMany({ where: { userId, expiresAt: { lte: new Date(now) } }, data: { expired: true } });
}

/** Whose state for the engine goes with the user's. */
function clientsOf(tx: Transaction, userId: number) {
  return tx.client.findMany({ where: { userId }, include: { user: true } });
}

/** The limit counts only when it moves: what an earlier, larger one allowed stays editable otherwise. */
function checkClientQuota({ maxClients, clientCount }: User, next: number | undefined): void {
  if (next !== undefined && next !== maxClients && next > 0 && next < clientCount) throw new AditError('USER_CLIENTS_ABOVE_QUOTA', { field: 'maxClients' });
}

async function checkExpiry(tx: Transaction, userId: number, expiresAt: Date | null): Promise<void> {
  if (expiresAt === null) return;
  const client = await tx.client.findFirst({ where: { userId, expiresAt: { gt: expiresAt } }, orderBy: { id: 'asc' }, select: { id: true } });
  if (client !== null) throw new AditError('USER_EXPIRES_BEFORE_CLIENT', { id: client.id, field: 'expiresAt' });
}

function uniqueName<T>(write: () => Promise<T>): Promise<T> {
  return uniqueOr(new AditError('USERNAME_DUPLICATE', { field: 'username' }), write);
}
