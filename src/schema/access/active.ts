import { effectiveExpiry, isPast } from '../../rules/expiry.ts';
import type { User } from '../../store/generated/sqlite/client.ts';
import type { ClientWithOwner } from '../changes.ts';

/** Whether an account may be used now (contract D13). */
export function mayLogIn(user: User): boolean {
  return user.enabled && !isPast(user.expiresAt);
}

/** Whether a client may be used now: it and its owner are enabled, and neither has expired (contract D13). */
export function mayServe(client: ClientWithOwner): boolean {
  return client.enabled && client.user?.enabled !== false && !isPast(effectiveExpiry(client.expiresAt, client.user?.expiresAt));
}
