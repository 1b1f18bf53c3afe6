import { builder } from '../builder.ts';
import { pageArgs, rowLimits, SortOrder, stretchOf } from '../page.ts';
import { User, UserPage } from './type.ts';
import { idOf } from '../ids.ts';

const UserOrder = builder.enumType('UserOrder', {
  description: 'What users can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    USERNAME: { description: 'The login name.' },
    REMARK: { description: 'The note.' },
    ENABLED: { description: 'Those that were switched off or have expired first; an expiry counts within a minute.' },
    MAX_TUNNELS: { description: 'The limit of tunnels and hosts.' },
    MAX_CLIENTS: { description: 'The limit of clients.' },
    CLIENT_COUNT: { description: 'The number of clients.' },
    TUNNEL_COUNT: { description: 'The number of tunnels and hosts.' },
    EXPIRES_AT: { description: 'The expiry; those without one first.' },
    CREATED_AT: { description: 'When the account was made.' },
  },
});

builder.queryFields((t) => ({
  user: t.field({
    type: User,
    nullable: true,
    authScopes: { user: true },
    description: 'One user; null when there is none with this id. An ordinary user sees only themself.',
    args: { id: t.arg.id({ required: true, description: 'The id.' }) },
    resolve: async (_root, args, { caller, loaders }) => {
      const id = idOf('id', args.id);
      if (caller.kind !== 'admin' && !(caller.kind === 'user' && caller.userId === id)) return null;
      return await loaders.users.load(id) ?? null;
    },
  }),
  users: t.field({
    type: UserPage,
    authScopes: { administrator: true },
    description: 'The users, by id unless `orderBy` says otherwise. For administrators.',
    args: {
      search: t.arg.string({ description: pageArgs.search }),
      orderBy: t.arg({ type: UserOrder, description: 'What to sort by.' }),
      order: t.arg({ type: SortOrder, defaultValue: 'ASC', description: pageArgs.order }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: (_root, { search, orderBy, order, ...stretch }, context) => context.list(
      { search: search ?? undefined, orderBy: orderBy ?? 'ID', desc: order === 'DESC', ...stretchOf(stretch) }, context.store.userPage, context.store.userPages),
  }),
}));
