import type { ClientState } from '../../engine/face.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { builder } from '../builder.ts';
import { clientRuntime } from '../client/runtime.ts';
import type { ProblemPage } from '../problem/board.ts';
import type { Problem } from '../problem/codes.ts';
import { clientOf, hostOf, ProblemCode, problemId, ProblemSeverity, severityOf, tunnelOf } from '../problem/type.ts';
import type { Context } from '../context.ts';
import { textOrNull } from '../values/empty.ts';
import { listQuery } from '../lists/list.ts';
import { pageArgs, pageRange, rowLimits, SortDirection, sortFields } from '../lists/page.ts';

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
    enabled: t.int({
      description: 'How many of them are neither disabled nor expired. It can take up to a minute until an expiry counts.',
      resolve: async (_page, _args, context) => {
        const { total, disabled, expired } = (await context.counts()).clients;
        return total - disabled - expired;
      },
    }),
    connected: t.int({
      description: 'Of how many an agent is connected.',
      resolve: async (_page, _args, context) => (await context.counts()).clients.connected,
    }),
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

/** The client, tunnel or host with a problem. */
async function recordOf(found: Problem, context: Context) {
  return await clientOf(found, context) ?? await tunnelOf(found, context) ?? await hostOf(found, context);
}

const WallProblem = builder.objectRef<Problem>('WallProblem').implement({
  description: 'What a wall display shows of a problem: neither addresses nor user names.',
  fields: (t) => ({
    id: t.id({ description: 'The same as long as the problem lasts.', resolve: problemId }),
    code: t.field({ type: ProblemCode, description: 'What is wrong.', resolve: ({ code }) => code }),
    severity: t.field({ type: ProblemSeverity, description: 'How serious it is.', resolve: severityOf }),
    since: t.expose('since', { type: 'DateTime', nullable: true, description: 'Since when; null = unknown.' }),
    remark: t.string({
      nullable: true,
      description: 'The note of the client, tunnel or host; null = none, or the problem is that of a user or the server.',
      resolve: async (found, _args, context) => textOrNull((await recordOf(found, context))?.remark ?? ''),
    }),
    client: t.field({
      type: WallClient,
      nullable: true,
      description: 'The client that has the problem, or whose tunnel or host has it.',
      resolve: async (found, _args, context) => {
        const row = await recordOf(found, context);
        const client = row && 'clientId' in row ? await context.loaders.clients.load(row.clientId) : row;
        return client ? { row: client, state: clientRuntime(client, await context.loaders.clientStates.load(client.id)) } : null;
      },
    }),
  }),
});

const WallProblemPage = builder.objectRef<ProblemPage>('WallProblemPage').implement({
  description: 'A page of the problems, for a wall display.',
  fields: (t) => ({
    rows: t.field({ type: [WallProblem], description: 'The problems on the page.', resolve: ({ rows }) => [...rows] }),
    total: t.exposeInt('total', { description: 'The number of all problems.' }),
    broken: t.exposeInt('broken', { description: 'The number of those with the severity BROKEN.' }),
  }),
});

builder.queryField('wallProblems', (t) =>
  t.field({
    type: WallProblemPage,
    authScopes: { wall: true },
    description: 'What is wrong, as `problems`, without addresses, keys or user names.',
    args: { limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }) },
    resolve: (_root, { limit }, context) => context.problems.page(context.caller, pageRange({ limit })),
  }));

builder.queryField('wall', (t) =>
  t.field({
    type: WallPage,
    authScopes: { wall: true },
    description:
      'The clients with their states and counters, without addresses, keys or user names. Tokens with the scope `WALL` can read this and `wallProblems`, and nothing else.',
    args: {
      sort: t.arg({ type: WallSort, description: pageArgs.sort }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, args, context) => context.store.clientPage(await listQuery(context, args)),
  }));
