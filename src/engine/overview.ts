import { OVERVIEW_TARGETS, type OverviewRow } from '../wire/overview.ts';
import type { ClientEntry } from './clients.ts';
import type { HealthState, HostState } from './face.ts';
import type { Hosts } from './vhost/hosts.ts';

/** The overview of a client's tunnels and hosts for its agent, one after another: there may be many. */
export function* overviewOf(entry: ClientEntry, hosts: Hosts, stateOf: (hostId: number) => HostState | undefined): Generator<OverviewRow> {
  for (const { wanted: { id, mode, port, targets }, state } of entry.tunnels) {
    const direct = state.visitors.filter(({ path }) => path === 'direct').length;
    yield {
      kind: 'tunnel',
      id,
      type: mode,
      host: '',
      port,
      targets: targets.slice(0, OVERVIEW_TARGETS),
      running: state.running,
      error: state.error.slice(0, 1000),
      connections: state.connections,
      visitors: { relay: state.visitors.length - direct, direct },
      health: healthOf(state.health),
    };
  }
  for (const { wanted: { id, host, location, scheme, targets }, traffic } of hosts.ofClient(entry.wanted.id)) {
    const state = stateOf(id);
    yield {
      kind: 'host',
      id,
      type: scheme,
      host: `${host}${location === '/' ? '' : location}`.slice(0, 600),
      port: 0,
      targets: targets.slice(0, OVERVIEW_TARGETS),
      running: state?.running === true,
      error: state?.error ?? '',
      connections: traffic.connections,
      visitors: { relay: 0, direct: 0 },
      health: healthOf(state?.health ?? null),
    };
  }
}

function healthOf(health: HealthState | null): OverviewRow['health'] {
  return health && { healthy: health.targets.filter(({ healthy }) => healthy).length, targets: health.targets.length };
}
