import { mayUseClient } from '../../rules/ownership.ts';
import type { Client, Host, Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import type { ClientWithOwner } from '../writes/changes.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';

/*
 * Which records a caller may see and change, for every resource:
 *
 * - one record, read:    mayUseClient(caller, client) of the record's client, else null
 * - one record, changed: usableClient, usableTunnel, usableHost
 * - a list:              store.tunnelPage({ ...await listScope(context, clientId), ... })
 * - who may call at all: authScopes of the root field (builder.ts)
 */

/** The error for a record that doesn't exist or isn't the caller's (contract D5, D25). Only administrators learn which. */
export function missing({ caller }: Context, resource: 'client' | 'tunnel' | 'host'): AditError {
  return caller.kind === 'admin' ? new AditError('NOT_FOUND', { resource }) : new AditError('FORBIDDEN');
}

/**
 * Restricts a list to the records that the caller may see; applied before rows are counted (contract 2.1).
 * @param clientId the client that the caller filters by, if any
 * @throws {AditError} FORBIDDEN if that client isn't the caller's
 */
export async function listScope(context: Context, clientId?: number | null): Promise<{ ownerId?: number; clientId?: number }> {
  const { caller } = context;
  if (clientId !== undefined && clientId !== null && caller.kind !== 'admin') {
    const client = await context.loaders.clients.load(clientId);
    if (client === undefined || !mayUseClient(caller, client)) throw new AditError('FORBIDDEN');
  }
  const wanted = clientId ?? undefined;
  switch (caller.kind) {
    case 'admin':
      return { clientId: wanted };
    // Includes the owner, so that a client that is moved concurrently is not shown.
    case 'user':
      return { clientId: wanted, ownerId: caller.userId };
    case 'client':
      return { clientId: caller.clientId };
    case 'anonymous':
      throw new AditError('UNAUTHENTICATED');
  }
}

/**
 * The client with its owner, for a change.
 * @throws {AditError} as {@link missing}
 */
export async function usableClient(context: Context, tx: Reading, id: number): Promise<ClientWithOwner> {
  const row = await tx.client.findUnique({ where: { id } });
  if (row === null || !mayUseClient(context.caller, row)) throw missing(context, 'client');
  // Otherwise Prisma would run a query for the owner even if there is none.
  return { ...row, user: row.userId === null ? null : await tx.user.findUniqueOrThrow({ where: { id: row.userId } }) };
}

/**
 * The tunnel with its client, for a change.
 * @throws {AditError} as {@link missing}
 */
export async function usableTunnel(context: Context, tx: Reading, id: number): Promise<Tunnel & { client: Client }> {
  const row = await tx.tunnel.findUnique({ where: { id }, include: { client: true } });
  if (row === null || !mayUseClient(context.caller, row.client)) throw missing(context, 'tunnel');
  return row;
}

/**
 * The host with its client, for a change.
 * @throws {AditError} as {@link missing}
 */
export async function usableHost(context: Context, tx: Reading, id: number): Promise<Host & { client: Client }> {
  const row = await tx.host.findUnique({ where: { id }, include: { client: true } });
  if (row === null || !mayUseClient(context.caller, row.client)) throw missing(context, 'host');
  return row;
}
