import { mayUseClient } from '../../rules/ownership.ts';
import type { TrafficResource as Resource } from '../../store/hot/traffic.ts';
import { missing } from '../access/records.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';

/**
 * Checks whether the caller may see a record's traffic.
 * @returns the record's client
 * @throws {AditError} as {@link missing}
 */
export async function checkTrafficAccess(context: Context, resource: Exclude<Resource, 'user'>, id: number): Promise<number> {
  const { caller, loaders } = context;
  const clientId = resource === 'client' ? id : (await (resource === 'tunnel' ? loaders.tunnels : loaders.hosts).load(id))?.clientId;
  const client = clientId === undefined ? undefined : await loaders.clients.load(clientId);
  if (client === undefined || !mayUseClient(caller, client)) throw missing(context, resource);
  return client.id;
}

/** Checks whether the caller may see the traffic of a user's clients. @throws {AditError} FORBIDDEN, NOT_FOUND */
export async function checkUserAccess(context: Context, id: number): Promise<void> {
  const { caller, loaders } = context;
  if (caller.kind === 'user' && caller.userId === id) return;
  if (caller.kind !== 'admin') throw new AditError('FORBIDDEN');
  if (await loaders.users.load(id) === undefined) throw new AditError('NOT_FOUND', { resource: 'user' });
}
