import type { ProxyProtocol, TunnelFieldsFragment } from '../generated/graphql.ts';
import type { Shaped } from '../shapes.ts';
import { clientRecord } from './client.ts';

const protoVersions: Record<ProxyProtocol, string> = { OFF: '', V1: 'V1', V2: 'V2' };

/**
 * Shapes a tunnel (contract 1.3) with its client, redacted. Password is the key visitors need, and is shown. The health
 * keys, Ports, TargetAddr and MultiAccount belong to configuration this server has no part in, and keep their zero values.
 */
export function tunnelRecord(tunnel: TunnelFieldsFragment): Shaped<'Tunnel'> {
  return {
    Id: tunnel.id,
    Port: tunnel.port,
    ServerIp: tunnel.serverIp,
    Mode: tunnel.mode,
    Status: tunnel.enabled,
    RunStatus: tunnel.runtime.running,
    Client: clientRecord(tunnel.client),
    Ports: '',
    Flow: { ExportFlow: tunnel.runtime.exportBytes, InletFlow: tunnel.runtime.inletBytes, FlowLimit: 0 },
    Password: tunnel.password,
    Remark: tunnel.remark,
    TargetAddr: '',
    NoStore: tunnel.noStore,
    LocalPath: tunnel.localPath,
    StripPre: tunnel.stripPrefix,
    ProtoVersion: protoVersions[tunnel.proxyProtocol],
    Target: { TargetStr: tunnel.targets.join('\n'), TargetArr: tunnel.targets, LocalProxy: tunnel.localProxy },
    MultiAccount: null,
    HealthCheckTimeout: 0,
    HealthMaxFail: 0,
    HealthCheckInterval: 0,
    HealthNextTime: '0001-01-01T00:00:00Z',
    HealthMap: null,
    HttpHealthUrl: '',
    HealthRemoveArr: null,
    HealthCheckType: '',
    HealthCheckTarget: '',
  };
}
