import type { ClientChanges } from './client-changes.ts';
import type { StoredState } from './engine-options.ts';
import type { Environment } from './environment.ts';
import type { EngineChange, WantedIds } from './face.ts';
import type { StateBatches } from './state-batches.ts';
import type { TunnelRunner } from './tunnels/tunnel-runner.ts';
import type { Tunnels } from './tunnels/tunnels.ts';

/** The parts of the engine that changes are applied to. */
export interface Parts {
  readonly environment: Environment;
  readonly tunnels: Tunnels;
  readonly clients: ClientChanges;
  readonly batches: StateBatches;
}

/** Loads the stored state at boot and opens the listeners. Those that fail are retried; see the tunnel's state. */
export async function loadStored(
  { environment, tunnels, clients, batches }: Parts,
  stored: StoredState,
): Promise<void> {
  const { admission, hosts, acme, log, starting } = environment;
  const listening: TunnelRunner[] = [];
  environment.loading = true;
  await admission.setBlackIpList(stored.blackIpList);
  hosts.serverName = stored.serverName;
  for await (const page of stored.clients) await clients.addAll(page);
  for await (const page of stored.tunnels) {
    for (const { wanted, stored: bytes } of page) {
      const runner = tunnels.add(wanted, bytes);
      if (!starting && !runner.startWithoutListener()) listening.push(runner);
    }
  }
  for await (const page of stored.hosts) for (const host of page) hosts.set(host.wanted, host.stored);
  environment.loading = false;
  const unserved = hosts.withOwnName();
  if (unserved.length > 0) {
    log.warn(
      { hosts: unserved.slice(0, 20), count: unserved.length },
      "hosts are not served: their names are the server's own, and no administrator named them",
    );
  }
  await acme?.recalled();
  await tunnels.open(listening);
  batches.start();
  clients.awaitExpiries();
}

/** Opens the tunnels, if other processes listen on the same ports: visitors come there at once, so that waits until this process knows where agents are. Otherwise they are open. */
export async function openTunnels({ environment, tunnels }: Parts): Promise<void> {
  if (!environment.starting) return;
  environment.starting = false;
  await environment.inOrder(() => tunnels.start());
}

/** @see EngineFace.wanted */
export function wantedIds({ environment: { clients, hosts }, tunnels }: Parts): WantedIds {
  return {
    clients: Array.from(clients.all(), ({ wanted }) => wanted.id),
    tunnels: Array.from(tunnels.all(), ({ wanted }) => wanted.id),
    hosts: Array.from(hosts.all(), ({ wanted }) => wanted.id),
  };
}

/** Resolves when the change was applied to listeners and sessions. */
export async function applyChange({ environment, tunnels, clients, batches }: Parts, change: EngineChange): Promise<void> {
  // Reads from the database, which other changes must not wait for.
  if (change.kind === 'acme') return environment.acme?.follow(change.name ?? undefined);
  return environment.inOrder(async () => {
    switch (change.kind) {
      case 'client':
        return clients.apply(change.client);
      case 'clientRemoved':
        return clients.remove(change.id);
      case 'tunnel':
        return tunnels.apply(change.tunnel, change.lease);
      case 'tunnelRemoved':
        return tunnels.remove(change.id);
      case 'host':
        return environment.hosts.set(change.host);
      case 'hostRemoved':
        return environment.hosts.remove(change.id);
      case 'trafficReset':
        return batches.reset(change);
      case 'blackIpList':
        return environment.admission.changeBlackIpList(change.list, environment.clients.all());
      case 'serverName':
        environment.hosts.serverName = change.name;
    }
  });
}
