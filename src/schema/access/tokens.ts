import type { Caller } from '../../rules/caller.ts';
import { isPast } from '../../rules/expiry.ts';
import type { Services } from '../services.ts';
import { mayLogIn } from './active.ts';
import { newSecret, secretDigest } from './secret.ts';
import { failureNote } from '../../store/database-failure.ts';

/** How the tokens of this server begin, so that scanners for leaked secrets can tell. */
const prefix = 'adit_';
/** The use of a token is written down this often at most, in ms. */
const noteMs = 60_000;

/** A new token; only its digest is to be stored. */
export function newToken(): { readonly token: string; readonly hash: string } {
  const token = `${prefix}${newSecret()}`;
  return { token, hash: secretDigest(token) };
}

/** Whose token it is, as things stand now; undefined = nobody's. @param now ms since the epoch */
export async function tokenCaller({ store, log }: Services, token: string, now: number): Promise<Caller | undefined> {
  if (!token.startsWith(prefix)) return undefined;
  const row = await store.db.apiToken.findUnique({ where: { hash: secretDigest(token) }, include: { user: true } });
  if (row === null || isPast(row.expiresAt, now) || (row.user !== null && !mayLogIn(row.user, now))) return undefined;
  if (now - (row.lastUsedAt?.getTime() ?? 0) >= noteMs) {
    // Not awaited: nobody's answer has to wait for it.
    store.transaction((tx) => tx.apiToken.updateMany({ where: { id: row.id }, data: { lastUsedAt: new Date(now) } }))
      .catch((error: unknown) => log.warn(failureNote(error), 'the use of a token could not be noted'));
  }
  const who = row.userId === null ? { kind: 'admin' as const } : { kind: 'user' as const, userId: row.userId };
  return { ...who, by: 'token', readOnly: row.readOnly, withoutSecrets: row.secrets === false, wall: row.wall, tokenId: row.id };
}
