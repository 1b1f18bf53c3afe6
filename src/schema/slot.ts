import { hasRoom } from '../rules/quota.ts';
import type { Transaction } from '../store/transaction.ts';
import { usableClient } from './access.ts';
import type { ClientWithOwner } from './changes.ts';
import type { Context } from './context.ts';
import { AditError } from './errors.ts';

/**
 * Whether a client and its owner may have one more tunnel or host (contract 4.9). The client was read in the transaction that adds it: no
 * other write comes between.
 * @param from the owner whose quota it has a place of already, when it is moved
 * @throws {AditError} CLIENT_TUNNEL_QUOTA, USER_TUNNEL_QUOTA
 */
export function checkSlot({ maxTunnels, tunnelCount, user }: ClientWithOwner, from?: number | null): void {
  if (!hasRoom(maxTunnels, tunnelCount)) throw new AditError('CLIENT_TUNNEL_QUOTA');
  if (user !== null && !hasRoom(user.maxTunnels, user.tunnelCount, user.id === from ? 0 : 1)) throw new AditError('USER_TUNNEL_QUOTA');
}

/** The client that a new tunnel or host is to lead through. @throws {AditError} as {@link usableClient} and {@link checkSlot} */
export async function clientWithRoom(context: Context, tx: Transaction, id: number): Promise<ClientWithOwner> {
  const client = await usableClient(context, tx, id);
  checkSlot(client);
  return client;
}
