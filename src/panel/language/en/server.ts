import { counted } from './common.ts';

/** Platform domains and global settings. */
export const server = {
  domains: {
    title: 'Platform domains',
    subtitle: 'Domains below which users choose names for their hosts',
    columns: { name: 'Domain', certificate: 'Certificate', files: 'Files', hosts: 'Hosts' },
    noneTitle: 'No platform domains',
    noneText: 'If you own a domain, enter it as *.example.com. Users then choose names below it, and need no DNS record or certificate of their own.',
    add: 'Add a domain',
    editTitle: (name: string) => `Edit ${name}`,
    addTitle: 'New platform domain',
    labels: { wildcard: 'Domain', certificatePath: 'Certificate file', privateKeyPath: 'Private key file' },
    hints: {
      wildcard: '*. and a domain: *.previews.example.com. Its DNS record has to lead to this server.',
      path: 'The path on the server of a PEM file that covers the wildcard. Empty = HTTP only.',
    },
    states: {
      NONE: 'none: HTTP only',
      CANNOT_LOAD: 'file cannot be read',
      EMPTY: 'file is empty',
      CANNOT_PARSE: 'file is no certificate',
      NOT_COVERED: 'for another name',
      EXPIRED: 'expired',
      NOT_YET_VALID: 'not valid yet',
      EXPIRING: 'expires soon',
      VALID: 'valid',
    },
    hosts: (count: number) => counted(count, 'host', 'hosts'),
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText: 'Users can no longer choose names below it.',
    removeNote: 'A domain with hosts is not removed: delete them first, or give them other names.',
    remove: 'Remove',
    saved: 'Platform domains saved',
  },
  nodes: {
    title: 'Servers',
    about:
      'A server that drains sends its agents to the others and fails its readiness check. Its ports stay open. It serves again when you say so, or when it is started again.',
    columns: { name: 'Name', state: 'State', address: 'Address', version: 'Version', agents: 'Agents', connections: 'Connections', load: 'Load' },
    serving: 'serves',
    draining: 'drains',
    stopped: 'stopped',
    silent: (since: string) => `no report since ${since}`,
    unreachable: 'not reachable',
    unreachableFrom: (name: string, from: string, since: string) => `${name} cannot be reached from ${from} since ${since}.`,
    drain: 'Drain',
    undrain: 'Serve again',
    undrained: (name: string) => `${name} serves again`,
    drainTitle: (name: string) => `Drain ${name}?`,
    drainText: (agents: number) =>
      `${
        counted(agents, 'agent goes', 'agents go')
      } to the other servers, and the readiness check fails. Agents that have left do not come back by themselves when it serves again.`,
    drained: (name: string) => `${name} drains`,
  },
  settings: {
    title: 'Settings',
    subtitle: 'Settings that apply to all clients. Ports, storage and others are set when the server starts: docs/settings.md.',
    labels: { serverUrl: 'Server URL', blocklist: 'Global blocklist' },
    hints: {
      serverUrl: 'How agents and visitors reach this server, for example https://tunnel.example.com. Commands and addresses in this panel are made from it.',
      blocklist: 'An address or network on each line. These visitors are refused everywhere.',
    },
    facts: 'This server',
    version: 'Version',
    startedAt: 'Running since',
    retention: 'Kept for',
    kept: (days: { readonly auditDays: number; readonly trafficMinuteDays: number; readonly trafficHourDays: number; readonly trafficDayDays: number }) =>
      `audit log ${counted(days.auditDays, 'day', 'days')}; traffic by minute ${counted(days.trafficMinuteDays, 'day', 'days')}, by hour ${
        counted(days.trafficHourDays, 'day', 'days')
      }, by day ${counted(days.trafficDayDays, 'day', 'days')}`,
    publicAddress: 'Public address',
    bridge: 'Agents connect to port',
    fingerprint: 'Fingerprint of its certificate',
    hosts: 'Hosts are served on ports',
  },
};
