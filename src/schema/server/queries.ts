import { tunnelModes } from '../../rules/tunnel-mode.ts';
import type { Counts as CountsRow } from '../../store/hot/counts.ts';
import { builder } from '../builder.ts';
import { stored } from '../values/stored.ts';
import { TunnelMode } from '../tunnel/enums.ts';
import type { SchemaSettings } from '../services.ts';

const ClientCounts = builder.objectRef<CountsRow['clients']>('ClientCounts').implement({
  description: 'How many clients there are.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All clients.' }),
    connected: t.exposeInt('connected', { description: 'Those whose agent is connected.' }),
    neverSeen: t.exposeInt('neverSeen', { description: 'Those whose agent has never connected.' }),
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
    serving: t.exposeInt('serving', { description: "Those that are started and whose client's agent is connected." }),
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

const Counts = builder.objectRef<CountsRow>('Counts').implement({
  description: 'How many records there are of those that the caller may see.',
  fields: (t) => ({
    clients: t.field({ type: ClientCounts, description: 'The clients.', resolve: ({ clients }) => clients }),
    tunnels: t.field({ type: TunnelCounts, description: 'The tunnels.', resolve: ({ tunnels }) => tunnels }),
    hosts: t.field({ type: HostCounts, description: 'The hosts.', resolve: ({ hosts }) => hosts }),
    users: t.field({ type: UserCounts, nullable: true, description: 'The users; null for all but administrators.', resolve: ({ users }) => users }),
  }),
});

const Server = builder.objectRef<SchemaSettings>('Server').implement({
  description: 'The server that answers.',
  fields: (t) => ({
    version: t.exposeString('version', { description: "The program's version." }),
    bridgeType: t.string({ description: 'The transport that agents connect by.', resolve: () => 'tcp' }),
    bridgePort: t.field({ type: 'Port', description: 'The port that agents connect to.', resolve: ({ bridge }) => bridge.port }),
    bridgeTlsPort: t.field({ type: 'Port', description: 'The port that agents connect to over TLS 1.3.', resolve: ({ bridge }) => bridge.tls.port }),
    bridgeTlsFingerprint: t.string({
      description: 'SHA-256 of the certificate that agents see there, as 64 hex digits: what `adit agent --tls-fingerprint` pins.', resolve: ({ bridge }) => bridge.tls.fingerprint,
    }),
    publicAddress: t.string({
      nullable: true, description: 'The name or address by which agents and visitors reach the server: the host of the server URL of the global settings, else of the setting `ADIT_PUBLIC_URL`; null = neither is set.',
      resolve: async (_settings, _args, context) => await context.serverName() || null,
    }),
    hostHttpPort: t.field({ type: 'Port', nullable: true, description: 'The port where visitors reach hosts over HTTP; null = there is none.', resolve: ({ hostPorts }) => hostPorts.httpPort || null }),
    hostHttpsPort: t.field({ type: 'Port', nullable: true, description: 'The port where visitors reach hosts over HTTPS; null = there is none.', resolve: ({ hostPorts }) => hostPorts.httpsPort || null }),
    counts: t.field({
      type: Counts,
      description: "How many records there are, and in which state. Ordinary users and the web logins of clients get the numbers of what is theirs. States are those of at most a second ago.",
      resolve: (_settings, _args, context) => context.counts(),
    }),
  }),
});

builder.queryField('server', (t) => t.field({
  type: Server,
  authScopes: { clientLogin: true },
  description: 'The server that answers.',
  resolve: (_root, _args, { settings }) => settings,
}));
