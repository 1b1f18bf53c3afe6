import type { ApiToken } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { newToken } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import type { Problems } from '../values/problems.ts';
import { userById } from '../user/rules.ts';
import type { MadeChange } from '../writes/changes.ts';

/** Maximum number of tokens of one user, and of the administrators. */
const most = 100;

/** A new token; it can't be read later. */
export interface CreatedApiToken {
  readonly token: string;
  readonly apiToken: ApiToken;
}

/** The properties of a new token. `userId` null = an administrator's. */
export type TokenPlan = Pick<ApiToken, 'name' | 'readOnly' | 'secrets' | 'wall' | 'expiresAt' | 'userId' | 'legacy'>;

/** The user whose tokens a call concerns; null = the administrators. @throws {AditError} FORBIDDEN for a user other than the caller */
export function tokenOwner({ caller }: Context, userId: number | null | undefined): number | null {
  if (caller.kind === 'admin') return userId ?? null;
  if (caller.kind !== 'user' || (userId !== null && userId !== undefined && userId !== caller.userId)) throw new AditError('FORBIDDEN');
  return caller.userId;
}

/** Creates a token. A `legacy` one replaces the user's previous one. @param problems the problems found so far @throws {AditError} */
export async function createToken(context: Context, problems: Problems, plan: TokenPlan): Promise<CreatedApiToken> {
  // Otherwise, a leaked token could be used to create one that stays valid longer.
  if (context.caller.by === 'token') throw new AditError('FORBIDDEN');
  const { token, hash } = newToken();
  return context.write(async (tx, changed) => {
    const { userId } = plan;
    if (userId !== null) await problems.later(() => userById(tx, userId), 'userId');
    problems.end();
    const former = { userId: plan.userId, legacy: true };
    const replaced = plan.legacy ? await tx.apiToken.findMany({ where: former }) : [];
    if (plan.legacy) await tx.apiToken.deleteMany({ where: former });
    if (await tx.apiToken.count({ where: { userId: plan.userId } }) >= most) throw new AditError('TOKEN_LIMIT', { most });
    const apiToken = await tx.apiToken.create({ data: { ...plan, hash } });
    for (const before of replaced) changed({ resource: 'apiToken', action: 'delete', before });
    changed({ resource: 'apiToken', action: 'create', after: apiToken });
    return { token, apiToken };
  });
}

/** Revokes a token. @throws {AditError} NOT_FOUND, also for another user's token */
export function revokeToken(context: Context, id: number): Promise<number> {
  return remove(context, async (tx) => {
    const before = await tx.apiToken.findUnique({ where: { id } });
    if (before === null || (context.caller.kind !== 'admin' && !(context.caller.kind === 'user' && before.userId === context.caller.userId))) {
      throw new AditError('NOT_FOUND', { resource: 'token' });
    }
    return before;
  });
}

/** Revokes the token that the legacy API created. @throws {AditError} NOT_FOUND if there is none */
export function revokeLegacyToken(context: Context, userId: number | null): Promise<number> {
  return remove(context, async (tx) => {
    const before = await tx.apiToken.findFirst({ where: { userId, legacy: true } });
    if (before === null && userId !== null) await userById(tx, userId);
    if (before === null) throw new AditError('NOT_FOUND', { resource: 'token' });
    return before;
  });
}

function remove(context: Context, find: (tx: Transaction) => Promise<ApiToken>): Promise<number> {
  return context.write(async (tx, changed) => {
    const before = await find(tx);
    await tx.apiToken.delete({ where: { id: before.id } });
    changed({ resource: 'apiToken', action: 'delete', before });
    return before.id;
  });
}

/** Revokes all tokens of a user: an attacker who knew the old password may have created some. */
export async function revokeTokensOf(tx: Transaction, userId: number, changed: (change: MadeChange) => void): Promise<void> {
  const tokens = await tx.apiToken.findMany({ where: { userId }, orderBy: { id: 'asc' } });
  if (tokens.length === 0) return;
  await tx.apiToken.deleteMany({ where: { userId } });
  for (const before of tokens) changed({ resource: 'apiToken', action: 'delete', before });
}
