import { mayUseClient } from '../../rules/ownership.ts';
import { builder } from '../builder.ts';
import { listQuery, ownerArgs } from '../list.ts';
import { pageArgs, rowLimits, SortOrder } from '../page.ts';
import { TunnelMode, TunnelOrder } from './enums.ts';
import { Tunnel, TunnelPage } from './type.ts';
import { idOf } from '../ids.ts';

builder.queryFields((t) => ({
  tunnel: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'One tunnel; null when there is none with this id.',
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
    description: 'The tunnels, by id unless `orderBy` says otherwise.',
    args: {
      clientId: t.arg.id({ description: 'Only those of this client.' }),
      ownerId: t.arg.id({ description: ownerArgs.ownerId }),
      unassigned: t.arg.boolean({ description: ownerArgs.unassigned }),
      mode: t.arg({ type: TunnelMode, description: 'Only those of this mode.' }),
      search: t.arg.string({ description: pageArgs.search }),
      orderBy: t.arg({ type: TunnelOrder, description: 'What to sort by.' }),
      order: t.arg({ type: SortOrder, defaultValue: 'ASC', description: pageArgs.order }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, { mode, ...args }, context) => context.list({ ...await listQuery(context, args), mode: mode ?? undefined }, context.store.tunnelPage, context.store.tunnelPages),
  }),
}));
