import type { ProxyProtocol, TunnelFieldsFragment, TunnelMode, UpdateTunnelInput } from '../generated/graphql.ts';
import type { ReadsBack } from '../settable.ts';
import type { Shaped } from '../shapes.ts';
import { clientRecord } from './client.ts';

const modes: Record<TunnelMode, string> = { TCP: 'tcp', UDP: 'udp', HTTP_PROXY: 'httpProxy', SOCKS5: 'socks5', SECRET: 'secret', P2P: 'p2p', FILE: 'file' };
const protoVersions: Record<ProxyProtocol, string> = { OFF: '', V1: 'V1', V2: 'V2' };

/**
 * Builds a tunnel record (contract 1.3) with its client, without secrets. Password is shown, because visitors need it. MultiAccount has the
 * user names of a proxy's accounts, with "" for their passwords (D16). Ports and TargetAddr belong to features that this server doesn't have, and keep their
 * zero values.
 */
export function tunnelRecord(tunnel: ReadsBack<TunnelFieldsFragment, UpdateTunnelInput, 'clientId' | 'accounts'>): Shaped<'Tunnel'> {
  return {
    Id: Number(tunnel.id),
    Port: tunnel.port ?? 0,
    ServerIp: tunnel.serverIp ?? '',
    Mode: modes[tunnel.mode],
    Status: tunnel.enabled,
    RunStatus: tunnel.runtime.running,
    Client: clientRecord(tunnel.client),
    Ports: '',
    Flow: { ExportFlow: tunnel.runtime.exportBytes, InletFlow: tunnel.runtime.inletBytes, FlowLimit: 0 },
    Password: tunnel.password ?? '',
    Remark: tunnel.remark,
    TargetAddr: '',
    NoStore: tunnel.noStore,
    LocalPath: tunnel.localPath ?? '',
    StripPre: tunnel.stripPrefix ?? '',
    ProtoVersion: protoVersions[tunnel.proxyProtocol],
    Target: { TargetStr: tunnel.targets.join('\n'), TargetArr: tunnel.targets, LocalProxy: tunnel.localProxy },
    MultiAccount: tunnel.accountNames.length === 0 ? null : { AccountMap: Object.fromEntries(tunnel.accountNames.map((user) => [user, ''])) },
    ...healthKeys(tunnel.runtime.health),
  };
}

/**
 * The keys of health checks, which only agents' configuration files can set up. Times are whole seconds. HealthMap has the consecutive failures of
 * each failing target, HealthRemoveArr the targets that are out of rotation; if there are none, both are null. Only the agent knows
 * the time of the next check.
 */
function healthKeys(health: TunnelFieldsFragment['runtime']['health']) {
  const targets = health?.targets ?? [];
  const failing = targets.filter(({ failures }) => failures > 0);
  const out = targets.filter(({ healthy }) => !healthy).map(({ target }) => target);
  return {
    HealthCheckTimeout: Math.ceil(health?.timeoutSeconds ?? 0),
    HealthMaxFail: health?.maxFailed ?? 0,
    HealthCheckInterval: Math.ceil(health?.intervalSeconds ?? 0),
    HealthNextTime: '0001-01-01T00:00:00Z',
    HealthMap: failing.length === 0 ? null : Object.fromEntries(failing.map(({ target, failures }) => [target, failures])),
    HttpHealthUrl: health?.path ?? '',
    HealthRemoveArr: out.length === 0 ? null : out,
    HealthCheckType: health?.type.toLowerCase() ?? '',
    HealthCheckTarget: targets.map(({ target }) => target).join(','),
  };
}
