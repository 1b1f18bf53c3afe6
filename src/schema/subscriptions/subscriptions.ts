import { AuditEntry } from '../audit/type.ts';
import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import { Host } from '../host/type.ts';
import { Tunnel } from '../tunnel/type.ts';
import type { LiveEvent } from './live.ts';
import { idOf } from '../values/ids.ts';

const gone = 'null = it was deleted, or is no longer yours.';
const only = 'Only this one; absent = all that are yours.';

const ClientEvent = builder.objectRef<LiveEvent<'client'>>('ClientEvent').implement({
  description: 'A client that is another now: its agent came or went, or it was changed.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The client's id." }),
    client: t.field({ type: Client, nullable: true, description: `The client as it is now; ${gone}`, resolve: ({ row }) => row }),
  }),
});

const TunnelEvent = builder.objectRef<LiveEvent<'tunnel'>>('TunnelEvent').implement({
  description: 'A tunnel that is another now: its listener was opened, closed or failed, or it was changed.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The tunnel's id." }),
    tunnel: t.field({ type: Tunnel, nullable: true, description: `The tunnel as it is now; ${gone}`, resolve: ({ row }) => row }),
  }),
});

const HostEvent = builder.objectRef<LiveEvent<'host'>>('HostEvent').implement({
  description: 'A host that is another now.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The host's id." }),
    host: t.field({ type: Host, nullable: true, description: `The host as it is now; ${gone}`, resolve: ({ row }) => row }),
  }),
});

builder.subscriptionType({
  description: 'Subscriptions, as server-sent events. Ordinary users get events of their own clients. A subscription ends when its caller loses access.',
  authScopes: { clientLogin: true },
});

builder.subscriptionFields((t) => ({
  clientChanged: t.field({
    type: ClientEvent,
    authScopes: { clientLogin: true },
    description: 'Clients whose agent comes or goes, or that are changed.',
    args: { id: t.arg.id({ description: only }) },
    subscribe: (_root, { id }, { live, caller }) => live.states(caller, 'client', idOf('id', id)),
    resolve: (event, _args, context) => context.forgetLookups(event),
  }),
  tunnelChanged: t.field({
    type: TunnelEvent,
    authScopes: { clientLogin: true },
    description: 'Tunnels whose listener is opened, closed or fails, or that are changed.',
    args: { id: t.arg.id({ description: only }) },
    subscribe: (_root, { id }, { live, caller }) => live.states(caller, 'tunnel', idOf('id', id)),
    resolve: (event, _args, context) => context.forgetLookups(event),
  }),
  hostChanged: t.field({
    type: HostEvent,
    authScopes: { clientLogin: true },
    description: 'Hosts that are changed, started or stopped.',
    args: { id: t.arg.id({ description: only }) },
    subscribe: (_root, { id }, { live, caller }) => live.states(caller, 'host', idOf('id', id)),
    resolve: (event, _args, context) => context.forgetLookups(event),
  }),
  auditAdded: t.field({
    type: AuditEntry,
    authScopes: { administrator: true },
    description: 'Every new entry of the audit log.',
    subscribe: (_root, _args, { live, caller }) => live.audit(caller),
    resolve: (entry) => entry,
  }),
}));
