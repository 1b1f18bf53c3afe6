import { tunnelModes } from '../../rules/tunnel-mode.ts';
import type { Counts as CountsRow } from '../../store/hot/counts.ts';
import { nullUnlessAdministrator } from '../access/administrator-field.ts';
import { builder } from '../builder.ts';
import { stored } from '../values/stored.ts';
import { TunnelMode } from '../tunnel/enums.ts';
import type { Retention, SchemaSettings } from '../services.ts';

const ClientCounts = builder.objectRef<CountsRow['clients']>('ClientCounts').implement({
  description: 'The number of clients, by state.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All clients.' }),
    connected: t.exposeInt('connected', { description: 'Clients whose agent is connected.' }),
    neverSeen: t.exposeInt('neverSeen', { description: 'Clients whose agent has never connected.' }),
    disabled: t.exposeInt('disabled', { description: 'Disabled ones that have not expired.' }),
    expired: t.exposeInt('expired', { description: 'Clients that have expired, or whose owner has. It can take up to a minute until an expiry counts.' }),
  }),
});

const TunnelModeCount = builder.objectRef<{ readonly mode: string; readonly total: number }>('TunnelModeCount').implement({
  description: 'The number of tunnels of one mode.',
  fields: (t) => ({
    mode: t.field({ type: TunnelMode, description: 'The mode.', resolve: ({ mode }) => stored(tunnelModes, mode) }),
    total: t.exposeInt('total', { description: 'The number of tunnels.' }),
  }),
});

const TunnelCounts = builder.objectRef<CountsRow['tunnels']>('TunnelCounts').implement({
  description: 'The number of tunnels, by state and mode.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All tunnels.' }),
    running: t.exposeInt('running', { description: 'Running tunnels: their listener is open, or they need none.' }),
    byMode: t.field({
      type: [TunnelModeCount],
      extensions: { items: tunnelModes.length },
      description: 'The number of tunnels of each mode, including 0.',
      resolve: ({ byMode }) => tunnelModes.map((mode) => ({ mode, total: byMode.get(mode) ?? 0 })),
    }),
  }),
});

const HostCounts = builder.objectRef<CountsRow['hosts']>('HostCounts').implement({
  description: 'The number of hosts, by state.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All hosts.' }),
    serving: t.exposeInt('serving', { description: "Hosts that are started and whose client's agent is connected." }),
    disabled: t.exposeInt('disabled', { description: 'Stopped hosts.' }),
  }),
});

const UserCounts = builder.objectRef<NonNullable<CountsRow['users']>>('UserCounts').implement({
  description: 'The number of users, by state.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'All users.' }),
    disabled: t.exposeInt('disabled', { description: 'Disabled ones that have not expired.' }),
    expired: t.exposeInt('expired', { description: 'Users that have expired. It can take up to a minute until an expiry counts.' }),
  }),
});

const Counts = builder.objectRef<CountsRow>('Counts').implement({
  description: 'The number of records that the caller may see, by state.',
  fields: (t) => ({
    clients: t.field({ type: ClientCounts, description: 'The clients.', resolve: ({ clients }) => clients }),
    tunnels: t.field({ type: TunnelCounts, description: 'The tunnels.', resolve: ({ tunnels }) => tunnels }),
    hosts: t.field({ type: HostCounts, description: 'The hosts.', resolve: ({ hosts }) => hosts }),
    users: t.field({ type: UserCounts, nullable: true, description: `The users. ${nullUnlessAdministrator}`, resolve: ({ users }) => users }),
  }),
});

const BridgeType = builder.enumType('BridgeType', {
  description: 'A transport that agents connect with.',
  values: { TCP: { description: 'TCP, with or without TLS.' } },
});

const RetentionType = builder.objectRef<Retention>('Retention').implement({
  description: 'How many days the server keeps what it records.',
  fields: (t) => ({
    auditDays: t.exposeInt('auditDays', { description: 'Entries of the audit log.' }),
    trafficMinuteDays: t.exposeInt('trafficMinuteDays', { description: 'Traffic per minute.' }),
    trafficHourDays: t.exposeInt('trafficHourDays', { description: 'Traffic per hour.' }),
    trafficDayDays: t.exposeInt('trafficDayDays', { description: 'Traffic per day.' }),
  }),
});

const Server = builder.objectRef<SchemaSettings>('Server').implement({
  description: 'Information about the server.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The version of the server program.' }),
    startedAt: t.field({ type: 'DateTime', description: 'When the server was started.', resolve: ({ startedAt }) => new Date(startedAt) }),
    allowLocalProxy: t.exposeBoolean('allowLocalProxy', {
      description: 'Whether tunnels and hosts may have `localProxy`: the server dials the targets itself.',
    }),
    acme: t.boolean({ description: 'Whether hosts can get certificates by ACME.', resolve: ({ acmeDirectory }) => acmeDirectory !== '' }),
    acmeDirectory: t.string({
      nullable: true,
      description: 'The directory of the authority that certificates are ordered from by ACME; null = none are.',
      resolve: ({ acmeDirectory }) => acmeDirectory || null,
    }),
    allowedPorts: t.stringList({
      description: 'The ports that tunnels may use, each as a port or a range such as `9000-9100`; empty = all.',
      resolve: ({ allowPorts }) => allowPorts.map(({ from, to }) => from === to ? String(from) : `${from}-${to}`),
    }),
    bridgeType: t.field({ type: BridgeType, description: 'The transport that agents connect with.', resolve: () => 'TCP' as const }),
    bridgePort: t.field({ type: 'Port', description: 'The port that agents connect to.', resolve: ({ bridge }) => bridge.port }),
    bridgeTlsPort: t.field({ type: 'Port', description: 'The port that agents connect to with TLS 1.3.', resolve: ({ bridge }) => bridge.tls.port }),
    bridgeTlsFingerprint: t.string({
      description: 'The SHA-256 fingerprint of the certificate of `bridgeTlsPort`, as 64 hex digits, for `adit agent --tls-fingerprint`.',
      resolve: ({ bridge }) => bridge.tls.fingerprint,
    }),
    publicAddress: t.string({
      nullable: true,
      description:
        'The name or address where agents and visitors reach the server: the host of `serverUrl` in the global settings, or else of the setting `ADIT_PUBLIC_URL`; null = neither is set.',
      resolve: async (_settings, _args, context) => await context.serverName() || null,
    }),
    hostHttpPort: t.field({
      type: 'Port',
      nullable: true,
      description: 'The port that serves hosts over HTTP; null = none.',
      resolve: ({ hostPorts }) => hostPorts.httpPort || null,
    }),
    hostHttpsPort: t.field({
      type: 'Port',
      nullable: true,
      description: 'The port that serves hosts over HTTPS; null = none.',
      resolve: ({ hostPorts }) => hostPorts.httpsPort || null,
    }),
    retention: t.field({ type: RetentionType, description: 'How long the server keeps what it records.', resolve: ({ retention }) => retention }),
    counts: t.field({
      type: Counts,
      description:
        'The number of records, by state. Ordinary users and web logins of clients get the numbers of their own records. States can be up to a second old.',
      resolve: (_settings, _args, context) => context.counts(),
    }),
  }),
});

builder.queryField('server', (t) =>
  t.field({
    type: Server,
    authScopes: { clientLogin: true },
    description: 'Information about the server.',
    resolve: (_root, _args, { settings }) => settings,
  }));
