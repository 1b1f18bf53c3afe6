import type { ClientState } from '../../engine/face.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { builder } from '../builder.ts';
import { clientRuntime } from '../client/runtime.ts';
import { listQuery } from '../lists/list.ts';
import { pageArgs, rowLimits, SortDirection, sortFields } from '../lists/page.ts';

/** The numbers, states and notes of a client that are shown on a public display. */
const WallClient = builder.objectRef<{ readonly row: Client; readonly state: ClientState }>('WallClient').implement({
  description: 'What a display on a wall shows of a client: its note, states and numbers.',
  fields: (t) => ({
    id: t.id({ description: 'Names the client.', resolve: ({ row }) => row.id }),
    remark: t.string({ description: 'The note.', resolve: ({ row }) => row.remark }),
    enabled: t.boolean({ description: 'False = it was switched off or has expired; an expiry counts within a minute.', resolve: ({ row }) => row.enabled && !row.expired }),
    connected: t.boolean({ description: 'An agent is connected.', resolve: ({ state }) => state.connected }),
    tunnelCount: t.int({ description: 'How many tunnels it has.', resolve: ({ row }) => row.tunnelCount - row.hostCount }),
    hostCount: t.int({ description: 'How many hosts it has.', resolve: ({ row }) => row.hostCount }),
    connections: t.int({ description: 'Open connections of visitors.', resolve: ({ state }) => state.connections }),
    rate: t.field({ type: 'BytesPerSecond', description: 'Bytes moved in the last whole second, both directions.', resolve: ({ state }) => state.rate }),
    inletBytes: t.field({ type: 'Bytes', description: 'Bytes from visitors since the client was made.', resolve: ({ state }) => state.inletBytes }),
    exportBytes: t.field({ type: 'Bytes', description: 'Bytes to visitors since the client was made.', resolve: ({ state }) => state.exportBytes }),
  }),
});

const WallPage = builder.objectRef<Page<Client>>('WallPage').implement({
  description: 'A part of the list of clients, for a display on a wall.',
  fields: (t) => ({
    rows: t.field({
      type: [WallClient],
      description: 'The clients of this part.',
      resolve: (page, _args, { loaders }) => Promise.all(page.rows.map(async (row) => ({ row, state: clientRuntime(row, await loaders.clientStates.load(row.id)) }))),
    }),
    total: t.exposeInt('total', { description: 'How many clients the whole list has.' }),
  }),
});

const WallSortField = builder.enumType('WallSortField', {
  description: 'What the clients of a wall display can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    REMARK: { description: 'The note.' },
    CONNECTED: { description: 'Those without an agent first.' },
    RATE: { description: 'Bytes moved in the last second.' },
  },
});

const WallSort = builder.inputType('WallSort', {
  description: 'How the clients of a wall display are sorted.',
  fields: (t) => ({
    field: t.field({ type: WallSortField, required: true, description: sortFields.field }),
    direction: t.field({ type: SortDirection, required: true, defaultValue: 'ASC', description: sortFields.direction }),
  }),
});

builder.queryField('wall', (t) => t.field({
  type: WallPage,
  authScopes: { wall: true },
  description: 'The clients with their states and numbers, without addresses, keys and names of users: all that a token with the scope `WALL` sees.',
  args: {
    sort: t.arg({ type: WallSort, description: pageArgs.sort }),
    offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
    limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
  },
  resolve: async (_root, args, context) => context.store.clientPage(await listQuery(context, args)),
}));
