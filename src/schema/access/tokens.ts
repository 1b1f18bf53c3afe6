import type { Logger } from 'pino';
import type { Caller } from '../../rules/caller.ts';
import { isPast } from '../../rules/expiry.ts';
import { failureNote } from '../../store/database-failure.ts';
import type { Store } from '../../store/store.ts';
import type { Services } from '../services.ts';
import { mayLogIn } from './active.ts';
import { newSecret, secretDigest } from './secret.ts';

/** Prefix of all tokens, by which scanners for leaked secrets recognize them. */
const prefix = 'adit_';
/** Minimum interval between updates of a token's last use, in ms. */
const noteMs = 60_000;

/** Creates a token; only its digest is stored. */
export function newToken(): { readonly token: string; readonly hash: string } {
  const token = `${prefix}${newSecret()}`;
  return { token, hash: secretDigest(token) };
}

/** The account of a token; undefined = not valid. @param now ms since the epoch */
export async function tokenCaller({ store, log }: Services, token: string, now: number): Promise<Caller | undefined> {
  if (!token.startsWith(prefix)) return undefined;
  const row = await store.db.apiToken.findUnique({ where: { hash: secretDigest(token) }, include: { user: true } });
  if (row === null || isPast(row.expiresAt, now) || (row.user !== null && !mayLogIn(row.user, now))) return undefined;
  if (now - (row.lastUsedAt?.getTime() ?? 0) >= noteMs) {
    // Not awaited: it must not delay the response.
    store.transaction((tx) => tx.apiToken.updateMany({ where: { id: row.id }, data: { lastUsedAt: new Date(now) } }))
      .catch((error: unknown) => log.warn(failureNote(error), 'the time when a token was last used could not be stored'));
  }
  const who = row.userId === null ? { kind: 'admin' as const } : { kind: 'user' as const, userId: row.userId };
  return { ...who, by: 'token', readOnly: row.readOnly, withoutSecrets: row.secrets === false, wall: row.wall, tokenId: row.id, tokenName: row.name };
}

/** Maximum number of tokens that one log line names. */
const named = 50;

/**
 * Logs the names of tokens that were created before the argument `secrets` existed: they can read secrets until they are replaced.
 * Called at start.
 */
export async function nameFormerTokens({ db }: Pick<Store, 'db'>, log: Logger): Promise<void> {
  const where = { secrets: null };
  const count = await db.apiToken.count({ where });
  if (count === 0) return;
  const tokens = await db.apiToken.findMany({ where, orderBy: { id: 'asc' }, take: named, select: { id: true, name: true, userId: true, readOnly: true } });
  log.warn(
    { count, tokens },
    'API tokens from an earlier version still see verification keys, passwords of tunnels and headers of hosts: revoke or replace those that need not',
  );
}
