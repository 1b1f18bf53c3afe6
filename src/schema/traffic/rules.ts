import { mayUseClient } from '../../rules/ownership.ts';
import { serverId, type TrafficResource as Resource } from '../../store/hot/traffic.ts';
import { missing } from '../access/records.ts';
import type { Context } from '../context.ts';
import { AditError, invalidInput } from '../errors.ts';
import { idOf } from '../values/ids.ts';

/**
 * Checks whether the caller may see a record's traffic.
 * @returns the record's client
 * @throws {AditError} as {@link missing}
 */
export async function checkTrafficAccess(context: Context, resource: Exclude<Resource, 'user' | 'server'>, id: number): Promise<number> {
  const { caller, loaders } = context;
  const clientId = resource === 'client' ? id : (await (resource === 'tunnel' ? loaders.tunnels : loaders.hosts).load(id))?.clientId;
  const client = clientId === undefined ? undefined : await loaders.clients.load(clientId);
  if (client === undefined || !mayUseClient(caller, client)) throw missing(context, resource);
  return client.id;
}

/** Checks whether the caller may see the traffic of a user's clients. @throws {AditError} FORBIDDEN, NOT_FOUND */
async function checkUserAccess(context: Context, id: number): Promise<void> {
  const { caller, loaders } = context;
  if (caller.kind === 'user' && caller.userId === id) return;
  if (caller.kind !== 'admin') throw new AditError('FORBIDDEN');
  if (await loaders.users.load(id) === undefined) throw new AditError('NOT_FOUND', { resource: 'user' });
}

/**
 * The id of a series, if the caller may see it.
 * @param given required, except for the server
 * @throws {AditError} FORBIDDEN, INVALID_INPUT, NOT_FOUND
 */
export async function checkedId(context: Context, resource: Resource, given: string | null | undefined): Promise<number> {
  if (resource === 'server') {
    if (context.caller.kind !== 'admin') throw new AditError('FORBIDDEN');
    return serverId;
  }
  if (given === null || given === undefined) throw invalidInput('id', 'required for this resource', {});
  const id = idOf('id', given);
  if (resource === 'user') await checkUserAccess(context, id);
  else await checkTrafficAccess(context, resource, id);
  return id;
}
