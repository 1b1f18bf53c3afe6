import type { NodeState } from '../../store/nodes.ts';
import { builder } from '../builder.ts';
import { textOrNull } from '../values/empty.ts';

/** The size of the list of nodes for the limits of an operation. */
const USUAL = 16;

const Node = builder.objectRef<NodeState>('Node').implement({
  description: 'A server process, as it last reported, at most a few seconds ago.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name: the setting `ADIT_NODE`, or else the host name of its first start.' }),
    address: t.string({
      nullable: true,
      description: 'The address of its bridge, `host:port`; null = the setting `ADIT_NODE_ADDRESS` is empty.',
      resolve: ({ address }) => textOrNull(address),
    }),
    version: t.exposeString('version', { description: 'The version of its program.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it was started.' }),
    alive: t.exposeBoolean('alive', { description: 'It has reported within the last 10 seconds, and has not been stopped.' }),
    agents: t.exposeInt('agents', { description: 'The number of agents that are connected to it.' }),
    connections: t.exposeInt('connections', { description: "The number of visitors' open connections." }),
    load: t.exposeFloat('load', { description: 'The share of the time in which its event loop was busy, from 0 to 1.' }),
    lagSeconds: t.float({
      description: 'The time since it last read the log of changes to its end. Zero if that was within the last two seconds, or if it uses SQLite.',
      resolve: ({ lagMs }) => lagMs / 1000,
    }),
  }),
});

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
    subscribe: (_root, _args, { live, caller, store }) => live.everySecond(caller, undefined, () => store.nodes()),
    resolve: (nodes) => nodes,
  }));
