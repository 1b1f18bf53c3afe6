import { isPast } from '../../rules/expiry.ts';
import type { User } from '../../store/generated/sqlite/client.ts';
import { revokeTokensOf } from '../token/write.ts';
import { hashPassword, checkedPassword } from '../access/password.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { Problems } from '../values/problems.ts';
import { type Basis, checkVersion, versionOf } from '../values/version.ts';
import { columnsOfUser } from './columns.ts';
import { newPassword, userColumns, type UserValues } from './input.ts';
import { checkClientQuota, checkExpiry, clientsOf, expireClientsWith, uniqueName, userById, checkCurrentPassword, userOfPassword } from './rules.ts';

/** /user/add/ (contract 2.3). */
export async function createUser(context: Context, problems: Problems, input: UserValues): Promise<User> {
  const { username, ...columns } = userColumns(problems, input, context.settings);
  if (username === undefined) problems.note(new AditError('USERNAME_EMPTY', { field: 'username' }));
  const password = problems.check(() => newPassword(input));
  if (password === undefined) problems.note(new AditError('PASSWORD_EMPTY', { field: 'password' }));
  const named = { ...columns, username: problems.required(username), expired: isPast(columns.expiresAt ?? null, context.now()) };
  const passwordHash = await hashPassword(problems.required(password));
  return problems.during(() =>
    context.write(async (tx, changed) => {
      const after = await uniqueName(() => tx.user.create({ data: { ...named, passwordHash } }));
      changed({ resource: 'user', action: 'create', after, clients: [] });
      return after;
    })
  );
}

/** /user/edit/ (contract 2.3, D23). */
export async function updateUser(context: Context, problems: Problems, id: number, input: UserValues, { expected }: Basis = {}): Promise<User> {
  const columns = userColumns(problems, input, context.settings);
  const password = problems.check(() => newPassword(input));
  if (input.password?.trim() === '') problems.note(new AditError('PASSWORD_EMPTY', { field: 'password' }));
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  return problems.during(() =>
    context.write(async (tx, changed) => {
      const before = await userById(tx, id);
      checkVersion('user', versionOf(context, columnsOfUser, before), expected);
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
    })
  );
}

/** /user/changestatus/ (contract 2.3): the agents of a disabled user's clients are disconnected. Nothing is deleted (contract D13). */
export function setUserEnabled(context: Context, id: number, enabled: boolean): Promise<User> {
  return context.write(async (tx, changed) => {
    const before = await userById(tx, id);
    const after = await tx.user.update({ where: { id }, data: { enabled } });
    if (!enabled) await tx.session.deleteMany({ where: { userId: id } });
    changed({ resource: 'user', action: 'update', before, after, clients: await clientsOf(tx, id) });
    return after;
  });
}

/** /user/del/ (contract 2.3): the clients stay, disabled and without an owner, until an administrator assigns them. */
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

/** The arguments of a password change; null is the same as absent. */
export interface PasswordChange {
  readonly id?: number | null;
  readonly currentPassword?: string | null;
  readonly newPassword: string;
  readonly confirmation?: string | null;
  /** Also revoke the user's tokens; a reset by an administrator always does so. */
  readonly revokeTokens?: boolean | null;
}

/**
 * /user/changepassword/ (contract 2.3): administrators set any password; users set their own and must give the current one. All
 * other sessions of the user end, and after a reset by an administrator the user's tokens, too.
 */
export async function changePassword(context: Context, change: PasswordChange): Promise<User> {
  const id = userOfPassword(context, change.id ?? undefined);
  const { newPassword, confirmation } = change;
  const { passwordHash: present } = await userById(context.store.db, id);
  const problems = new Problems('');
  if (newPassword.trim() === '') problems.note(new AditError('NEW_PASSWORD_EMPTY', { field: 'newPassword' }));
  problems.check(() => checkedPassword('newPassword', newPassword));
  if (confirmation !== null && confirmation !== undefined && confirmation !== newPassword) {
    problems.note(new AditError('PASSWORD_MISMATCH', { field: 'confirmation' }));
  }
  // Reports other errors first, since each guess of the current password counts.
  problems.end();
  if (context.caller.kind !== 'admin') await checkCurrentPassword(context, id, change.currentPassword ?? '', present);
  const passwordHash = await hashPassword(newPassword);
  return context.write(async (tx, changed) => {
    const before = await userById(tx, id);
    // The password that was verified has been changed in the meantime.
    if (context.caller.kind !== 'admin' && before.passwordHash !== present) throw new AditError('CURRENT_PASSWORD_WRONG', { field: 'currentPassword' });
    await tx.session.deleteMany({ where: { userId: id, id: { not: context.caller.sessionId ?? '' } } });
    if (context.caller.kind === 'admin' || change.revokeTokens === true) await revokeTokensOf(tx, id, changed);
    const after = await tx.user.update({ where: { id }, data: { passwordHash } });
    changed({ resource: 'user', action: 'update', before, after, clients: [] });
    return after;
  });
}
