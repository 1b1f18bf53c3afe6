import { effectiveExpiry, isPast } from '../../rules/expiry.ts';
import type { Prisma, Session, User } from '../../store/generated/sqlite/client.ts';
import type { ClientWithOwner } from '../writes/changes.ts';

/** Idle timeout of a session, in ms (contract section 0: an hour). */
export const idleMs = 3_600_000;
/** Maximum lifetime of a session, in ms. */
const longestMs = 7 * 24 * 3_600_000;

/** Whether an account may be used (contract D13). @param now ms since the epoch */
export function mayLogIn(user: User, now: number): boolean {
  return user.enabled && !isPast(user.expiresAt, now);
}

/** Whether a client may be used: it and its owner are enabled, and neither has expired (contract D13). @param now ms since the epoch */
export function mayServe(client: ClientWithOwner, now: number): boolean {
  return client.enabled && client.user?.enabled !== false && !isPast(effectiveExpiry(client.expiresAt, client.user?.expiresAt), now);
}

/** Whether a session is still valid by its times. @param now ms since the epoch */
export function isAlive({ createdAt, lastSeenAt }: Pick<Session, 'createdAt' | 'lastSeenAt'>, now: number): boolean {
  return now - lastSeenAt.getTime() < idleMs && now - createdAt.getTime() < longestMs;
}

/** The condition that the rows of the sessions of {@link isAlive} meet. @param now ms since the epoch */
export function aliveAt(now: number) {
  return { lastSeenAt: { gt: new Date(now - idleMs) }, createdAt: { gt: new Date(now - longestMs) } } satisfies Prisma.SessionWhereInput;
}
