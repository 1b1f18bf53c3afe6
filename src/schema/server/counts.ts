import { tunnelModes } from '../../rules/tunnel-mode.ts';
import type { Counts as CountsRow } from '../../store/hot/counts.ts';
import { builder } from '../builder.ts';
import { stored } from '../stored.ts';
import { TunnelMode } from '../tunnel/enums.ts';

const ClientCounts = builder.objectRef<CountsRow['clients']>('ClientCounts').implement({
  description: 'How many clients there are.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All clients.' }),
    connected: t.exposeInt('connected', { description: 'Those whose agent is connected.' }),
    disabled: t.exposeInt('disabled', { description: 'Those that are switched off.' }),
    expired: t.exposeInt('expired', { description: "Those whose time, or whose owner's, has passed; an expiry counts within a minute." }),
  }),
});

const TunnelModeCount = builder.objectRef<{ readonly mode: string; readonly total: number }>('TunnelModeCount').implement({
  description: 'How many tunnels of a mode there are.',
  fields: (t) => ({
    mode: t.field({ type: TunnelMode, description: 'The mode.', resolve: ({ mode }) => stored(tunnelModes, mode) }),
    total: t.exposeInt('total', { description: 'Its tunnels.' }),
  }),
});

const TunnelCounts = builder.objectRef<CountsRow['tunnels']>('TunnelCounts').implement({
  description: 'How many tunnels there are.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All tunnels.' }),
    running: t.exposeInt('running', { description: 'Those that serve: the listener is open, or they need none.' }),
    byMode: t.field({
      type: [TunnelModeCount], extensions: { items: tunnelModes.length },
      description: 'The tunnels of each mode, also where there are none.', resolve: ({ byMode }) => tunnelModes.map((mode) => ({ mode, total: byMode.get(mode) ?? 0 })),
    }),
  }),
});

const HostCounts = builder.objectRef<CountsRow['hosts']>('HostCounts').implement({
  description: 'How many hosts there are.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All hosts.' }),
    disabled: t.exposeInt('disabled', { description: 'Those that are stopped.' }),
  }),
});

const UserCounts = builder.objectRef<NonNullable<CountsRow['users']>>('UserCounts').implement({
  description: 'How many users there are.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All users.' }),
    disabled: t.exposeInt('disabled', { description: 'Those that are switched off.' }),
    expired: t.exposeInt('expired', { description: 'Those whose time has passed; an expiry counts within a minute.' }),
  }),
});

/** @see CountsRow */
export const Counts = builder.objectRef<CountsRow>('Counts').implement({
  description: 'How many records there are of those that the caller may see.',
  fields: (t) => ({
    clients: t.field({ type: ClientCounts, description: 'The clients.', resolve: ({ clients }) => clients }),
    tunnels: t.field({ type: TunnelCounts, description: 'The tunnels.', resolve: ({ tunnels }) => tunnels }),
    hosts: t.field({ type: HostCounts, description: 'The hosts.', resolve: ({ hosts }) => hosts }),
    users: t.field({ type: UserCounts, nullable: true, description: 'The users; null for all but administrators.', resolve: ({ users }) => users }),
  }),
});
