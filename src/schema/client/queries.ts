import { mayUseClient } from '../../rules/ownership.ts';
import type { Client as ClientRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { builder } from '../builder.ts';
import { listQuery, ownerArgs } from '../list.ts';
import { pageArgs, rowLimits, SortOrder, stretchOf } from '../page.ts';
import { User } from '../user/type.ts';
import { Client } from './type.ts';
import { idOf } from '../ids.ts';

const ClientOrder = builder.enumType('ClientOrder', {
  description: 'What clients can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    REMARK: { description: 'The note.' },
    VERIFY_KEY: { description: 'The verification key.' },
    ENABLED: { description: 'Those that were switched off or have expired first; an expiry counts within a minute.' },
    CONNECTED: { description: 'Those without an agent first.' },
    ADDRESS: { description: "The agent's address." },
    LOCAL_ADDRESS: { description: "The agent's addresses in its own network." },
    VERSION: { description: "The agent's version." },
    INLET_BYTES: { description: 'Bytes from visitors.' },
    EXPORT_BYTES: { description: 'Bytes to visitors.' },
    RATE: { description: 'Bytes moved in the last second.' },
  },
});

const ClientPage = builder.objectRef<Page<ClientRow>>('ClientPage').implement({
  description: 'A stretch of a list of clients.',
  fields: (t) => ({
    rows: t.field({ type: [Client], description: 'The clients of the stretch.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'How many clients the whole list has.' }),
  }),
});

builder.prismaObjectField(User, 'clients', (t) => t.field({
  type: ClientPage,
  // The web login of one client sees its owner, and not what else the owner has.
  authScopes: { user: true },
  description: 'The clients of the user, by id.',
  args: { offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }), limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }) },
  resolve: async ({ id, clientCount }, args, { loaders }) => ({ rows: await loaders.clientsOfUsers.load({ parentId: id, ...stretchOf(args) }), total: clientCount }),
}));

builder.queryFields((t) => ({
  client: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'One client; null when there is none with this id.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (_root, { id }, { caller, loaders }) => {
      const row = await loaders.clients.load(idOf('id', id));
      return row !== undefined && mayUseClient(caller, row) ? row : null;
    },
  }),
  clients: t.field({
    type: ClientPage,
    authScopes: { clientLogin: true },
    description: 'The clients, by id unless `orderBy` says otherwise.',
    args: {
      ownerId: t.arg.id({ description: ownerArgs.ownerId }),
      unassigned: t.arg.boolean({ description: ownerArgs.unassigned }),
      search: t.arg.string({ description: pageArgs.search }),
      orderBy: t.arg({ type: ClientOrder, description: 'What to sort by.' }),
      order: t.arg({ type: SortOrder, defaultValue: 'ASC', description: pageArgs.order }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, args, context) => context.list(await listQuery(context, args), context.store.clientPage, context.store.clientPages),
  }),
}));
