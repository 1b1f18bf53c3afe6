import type { User } from '../../store/generated/sqlite/client.ts';
import { checkedPassword, hashPassword, verifyPassword } from '../access/password.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { Problems } from '../problems.ts';
import { revokeTokensOf } from '../token/revoke-all.ts';
import { userById } from './write.ts';

/** What a change of password is asked with; null is the same as absent. */
export interface PasswordChange {
  readonly id?: number | null;
  readonly currentPassword?: string | null;
  readonly newPassword: string;
  readonly confirmation?: string | null;
  /** Ends the user's tokens, too; an administrator's reset does so in any case. */
  readonly revokeTokens?: boolean | null;
}

/**
 * /user/changepassword/ (contract 2.3): an administrator sets anybody's, an ordinary user their own and has to know the present one. All
 * of the user's other sessions end, and with an administrator's reset the user's tokens, too.
 */
export async function changePassword(context: Context, change: PasswordChange): Promise<User> {
  const id = whose(context, change.id ?? undefined);
  const { newPassword, confirmation } = change;
  const { passwordHash: present } = await userById(context.store.db, id);
  const problems = new Problems('');
  if (newPassword.trim() === '') problems.note(new AditError('NEW_PASSWORD_EMPTY', { field: 'newPassword' }));
  problems.check(() => checkedPassword('newPassword', newPassword));
  if (confirmation !== null && confirmation !== undefined && confirmation !== '' && confirmation !== newPassword) problems.note(new AditError('PASSWORD_MISMATCH', { field: 'confirmation' }));
  // A guess at the present one costs the caller one of few.
  problems.end();
  if (context.caller.kind !== 'admin') await checkCurrent(context, id, change.currentPassword ?? '', present);
  const passwordHash = await hashPassword(newPassword);
  return context.write(async (tx, changed) => {
    const before = await userById(tx, id);
    // The one that was proven is another by now.
    if (context.caller.kind !== 'admin' && before.passwordHash !== present) throw new AditError('CURRENT_PASSWORD_WRONG', { field: 'currentPassword' });
    await tx.session.deleteMany({ where: { userId: id, id: { not: context.caller.sessionId ?? '' } } });
    if (context.caller.kind === 'admin' || change.revokeTokens === true) await revokeTokensOf(tx, id, changed);
    const after = await tx.user.update({ where: { id }, data: { passwordHash } });
    changed({ resource: 'user', action: 'update', before, after, clients: [] });
    return after;
  });
}

function whose({ caller }: Context, id: number | undefined): number {
  switch (caller.kind) {
    case 'admin':
      if (id === undefined) throw new AditError('NOT_FOUND', { resource: 'user' });
      return id;
    case 'user':
      if (id !== undefined && id !== caller.userId) throw new AditError('NOT_OWN_USER');
      return caller.userId;
    case 'client': throw new AditError('LEGACY_CLIENT_LOGIN');
    case 'anonymous': throw new AditError('UNAUTHENTICATED');
  }
}

/** Guessing it through a session that was left open is slowed like the login. */
async function checkCurrent(context: Context, id: number, password: string, present: string): Promise<void> {
  const { caller, attempts } = context;
  const attempt = attempts.begin('password', caller.address ?? '', `user ${id}`, context.now());
  if (attempt.wait > 0) throw new AditError('CURRENT_PASSWORD_WRONG', { field: 'currentPassword' });
  if (!await verifyPassword(password, present)) {
    attempt.failed();
    throw new AditError('CURRENT_PASSWORD_WRONG', { field: 'currentPassword' });
  }
  attempt.succeeded();
}
