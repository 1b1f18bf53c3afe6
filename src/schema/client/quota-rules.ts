import type { Transaction } from '../../store/transaction.ts';
import type { Client, User } from '../../store/generated/sqlite/client.ts';
import { usableClient } from '../access/records.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import type { ClientWithOwner } from '../writes/changes.ts';

/*
 * The quotas: how many clients a user may have, and how many tunnels and hosts a client, or all clients of a user together, may have.
 */

/** Whether a quota has room for `more` records. @param most 0 = unlimited @param present the current number */
function hasRoom(most: number, present: number, more = 1): boolean {
  return most === 0 || present + more <= most;
}

/**
 * Checks that a client and its owner may have one more tunnel or host (contract 4.9). Read the client in the transaction that adds
 * the record, so that no other write intervenes.
 * @param from the current owner of a moved record, whose quota already includes it
 * @throws {AditError} CLIENT_TUNNEL_QUOTA, USER_TUNNEL_QUOTA
 */
export function checkSlot({ maxTunnels, tunnelCount, user }: ClientWithOwner, from?: number | null): void {
  if (!hasRoom(maxTunnels, tunnelCount)) throw new AditError('CLIENT_TUNNEL_QUOTA');
  if (user !== null && !hasRoom(user.maxTunnels, user.tunnelCount, user.id === from ? 0 : 1)) throw new AditError('USER_TUNNEL_QUOTA');
}

/** The client for a new tunnel or host. @throws {AditError} as {@link usableClient} and {@link checkSlot} */
export async function clientWithRoom(context: Context, tx: Transaction, id: number): Promise<ClientWithOwner> {
  const client = await usableClient(context, tx, id);
  checkSlot(client);
  return client;
}

/** Whether an owner may have one more client. @throws {AditError} OWNER_CLIENT_QUOTA */
export function checkClientRoom(owner: User | null): void {
  if (owner !== null && !hasRoom(owner.maxClients, owner.clientCount)) throw new AditError('OWNER_CLIENT_QUOTA', { field: 'ownerId' });
}

/** Whether an owner may have the tunnels and hosts of a client, too. @throws {AditError} USER_TUNNEL_QUOTA */
export function checkTunnelRoom(owner: User | null, { tunnelCount }: Client): void {
  if (owner !== null && !hasRoom(owner.maxTunnels, owner.tunnelCount, tunnelCount)) throw new AditError('USER_TUNNEL_QUOTA', { field: 'ownerId' });
}
