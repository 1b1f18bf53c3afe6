import { userConditions } from '../../store/hot/conditions.ts';
import { builder } from '../builder.ts';
import { countOf } from '../lists/list.ts';
import { pageArgs, rowLimits, SortDirection, sortFields, sortOf, pageRange } from '../lists/page.ts';
import { User, UserPage } from './type.ts';
import { idOf } from '../values/ids.ts';

const UserSortField = builder.enumType('UserSortField', {
  description: 'The fields that users can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    USERNAME: { description: 'The login name.' },
    REMARK: { description: 'The note.' },
    ENABLED: { description: 'Disabled and expired ones first. It can take up to a minute until an expiry counts.' },
    MAX_TUNNELS: { description: 'The limit of tunnels and hosts.' },
    MAX_CLIENTS: { description: 'The limit of clients.' },
    CLIENT_COUNT: { description: 'The number of clients.' },
    TUNNEL_COUNT: { description: 'The number of tunnels and hosts.' },
    EXPIRES_AT: { description: 'The expiry. Those that never expire come first.' },
    CREATED_AT: { description: 'When the account was created.' },
    LAST_LOGIN_AT: { description: 'The last login with the password. Those that never logged in come first.' },
    TRAFFIC: { description: 'Bytes of all clients of the user in both directions.' },
  },
});

const UserSort = builder.inputType('UserSort', {
  description: 'The order of a list of users.',
  fields: (t) => ({
    field: t.field({ type: UserSortField, required: true, description: sortFields.field }),
    direction: t.field({ type: SortDirection, required: true, defaultValue: 'ASC', description: sortFields.direction }),
  }),
});

const UserFilter = builder.inputType('UserFilter', {
  description: 'Selects users that meet all conditions. A condition that is absent or null has no effect.',
  fields: (t) => ({
    enabled: t.boolean({ description: 'True = only enabled ones, false = only disabled and expired ones. It can take up to a minute until an expiry counts.' }),
    expired: t.boolean({ description: 'True = only those that have expired, false = only the others. It can take up to a minute until an expiry counts.' }),
    expiresBefore: t.field({ type: 'DateTime', description: 'Only those whose `expiresAt` is before this time, including expired ones.' }),
    usageAbovePercent: t.int({
      description: 'Only those that use more than this percentage of `maxClients` or `maxTunnels`. At least 0. Unlimited values never match.',
    }),
  }),
});

builder.queryFields((t) => ({
  user: t.field({
    type: User,
    nullable: true,
    authScopes: { user: true },
    description: 'The user with this id; null = no such user. Ordinary users see only themselves.',
    args: { id: t.arg.id({ required: true, description: 'The id.' }) },
    resolve: async (_root, args, { caller, loaders }) => {
      const id = idOf('id', args.id);
      if (caller.kind !== 'admin' && !(caller.kind === 'user' && caller.userId === id)) return null;
      return await loaders.users.load(id) ?? null;
    },
  }),
  users: t.field({
    type: UserPage,
    nullable: true,
    authScopes: { administrator: true },
    description: 'The users, sorted by id unless `sort` is set. For administrators.',
    args: {
      filter: t.arg({ type: UserFilter, description: pageArgs.filter }),
      search: t.arg.string({ description: pageArgs.search }),
      sort: t.arg({ type: UserSort, description: pageArgs.sort }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, { filter, search, sort, ...range }, context) => {
      if (sort?.field === 'TRAFFIC') await context.freshState();
      const query = { search: search ?? undefined, ...filter && { conditions: conditionsOf(filter) }, ...sortOf(sort), ...pageRange(range) };
      return context.list(query, context.store.userPage, context.store.userPages);
    },
  }),
}));

/** The filter conditions that are checked on each user. */
function conditionsOf({ enabled, expired, expiresBefore, usageAbovePercent }: typeof UserFilter.$inferInput) {
  return userConditions({
    enabled: enabled ?? undefined,
    expired: expired ?? undefined,
    expiresBefore: expiresBefore ?? undefined,
    usageAbove: countOf('filter.usageAbovePercent', usageAbovePercent),
  });
}
