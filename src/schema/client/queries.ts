import { mayUseClient } from '../../rules/ownership.ts';
import type { Client as ClientRow } from '../../store/generated/sqlite/client.ts';
import { clientConditions } from '../../store/hot/conditions.ts';
import type { Page } from '../../store/hot/page.ts';
import type { ClientTroubles } from '../../store/hot/problem-lists.ts';
import { builder } from '../builder.ts';
import { countOf, listQuery, ownedOnly, ownerFields } from '../lists/list.ts';
import { pageArgs, rowLimits, SortDirection, sortFields, pageRange } from '../lists/page.ts';
import { User } from '../user/type.ts';
import { Client } from './type.ts';
import { idOf } from '../values/ids.ts';

const ClientSortField = builder.enumType('ClientSortField', {
  description: 'The fields that clients can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    REMARK: { description: 'The note.' },
    VERIFY_KEY: { description: 'The verification key.' },
    ENABLED: { description: 'Disabled and expired ones first. It can take up to a minute until an expiry counts.' },
    CONNECTED: { description: 'Those whose agent is not connected first.' },
    ADDRESS: { description: "The agent's address." },
    LOCAL_ADDRESS: { description: "The agent's addresses in its local network." },
    VERSION: { description: "The agent's version." },
    INLET_BYTES: { description: 'Bytes from visitors.' },
    EXPORT_BYTES: { description: 'Bytes to visitors.' },
    RATE: { description: 'Bytes transferred in the last second.' },
    CONNECTIONS: { description: "Visitors' open connections." },
    FLOW_USED: { description: 'Bytes in both directions, which `flowLimit` limits.' },
    EXPIRES_AT: { description: 'The `effectiveExpiresAt`. Those that never expire come last.' },
    OWNER: { description: "The owner's login name. Those without an owner come first." },
    PROBLEMS: { description: 'How serious the problems are: clients without problems first, those whose visitors are refused last.' },
    LAST_ONLINE_AT: { description: 'When the agent was last connected: those that never were first.' },
  },
});

const ClientSort = builder.inputType('ClientSort', {
  description: 'The order of a list of clients.',
  fields: (t) => ({
    field: t.field({ type: ClientSortField, required: true, description: sortFields.field }),
    direction: t.field({ type: SortDirection, required: true, defaultValue: 'ASC', description: sortFields.direction }),
  }),
});

const ClientFilter = builder.inputType('ClientFilter', {
  description: 'Selects clients that meet all conditions. A condition that is absent or null has no effect.',
  fields: (t) => ({
    ownerId: t.id({ extensions: { indexed: true }, description: ownerFields.ownerId }),
    unassigned: t.boolean({ description: ownerFields.unassigned }),
    connected: t.boolean({ description: 'True = only those whose agent is connected, false = only the others. The state can be up to a second old.' }),
    enabled: t.boolean({ description: 'True = only enabled ones, false = only disabled and expired ones. It can take up to a minute until an expiry counts.' }),
    expired: t.boolean({
      description: 'True = only those that have expired, or whose owner has; false = only the others. It can take up to a minute until an expiry counts.',
    }),
    expiresBefore: t.field({ type: 'DateTime', description: 'Only those whose `effectiveExpiresAt` is before this time, including expired ones.' }),
    otherVersion: t.boolean({ description: "True = only those whose agent last reported another version than the server's. False has no effect." }),
    withProblems: t.boolean({ description: 'True = only clients that `problems` names, or one of whose tunnels or hosts it names. False has no effect.' }),
    usageAbovePercent: t.int({
      description: 'Only those that use more than this percentage of `flowLimit` or `maxTunnels`. At least 0. Unlimited values never match.',
    }),
  }),
});

const ClientPage = builder.objectRef<Page<ClientRow>>('ClientPage').implement({
  description: 'A page of a list of clients.',
  fields: (t) => ({
    rows: t.field({ type: [Client], description: 'The clients on the page.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'The number of clients in the whole list.' }),
  }),
});

builder.prismaObjectField(User, 'clients', (t) =>
  t.field({
    type: ClientPage,
    nullable: true,
    description: "The user's clients, sorted by id. Null for the web login of a client.",
    args: {
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    // The web login of a client may see its owner, but not the owner's other records.
    resolve: async ({ id, clientCount }, args, { caller, loaders }) =>
      caller.kind === 'client' ? null : ({ rows: await loaders.clientsOfUsers.load({ parentId: id, ...pageRange(args) }), total: clientCount }),
  }));

builder.queryFields((t) => ({
  client: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'The client with this id; null = no such client.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (_root, { id }, { caller, loaders }) => {
      const row = await loaders.clients.load(idOf('id', id));
      return row !== undefined && mayUseClient(caller, row) ? row : null;
    },
  }),
  clients: t.field({
    type: ClientPage,
    authScopes: { clientLogin: true },
    description: 'The clients, sorted by id unless `sort` is set.',
    args: {
      filter: t.arg({ type: ClientFilter, description: pageArgs.filter }),
      search: t.arg.string({ description: pageArgs.search }),
      sort: t.arg({ type: ClientSort, description: pageArgs.sort }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, args, context) => {
      const { filter, sort } = args;
      const asked = filter?.withProblems === true || sort?.field === 'PROBLEMS' ? (await context.problems.troubled()).clients : undefined;
      const query = {
        ...await listQuery(context, args),
        ...filter && { conditions: conditionsOf(filter, context.settings.version, asked) },
        ...asked && { troubles: asked },
      };
      return context.list(query, context.store.clientPage, context.store.clientPages);
    },
  }),
}));

/** The filter conditions that are checked on each client. */
function conditionsOf(
  { connected, enabled, expired, expiresBefore, usageAbovePercent, otherVersion, withProblems, ...owner }: typeof ClientFilter.$inferInput,
  version: string,
  troubles: ClientTroubles | undefined,
) {
  return clientConditions({
    connected: connected ?? undefined,
    enabled: enabled ?? undefined,
    expired: expired ?? undefined,
    owned: ownedOnly(owner),
    expiresBefore: expiresBefore ?? undefined,
    usageAbove: countOf('filter.usageAbovePercent', usageAbovePercent),
    versionOtherThan: otherVersion === true ? version : undefined,
    troubled: withProblems === true ? troubles : undefined,
  });
}
