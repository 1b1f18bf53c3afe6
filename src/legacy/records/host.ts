import type { HostFieldsFragment, UpdateHostInput } from '../generated/graphql.ts';
import type { ReadsBack } from '../settable.ts';
import type { Shaped } from '../shapes.ts';

/**
 * Builds a host record (contract 1.4). Administrators see the paths of certificate and key; PEM text is never shown (D16). A stopped
 * host has IsClose true (D33).
 */
export function hostRecord(
  host: ReadsBack<HostFieldsFragment, UpdateHostInput, 'clientId' | 'platformPrefix' | 'acme' | 'certificate' | 'privateKey'>,
): Shaped<'Host'> {
  const { client } = host;
  return {
    Id: Number(host.id),
    Host: host.host,
    PlatformDomainID: host.platformDomainId ?? '',
    PlatformManaged: host.mode === 'PLATFORM',
    HeaderChange: (host.headers ?? []).join('\n'),
    HostChange: host.hostChange ?? '',
    Location: host.location,
    Remark: host.remark,
    Scheme: host.scheme.toLowerCase(),
    CertFilePath: host.certificatePath ?? '',
    KeyFilePath: host.privateKeyPath ?? '',
    NoStore: host.noStore,
    IsClose: !host.enabled,
    AutoHttps: host.autoHttps,
    Flow: { ExportFlow: host.runtime.exportBytes, InletFlow: host.runtime.inletBytes, FlowLimit: 0 },
    Client: { Id: Number(client.id), Remark: client.remark, IsConnect: client.runtime.connected },
    Target: { TargetStr: host.targets.join('\n'), TargetArr: host.targets, LocalProxy: host.localProxy },
  };
}
