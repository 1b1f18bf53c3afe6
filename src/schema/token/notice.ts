import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';

/** Tokens that one line of the log names. */
const named = 50;

/**
 * Names in the log the tokens that were made before it could be chosen whether they see secrets: they do, until they are made anew.
 * To be called at start.
 */
export async function nameFormerTokens({ db }: Pick<Store, 'db'>, log: Logger): Promise<void> {
  const where = { secrets: null };
  const count = await db.apiToken.count({ where });
  if (count === 0) return;
  const tokens = await db.apiToken.findMany({ where, orderBy: { id: 'asc' }, take: named, select: { id: true, name: true, userId: true, readOnly: true } });
  log.warn({ count, tokens }, 'API tokens from an earlier version still see verification keys, passwords of tunnels and headers of hosts: revoke those that need not, and make them anew');
}
