import { mayUseClient } from '../../rules/ownership.ts';
import { tunnelConditions } from '../../store/hot/conditions.ts';
import { builder } from '../builder.ts';
import { listQuery, ownedOnly, ownerFields, withProblemsField } from '../lists/list.ts';
import { pageArgs, rowLimits, SortDirection, sortFields } from '../lists/page.ts';
import { idOf } from '../values/ids.ts';
import { TunnelMode } from './enums.ts';
import { Tunnel, TunnelPage } from './type.ts';

const TunnelSortField = builder.enumType('TunnelSortField', {
  description: 'The fields that tunnels can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    CLIENT_ID: { description: "The client's id." },
    REMARK: { description: 'The note.' },
    PORT: { description: 'The port.' },
    MODE: { description: 'The mode.' },
    TARGET: { description: 'The targets.' },
    VERIFY_KEY: { description: "The client's verification key." },
    PASSWORD: { description: 'The password of secret and p2p tunnels.' },
    ENABLED: { description: 'Stopped ones first.' },
    RUNNING: { description: 'Those that are not running first.' },
    CONNECTED: { description: 'Those whose agent is not connected first.' },
    RATE: { description: 'Bytes transferred in the last second.' },
    CONNECTIONS: { description: "Visitors' open connections." },
    PROBLEMS: { description: 'Those that `problems` names last.' },
  },
});

const TunnelSort = builder.inputType('TunnelSort', {
  description: 'The order of a list of tunnels.',
  fields: (t) => ({
    field: t.field({ type: TunnelSortField, required: true, description: sortFields.field }),
    direction: t.field({ type: SortDirection, required: true, defaultValue: 'ASC', description: sortFields.direction }),
  }),
});

const TunnelFilter = builder.inputType('TunnelFilter', {
  description: 'Selects tunnels that meet all conditions. A condition that is absent or null has no effect.',
  fields: (t) => ({
    clientId: t.id({ extensions: { indexed: true }, description: 'Only those that belong to this client.' }),
    ownerId: t.id({ extensions: { indexed: true }, description: ownerFields.ownerId }),
    unassigned: t.boolean({ description: ownerFields.unassigned }),
    mode: t.field({ type: TunnelMode, extensions: { indexed: true }, description: 'Only those with this mode.' }),
    withProblems: t.boolean({ description: withProblemsField }),
    enabled: t.boolean({ description: 'True = only started ones, false = only stopped ones.' }),
    connected: t.boolean({ description: "True = only those whose client's agent is connected, false = only the others. The state can be up to a second old." }),
    running: t.boolean({
      description: 'True = only running ones (their listener is open, or they need none), false = only the others. The state can be up to a second old.',
    }),
  }),
});

builder.queryFields((t) => ({
  tunnel: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'The tunnel with this id; null = no such tunnel.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (_root, { id }, { caller, loaders }) => {
      const row = await loaders.tunnels.load(idOf('id', id));
      const client = row && await loaders.clients.load(row.clientId);
      return client !== undefined && mayUseClient(caller, client) ? row : null;
    },
  }),
  tunnels: t.field({
    type: TunnelPage,
    authScopes: { clientLogin: true },
    description: 'The tunnels, sorted by id unless `sort` is set.',
    args: {
      filter: t.arg({ type: TunnelFilter, description: pageArgs.filter }),
      search: t.arg.string({ description: 'Only records that contain this text (case-insensitive), or whose id or port equals it.' }),
      sort: t.arg({ type: TunnelSort, description: pageArgs.sort }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, args, context) => {
      const withProblems = args.filter?.withProblems === true;
      const troubled = withProblems || args.sort?.field === 'PROBLEMS' ? (await context.problems.troubled()).tunnels : undefined;
      const query = {
        ...await listQuery(context, args),
        ...args.filter && tunnelsOf(args.filter, withProblems ? troubled : undefined),
        ...troubled && { troubled },
      };
      return context.list(query, context.store.tunnelPage, context.store.tunnelPages);
    },
  }),
}));

function tunnelsOf({ mode, enabled, connected, running, ...owner }: typeof TunnelFilter.$inferInput, troubled: readonly number[] | undefined) {
  const conditions = tunnelConditions({
    connected: connected ?? undefined,
    enabled: enabled ?? undefined,
    running: running ?? undefined,
    owned: ownedOnly(owner),
    troubled,
  });
  return { mode: mode ?? undefined, conditions };
}
