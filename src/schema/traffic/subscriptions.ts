import { NO_TRAFFIC, trafficSum } from '../../rules/traffic-sum.ts';
import type { EngineFace, Traffic } from '../../engine/face.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';
import { rowLimits } from '../lists/page.ts';
import { idOf } from '../values/ids.ts';
import { checkedId, checkTrafficAccess } from './rules.ts';
import { TrafficResource } from './enums.ts';

interface Tick extends Traffic {
  readonly at: Date;
}

const TrafficTick = builder.objectRef<Tick>('TrafficTick').implement({
  description: 'The current traffic of a record.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it was measured.' }),
    rate: t.expose('rate', { type: 'BytesPerSecond', description: 'Bytes transferred in the last full second, in both directions.' }),
    inletRate: t.expose('inletRate', { type: 'BytesPerSecond', description: 'Bytes from visitors in the last full second.' }),
    exportRate: t.expose('exportRate', { type: 'BytesPerSecond', description: 'Bytes to visitors in the last full second.' }),
    connections: t.exposeInt('connections', { description: "The number of visitors' open connections." }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors since the record was created. For several clients, the sum.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors since the record was created. For several clients, the sum.' }),
  }),
});

interface OfRecord {
  readonly id: number;
  readonly traffic: Tick;
}

const RecordTraffic = builder.objectRef<OfRecord>('RecordTraffic').implement({
  description: 'The current traffic of one of several records.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The record's id." }),
    traffic: t.field({ type: TrafficTick, description: 'Its traffic.', resolve: ({ traffic }) => traffic }),
  }),
});

builder.subscriptionFields((t) => ({
  trafficEverySecond: t.field({
    type: TrafficTick,
    authScopes: { clientLogin: true },
    description: 'The traffic of a client, a tunnel, a host, all clients of a user, or the server, once a second.',
    args: {
      resource: t.arg({ type: TrafficResource, required: true, description: 'The kind of record.' }),
      id: t.arg.id({ description: 'Its id. The server has none.' }),
    },
    subscribe: async (_root, { resource, id: given }, context) => {
      const id = await checkedId(context, resource, given);
      if (resource === 'server') return serverTraffic(context);
      if (resource === 'user') return userTraffic(context, id);
      const clientId = await checkTrafficAccess(context, resource, id);
      return context.live.everySecondOf(context.caller, resource, new Map([[id, clientId]]), async () => {
        const [traffic] = await states[resource](context.engine, [id]);
        return traffic && tickOf(context, traffic);
      });
    },
    resolve: (tick) => tick,
  }),
  trafficOfEachEverySecond: t.field({
    type: [RecordTraffic],
    extensions: { items: rowLimits.most },
    authScopes: { clientLogin: true },
    description: 'The traffic of several clients, tunnels or hosts, such as the rows of a list, once a second.',
    args: {
      resource: t.arg({ type: TrafficResource, required: true, description: 'The kind of the records: CLIENT, TUNNEL or HOST.' }),
      ids: t.arg.idList({ required: true, description: `Their ids, at most ${rowLimits.most}. Duplicates count once.` }),
    },
    subscribe: async (_root, { resource, ids }, context) => {
      if (resource === 'server' || resource === 'user') throw invalidInput('resource', 'clients, tunnels or hosts', {});
      const given = [...new Set(ids.map((id, index) => idOf(`ids.${index}`, id)))];
      if (given.length > rowLimits.most) throw invalidInput('ids', `at most ${rowLimits.most} records at a time`, { most: rowLimits.most });
      const clients = await Promise.all(given.map((id) => checkTrafficAccess(context, resource, id)));
      return trafficOfEach(context, resource, new Map(given.map((id, index) => [id, clients[index] ?? 0])));
    },
    resolve: (ticks) => ticks,
  }),
  serverTrafficEverySecond: t.field({
    type: TrafficTick,
    authScopes: { administrator: true },
    description: 'The traffic of all clients together, once a second. For administrators.',
    subscribe: (_root, _args, context) => serverTraffic(context),
    resolve: (tick) => tick,
  }),
}));

/** @param records their clients, by id */
function trafficOfEach(context: Context, resource: keyof typeof states, records: Map<number, number>): AsyncIterableIterator<OfRecord[]> {
  return context.live.everySecondOf(context.caller, resource, records, async () => {
    const ids = [...records.keys()];
    if (ids.length === 0) return undefined;
    const found = await states[resource](context.engine, ids);
    return ids.flatMap((id, index) => {
      const traffic = found[index];
      return traffic === undefined || !records.has(id) ? [] : [{ id, traffic: tickOf(context, traffic) }];
    });
  });
}

const states = {
  client: (engine: EngineFace, ids: readonly number[]) => engine.clientStates(ids),
  tunnel: (engine: EngineFace, ids: readonly number[]) => engine.tunnelStates(ids),
  host: (engine: EngineFace, ids: readonly number[]) => engine.hostStates(ids),
} satisfies Record<string, (engine: EngineFace, ids: readonly number[]) => Promise<Array<Traffic | undefined>>>;

function serverTraffic(context: Context): AsyncIterableIterator<Tick> {
  return context.live.everySecond(context.caller, async () => tickOf(context, await context.engine.traffic()));
}

async function userTraffic(context: Context, userId: number): Promise<AsyncIterableIterator<Tick>> {
  const { store, live, caller, engine } = context;
  const clients = new Set<number>();
  const ticks = live.everySecondOfUser(caller, userId, clients, async () => tickOf(context, sumOf(await engine.clientStates([...clients]))));
  try {
    // After the subscription has begun, so that no new client is missed.
    for (const { id } of await store.db.client.findMany({ where: { userId }, select: { id: true } })) clients.add(id);
  } catch (error) {
    await ticks.return?.();
    throw error;
  }
  return ticks;
}

function sumOf(states: readonly (Traffic | undefined)[]): Traffic {
  return states.reduce<Traffic>((sum, state) => state === undefined ? sum : trafficSum(sum, state), NO_TRAFFIC);
}

function tickOf(context: Context, { rate, inletRate, exportRate, connections, inletBytes, exportBytes }: Traffic): Tick {
  return { at: new Date(context.now()), rate, inletRate, exportRate, connections, inletBytes, exportBytes };
}
