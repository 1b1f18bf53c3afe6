import { mayUseClient } from '../../rules/ownership.ts';
import type { TrafficSample as SampleRow } from '../../store/generated/sqlite/client.ts';
import { stretchAt, trafficSteps, type TrafficResource as Resource } from '../../store/hot/traffic.ts';
import { missing } from '../access.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { AditError, invalidInput } from '../errors.ts';
import { idOf } from '../ids.ts';

/** The most stretches of one answer. */
const mostSamples = 2000;

/** What bytes are counted for. */
export const TrafficResource = builder.enumType('TrafficResource', {
  description: 'What bytes are counted for.',
  values: {
    CLIENT: { value: 'client', description: 'A client: its tunnels and hosts together.' },
    TUNNEL: { value: 'tunnel', description: 'A tunnel.' },
    HOST: { value: 'host', description: 'A host.' },
    USER: { value: 'user', description: 'A user: the clients that were theirs at that time.' },
  } as const,
});

const TrafficStep = builder.enumType('TrafficStep', {
  description: 'How long each stretch of a series is.',
  values: {
    MINUTE: { value: 'minute', description: 'A minute; kept for days.' },
    HOUR: { value: 'hour', description: 'An hour; kept for weeks.' },
    DAY: { value: 'day', description: 'A day in UTC; kept for years.' },
  } as const,
});

const TrafficSample = builder.objectRef<SampleRow>('TrafficSample').implement({
  description: 'The bytes of one stretch of time.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'When the stretch begins.', resolve: ({ at }) => new Date(at * 60_000) }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors.' }),
  }),
});

builder.queryField('traffic', (t) => t.field({
  type: [TrafficSample],
  extensions: { items: mostSamples },
  authScopes: { clientLogin: true },
  description: 'The traffic of a record over time, the oldest stretch first. Stretches without traffic are left out; the newest is at most 5 s behind.',
  args: {
    resource: t.arg({ type: TrafficResource, required: true, description: 'What kind of record.' }),
    id: t.arg.id({ required: true, description: 'Its id.' }),
    step: t.arg({ type: TrafficStep, required: true, description: 'How long each stretch is.' }),
    from: t.arg({ type: 'DateTime', required: true, description: 'The stretch of this moment is the first.' }),
    to: t.arg({ type: 'DateTime', description: 'The stretch of this moment is the last; absent = up to now.' }),
  },
  resolve: async (_root, { resource, id: given, step, from, to }, context) => {
    const id = idOf('id', given);
    if (resource === 'user') await checkUserAccess(context, id);
    else await checkTrafficAccess(context, resource, id);
    const first = stretchAt(step, from.getTime());
    const last = stretchAt(step, (to ?? new Date()).getTime());
    if ((last - first) / trafficSteps[step] >= mostSamples) throw invalidInput('from', `the series would have more than ${mostSamples} stretches`, { most: mostSamples });
    return context.store.db.trafficSample.findMany({ where: { resource, resourceId: id, step, at: { gte: first, lte: last } }, orderBy: { at: 'asc' } });
  },
}));

/**
 * Whether the caller may see a record's traffic.
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

/** Whether the caller may see the traffic of a user's clients. @throws {AditError} FORBIDDEN, NOT_FOUND */
export async function checkUserAccess(context: Context, id: number): Promise<void> {
  const { caller, loaders } = context;
  if (caller.kind === 'user' && caller.userId === id) return;
  if (caller.kind !== 'admin') throw new AditError('FORBIDDEN');
  if (await loaders.users.load(id) === undefined) throw new AditError('NOT_FOUND', { resource: 'user' });
}
