import { LockoutType } from '../access/queries.ts';
import { AuditEntry } from '../audit/type.ts';
import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import { Host } from '../host/type.ts';
import { Tunnel } from '../tunnel/type.ts';
import { User } from '../user/type.ts';
import type { LiveEvent } from './live-event.ts';
import { idOf } from '../values/ids.ts';

const gone = 'null = it was deleted, or no longer belongs to the caller.';
const only = "Only the record with this id; absent = all of the caller's.";

const ClientEvent = builder.objectRef<LiveEvent<'client'>>('ClientEvent').implement({
  description: 'A change of a client: its agent connected or disconnected, or it was edited.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The client's id." }),
    client: t.field({ type: Client, nullable: true, description: `The client after the change; ${gone}`, resolve: ({ row }) => row }),
  }),
});

const TunnelEvent = builder.objectRef<LiveEvent<'tunnel'>>('TunnelEvent').implement({
  description: 'A change of a tunnel: its listener opened, closed or failed, or it was edited.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The tunnel's id." }),
    tunnel: t.field({ type: Tunnel, nullable: true, description: `The tunnel after the change; ${gone}`, resolve: ({ row }) => row }),
  }),
});

const HostEvent = builder.objectRef<LiveEvent<'host'>>('HostEvent').implement({
  description: 'A change of a host.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The host's id." }),
    host: t.field({ type: Host, nullable: true, description: `The host after the change; ${gone}`, resolve: ({ row }) => row }),
  }),
});

const UserEvent = builder.objectRef<number>('UserEvent').implement({
  description: 'A change of a user.',
  fields: (t) => ({
    id: t.id({ description: "The user's id.", resolve: (id) => id }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user after the change; null = they were deleted.',
      resolve: async (id, _args, { loaders }) => await loaders.users.load(id) ?? null,
    }),
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
    description: "Emitted when a client's agent connects or disconnects, and when a client is edited.",
    args: { id: t.arg.id({ description: only }) },
    subscribe: (_root, { id }, { live, caller }) => live.states(caller, 'client', idOf('id', id)),
    resolve: (event) => event,
  }),
  tunnelChanged: t.field({
    type: TunnelEvent,
    authScopes: { clientLogin: true },
    description: "Emitted when a tunnel's listener opens, closes or fails, and when a tunnel is edited.",
    args: { id: t.arg.id({ description: only }) },
    subscribe: (_root, { id }, { live, caller }) => live.states(caller, 'tunnel', idOf('id', id)),
    resolve: (event) => event,
  }),
  hostChanged: t.field({
    type: HostEvent,
    authScopes: { clientLogin: true },
    description: 'Emitted when a host is edited, started or stopped.',
    args: { id: t.arg.id({ description: only }) },
    subscribe: (_root, { id }, { live, caller }) => live.states(caller, 'host', idOf('id', id)),
    resolve: (event) => event,
  }),
  userChanged: t.field({
    type: UserEvent,
    authScopes: { administrator: true },
    description: 'Emitted when a user is created, edited, disabled or deleted, and when they expire. For administrators.',
    subscribe: (_root, _args, { live, caller }) => live.users(caller),
    resolve: (id) => id,
  }),
  lockoutsChanged: t.field({
    type: [LockoutType],
    authScopes: { administrator: true },
    description: 'The `lockouts`: at once, and within 5 seconds after one begins or ends. For administrators.',
    subscribe: (_root, _args, context) => context.live.whenChanged(context.caller, async () => context.attempts.lockouts(context.now())),
    resolve: (lockouts) => lockouts,
  }),
  auditAdded: t.field({
    type: AuditEntry,
    authScopes: { administrator: true },
    description: 'Emitted for each new entry of the audit log.',
    subscribe: (_root, _args, { live, caller }) => live.audit(caller),
    resolve: (entry) => entry,
  }),
}));
