import { builder } from '../builder.ts';
import { Node } from './type.ts';

/** The size of the list of nodes for the limits of an operation. */
const USUAL = 16;

builder.queryField('nodes', (t) =>
  t.field({
    type: [Node],
    nullable: true,
    authScopes: { administrator: true },
    extensions: { items: USUAL },
    description: 'The server processes that have used the database in the last week, by name. With SQLite, the one that answers. For administrators.',
    resolve: (_root, _args, { store }) => store.nodes(),
  }));

builder.subscriptionField('nodesEverySecond', (t) =>
  t.field({
    type: [Node],
    authScopes: { administrator: true },
    extensions: { items: USUAL },
    description: 'The same list as `nodes`, once a second. For administrators.',
    subscribe: (_root, _args, { live, caller, store }) => live.everySecond(caller, () => store.nodes()),
    resolve: (nodes) => nodes,
  }));
