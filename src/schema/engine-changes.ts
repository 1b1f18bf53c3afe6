import type { EngineFace, WantedClient, WantedTunnel } from '../engine/face.ts';
import { effectiveExpiry } from '../rules/expiry.ts';
import { dialTargets } from '../rules/targets.ts';
import type { Tunnel } from '../store/generated/sqlite/client.ts';
import type { Change, ChangeListener, ClientWithOwner } from './changes.ts';

/** What the engine has to know of a stored client. */
export function wantedClient(row: ClientWithOwner): WantedClient {
  return {
    id: row.id,
    vkey: row.vkey,
    enabled: row.enabled && (row.user?.enabled ?? true),
    expiresAt: effectiveExpiry(row.expiresAt, row.user?.expiresAt)?.getTime() ?? null,
  };
}

/** What the engine has to know of a stored tunnel. */
export function wantedTunnel(row: Omit<WantedTunnel, 'targets'> & Pick<Tunnel, 'target'>): WantedTunnel {
  const { id, clientId, mode, enabled, port, serverIp } = row;
  return { id, clientId, mode, enabled, port, serverIp, targets: dialTargets(row.target) };
}

/** The listener by which stored changes drive the engine. */
export function applyToEngine(engine: EngineFace): ChangeListener {
  return async (change) => {
    await Promise.all(engineChanges(change).map((wanted) => engine.apply(wanted)));
  };
}

/** Empty = nothing that the engine runs */
function engineChanges(change: Change): Parameters<EngineFace['apply']>[0][] {
  switch (change.resource) {
    case 'client':
      return [change.action === 'delete'
        ? { kind: 'clientRemoved', id: change.before.id }
        : { kind: 'client', client: wantedClient(change.after) }];
    case 'tunnel':
      return [change.action === 'delete'
        ? { kind: 'tunnelRemoved', id: change.before.id }
        : { kind: 'tunnel', tunnel: wantedTunnel(change.after), lease: change.lease }];
    case 'user': return change.clients.map((client) => ({ kind: 'client', client: wantedClient(client) }));
    case 'host':
    case 'apiToken':
    case 'globalSettings': return [];
  }
}
