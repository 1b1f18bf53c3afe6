import { mayUseClient } from '../../rules/ownership.ts';
import { builder } from '../builder.ts';
import { listQuery, ownerArgs } from '../list.ts';
import { pageArgs, rowLimits, SortOrder } from '../page.ts';
import { HostOrder } from './enums.ts';
import { platformDomain, platformName } from './name.ts';
import { ownNames } from './own-names.ts';
import { Host, HostPage } from './type.ts';
import { idOf } from '../ids.ts';

const HostAvailability = builder.objectRef<{ available: boolean; host: string }>('HostAvailability').implement({
  description: 'Whether a host can be had.',
  fields: (t) => ({
    available: t.exposeBoolean('available', { description: "Nobody has it at this moment, and it is none of the server's own names." }),
    host: t.exposeString('host', { description: 'The full domain.' }),
  }),
});

builder.queryFields((t) => ({
  host: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'One host; null when there is none with this id.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (_root, { id }, { caller, loaders }) => {
      const row = await loaders.hosts.load(idOf('id', id));
      const client = row && await loaders.clients.load(row.clientId);
      return client !== undefined && mayUseClient(caller, client) ? row : null;
    },
  }),
  hosts: t.field({
    type: HostPage,
    authScopes: { clientLogin: true },
    description: 'The hosts, by id unless `orderBy` says otherwise.',
    args: {
      clientId: t.arg.id({ description: 'Only those of this client.' }),
      ownerId: t.arg.id({ description: ownerArgs.ownerId }),
      unassigned: t.arg.boolean({ description: ownerArgs.unassigned }),
      search: t.arg.string({ description: pageArgs.search }),
      orderBy: t.arg({ type: HostOrder, description: 'What to sort by.' }),
      order: t.arg({ type: SortOrder, defaultValue: 'ASC', description: pageArgs.order }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, args, context) => context.list(await listQuery(context, args), context.store.hostPage, context.store.hostPages),
  }),
  platformHostAvailable: t.field({
    type: HostAvailability,
    authScopes: { clientLogin: true },
    description: 'A hint for forms: whether a prefix of a platform domain is free. Only saving decides.',
    args: {
      platformDomainId: t.arg.id({ required: true, description: "The platform domain's id." }),
      platformPrefix: t.arg.string({ required: true, description: 'The prefix.' }),
      hostId: t.arg.id({ description: 'The host that is being edited: its own name counts as free.' }),
    },
    resolve: async (_root, args, context) => {
      const { caller, store } = context;
      const edited = idOf('hostId', args.hostId);
      const { host } = platformName(await platformDomain(store.db, args.platformDomainId), args.platformPrefix);
      if (caller.kind !== 'admin' && (await ownNames(context, store.db)).has(host)) return { available: false, host };
      const others = await store.db.host.findMany({ where: { host }, include: { client: true } });
      return { available: others.every(({ id, client }) => id === edited && mayUseClient(caller, client)), host };
    },
  }),
}));
