import { effectiveExpiry, isPast } from '../../rules/expiry.ts';
import type { Session, User } from '../../store/generated/sqlite/client.ts';
import type { ClientWithOwner } from '../changes.ts';

/** A session that isn't used for this long is over, in ms (contract section 0: an hour). */
export const idleMs = 3_600_000;
/** And in any case after this long. */
const longestMs = 7 * 24 * 3_600_000;

/** Whether an account may be used (contract D13). @param now ms since the epoch */
export function mayLogIn(user: User, now: number): boolean {
  return user.enabled && !isPast(user.expiresAt, now);
}

/** Whether a client may be used: it and its owner are enabled, and neither has expired (contract D13). @param now ms since the epoch */
export function mayServe(client: ClientWithOwner, now: number): boolean {
  return client.enabled && client.user?.enabled !== false && !isPast(effectiveExpiry(client.expiresAt, client.user?.expiresAt), now);
}

/** Whether a session goes on, by its times. @param now ms since the epoch */
export function isAlive({ createdAt, lastSeenAt }: Pick<Session, 'createdAt' | 'lastSeenAt'>, now: number): boolean {
  return now - lastSeenAt.getTime() < idleMs && now - createdAt.getTime() < longestMs;
}
