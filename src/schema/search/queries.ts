import { nullUnlessAdministrator } from '../access/administrator-field.ts';
import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';
import { Host } from '../host/type.ts';
import { listQuery } from '../lists/list.ts';
import { pageArgs, pageRange } from '../lists/page.ts';
import { Tunnel } from '../tunnel/type.ts';
import { User } from '../user/type.ts';

/** How many records of each kind are found unless the caller says otherwise. */
const usual = 5;

/** What is searched for. Each list is searched when it is requested. */
interface Searched {
  readonly search: string;
  readonly limit: number;
}

/** Reads every row's text, from memory where it fits (store/search). */
const searches = { extensions: { searches: true } } as const;

const SearchResult = builder.objectRef<Searched>('SearchResult').implement({
  description: 'The records that contain a text, of each kind. Each list is sorted by id.',
  fields: (t) => ({
    clients: t.field({
      ...searches,
      type: [Client],
      description: 'Clients, by note, id or key.',
      resolve: async (searched, _args, context) => {
        const { rows } = await context.list(await queryOf(context, searched), context.store.clientPage, context.store.clientPages);
        return rows;
      },
    }),
    tunnels: t.field({
      ...searches,
      type: [Tunnel],
      description: 'Tunnels, by note, id, port, target or password.',
      resolve: async (searched, _args, context) => {
        const { rows } = await context.list(await queryOf(context, searched), context.store.tunnelPage, context.store.tunnelPages);
        return rows;
      },
    }),
    hosts: t.field({
      ...searches,
      type: [Host],
      description: 'Hosts, by domain, note, id or the key of their client.',
      resolve: async (searched, _args, context) => {
        const { rows } = await context.list(await queryOf(context, searched), context.store.hostPage, context.store.hostPages);
        return rows;
      },
    }),
    users: t.field({
      ...searches,
      type: [User],
      nullable: true,
      description: `Users, by name, note or id. ${nullUnlessAdministrator}`,
      resolve: async ({ search, limit }, _args, context) => {
        if (context.caller.kind !== 'admin') return null;
        const { rows } = await context.list({ search, offset: 0, limit }, context.store.userPage, context.store.userPages);
        return rows;
      },
    }),
  }),
});

builder.queryField('search', (t) =>
  t.field({
    type: SearchResult,
    authScopes: { clientLogin: true },
    description:
      'Searches the clients, tunnels, hosts and users that the caller may see for a text, as the argument `search` of each list does. `limit` applies to each kind.',
    args: {
      text: t.arg.string({ required: true, description: 'The text (case-insensitive), or an id. Not empty.' }),
      limit: t.arg.int({ defaultValue: usual, description: pageArgs.limit }),
    },
    resolve: (_root, { text, limit }) => {
      if (text === '') throw invalidInput('text', 'empty');
      return { search: text, limit: pageRange({ limit: limit ?? usual }).limit };
    },
  }));

/** Keys and passwords are only searched for callers who may see them. */
function queryOf(context: Context, { search, limit }: Searched) {
  return listQuery<never>(context, { search, limit });
}
