import type { ConnectionsPage, ConnectionState } from '../../engine/face.ts';
import { checkTrafficAccess } from '../traffic/rules.ts';
import { builder } from '../builder.ts';
import { Host } from '../host/type.ts';
import { pageArgs, rowLimits, pageRange } from '../lists/page.ts';
import { Tunnel } from '../tunnel/type.ts';
import { idOf } from '../values/ids.ts';

const VisitorConnection = builder.objectRef<ConnectionState>('VisitorConnection').implement({
  description: 'An open connection of a visitor.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the connection. Ids are not reused until the server restarts.' }),
    address: t.exposeString('address', { description: "The visitor's address." }),
    port: t.expose('port', { type: 'Port', description: "The visitor's port." }),
    since: t.field({ type: 'DateTime', description: 'When the connection was opened.', resolve: ({ since }) => new Date(since) }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from the visitor.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to the visitor.' }),
    rate: t.expose('rate', { type: 'BytesPerSecond', description: 'Bytes transferred in the last full second, in both directions.' }),
    tunnel: t.field({
      type: Tunnel,
      nullable: true,
      description: 'The tunnel of the connection; null = it belongs to a host.',
      resolve: async ({ through }, _args, { loaders }) => (through.kind === 'tunnel' ? await loaders.tunnels.load(through.id) ?? null : null),
    }),
    host: t.field({
      type: Host,
      nullable: true,
      description: 'The host of the connection; null = it belongs to a tunnel.',
      resolve: async ({ through }, _args, { loaders }) => (through.kind === 'host' ? await loaders.hosts.load(through.id) ?? null : null),
    }),
  }),
});

const ConnectionPage = builder.objectRef<ConnectionsPage>('VisitorConnectionPage').implement({
  description: 'A page of the open connections, oldest first.',
  fields: (t) => ({
    rows: t.field({
      type: [VisitorConnection],
      extensions: { items: rowLimits.most },
      description: 'The connections on the page.',
      resolve: ({ rows }) => rows,
    }),
    total: t.exposeInt('total', { description: 'The number of open connections.' }),
  }),
});

const clientId = { required: true, description: "The client's id." } as const;

builder.queryField('connections', (t) =>
  t.field({
    type: ConnectionPage,
    authScopes: { clientLogin: true },
    description: "The open connections of a client's visitors, through all its tunnels and hosts.",
    args: {
      clientId: t.arg.id(clientId),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, { clientId: id, ...args }, context) =>
      context.engine.connections(await checkTrafficAccess(context, 'client', idOf('clientId', id)), pageRange(args)),
  }));

builder.subscriptionField('connectionsEverySecond', (t) =>
  t.field({
    type: ConnectionPage,
    authScopes: { clientLogin: true },
    description: `The open connections of a client's visitors, once a second: the ${rowLimits.most} oldest, and how many there are.`,
    args: { clientId: t.arg.id(clientId) },
    subscribe: async (_root, args, context) => {
      const id = idOf('clientId', args.clientId);
      await checkTrafficAccess(context, 'client', id);
      return context.live.everySecondOf(context.caller, 'client', new Map([[id, id]]), () =>
        context.engine.connections(id, { offset: 0, limit: rowLimits.most }));
    },
    resolve: (page) =>
      page,
  }));
