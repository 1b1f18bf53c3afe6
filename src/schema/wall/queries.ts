import type { ClientState } from '../../engine/face.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { builder } from '../builder.ts';
import { clientRuntime } from '../client/runtime.ts';
import { listQuery } from '../lists/list.ts';
import { pageArgs, rowLimits, SortDirection, sortFields } from '../lists/page.ts';

/** The numbers, states and notes of a client that are shown on a public display. */
const WallClient = builder.objectRef<{ readonly row: Client; readonly state: ClientState }>('WallClient').implement({
  description: 'What a wall display shows of a client: its note, states and counters.',
  fields: (t) => ({
    id: t.id({ description: 'The id of the client.', resolve: ({ row }) => row.id }),
    remark: t.string({ description: 'The note.', resolve: ({ row }) => row.remark }),
    enabled: t.boolean({
      description: 'False = the client is disabled or has expired. It can take up to a minute until an expiry counts.',
      resolve: ({ row }) => row.enabled && !row.expired,
    }),
    connected: t.boolean({ description: 'Whether an agent is connected.', resolve: ({ state }) => state.connected }),
    tunnelCount: t.int({ description: 'The number of tunnels.', resolve: ({ row }) => row.tunnelCount - row.hostCount }),
    hostCount: t.int({ description: 'The number of hosts.', resolve: ({ row }) => row.hostCount }),
    connections: t.int({ description: "The number of visitors' open connections.", resolve: ({ state }) => state.connections }),
    rate: t.field({
      type: 'BytesPerSecond',
      description: 'Bytes transferred in the last full second, in both directions.',
      resolve: ({ state }) => state.rate,
    }),
    inletBytes: t.field({ type: 'Bytes', description: 'Bytes from visitors since the client was created.', resolve: ({ state }) => state.inletBytes }),
    exportBytes: t.field({ type: 'Bytes', description: 'Bytes to visitors since the client was created.', resolve: ({ state }) => state.exportBytes }),
  }),
});

const WallPage = builder.objectRef<Page<Client>>('WallPage').implement({
  description: 'A page of the list of clients, for a wall display.',
  fields: (t) => ({
    rows: t.field({
      type: [WallClient],
      description: 'The clients on the page.',
      resolve: (page, _args, { loaders }) =>
        Promise.all(page.rows.map(async (row) => ({ row, state: clientRuntime(row, await loaders.clientStates.load(row.id)) }))),
    }),
    total: t.exposeInt('total', { description: 'The number of clients in the whole list.' }),
  }),
});

const WallSortField = builder.enumType('WallSortField', {
  description: 'The fields that the clients of a wall display can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    REMARK: { description: 'The note.' },
    CONNECTED: { description: 'Those whose agent is not connected first.' },
    RATE: { description: 'Bytes transferred in the last second.' },
  },
});

const WallSort = builder.inputType('WallSort', {
  description: 'The order of the clients of a wall display.',
  fields: (t) => ({
    field: t.field({ type: WallSortField, required: true, description: sortFields.field }),
    direction: t.field({ type: SortDirection, required: true, defaultValue: 'ASC', description: sortFields.direction }),
  }),
});

builder.queryField('wall', (t) =>
  t.field({
    type: WallPage,
    authScopes: { wall: true },
    description: 'The clients with their states and counters, without addresses, keys or user names. This is all that tokens with the scope `WALL` can read.',
    args: {
      sort: t.arg({ type: WallSort, description: pageArgs.sort }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, args, context) => context.store.clientPage(await listQuery(context, args)),
  }));
