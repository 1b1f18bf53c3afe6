import { isAlive, mayLogIn, mayServe } from '../access/active.ts';
import type { Caller } from '../../rules/caller.ts';
import { isPast } from '../../rules/expiry.ts';
import type { Store } from '../../store/store.ts';

/**
 * Checks which subscribers may still receive events: the account exists, is enabled and has not
 * expired, and the session or token is still valid. Needs a few statements for any number of callers.
 * @param now ms since the epoch
 */
export async function validCallers({ db }: Store, callers: readonly Caller[], now: number): Promise<(caller: Caller) => boolean> {
  const idsOf = <T>(ids: readonly (T | undefined)[]): T[] => [...new Set(ids.filter((id) => id !== undefined))];
  const userIds = idsOf(callers.map((caller) => caller.kind === 'user' ? caller.userId : undefined));
  const clientIds = idsOf(callers.map((caller) => caller.kind === 'client' ? caller.clientId : undefined));
  const sessionIds = idsOf(callers.map(({ sessionId }) => sessionId));
  const tokenIds = idsOf(callers.map(({ tokenId }) => tokenId));
  const [users, clients, sessions, tokens] = await Promise.all([
    userIds.length === 0 ? [] : db.user.findMany({ where: { id: { in: userIds } } }),
    clientIds.length === 0 ? [] : db.client.findMany({ where: { id: { in: clientIds } }, include: { user: true } }),
    sessionIds.length === 0 ? [] : db.session.findMany({ where: { id: { in: sessionIds } }, select: { id: true, createdAt: true, lastSeenAt: true } }),
    tokenIds.length === 0 ? [] : db.apiToken.findMany({ where: { id: { in: tokenIds } }, select: { id: true, expiresAt: true } }),
  ]);
  const liveUsers = new Set(users.filter((user) => mayLogIn(user, now)).map(({ id }) => id));
  const liveClients = new Set(clients.filter((client) => mayServe(client, now)).map(({ id }) => id));
  const liveSessions = new Set(sessions.filter((session) => isAlive(session, now)).map(({ id }) => id));
  const liveTokens = new Set(tokens.filter(({ expiresAt }) => !isPast(expiresAt, now)).map(({ id }) => id));
  return (caller) => {
    if (caller.sessionId !== undefined && !liveSessions.has(caller.sessionId)) return false;
    if (caller.tokenId !== undefined && !liveTokens.has(caller.tokenId)) return false;
    switch (caller.kind) {
      case 'admin':
        return true;
      case 'user':
        return liveUsers.has(caller.userId);
      case 'client':
        return liveClients.has(caller.clientId);
      case 'anonymous':
        return false;
    }
  };
}
